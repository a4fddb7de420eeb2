#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A planted failure: a rank that should hear nothing is heard, so that it hears; test_balancer must see it.
set -u
out=$(CK_RUN_CASE=planted LB_PROCESS_PLANTED=1 "${top_builddir:-.}/tests/process/test_balancer" 2>&1)
if ! grep -q 'an unheard rank hears' <<<"$out"; then
  printf '%s\nthe planted failure was not seen\n' "$out"
  exit 1
fi
echo "the planted failure was seen"
