#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Planted failures: a function that leaks when memory runs out, one that changes what it was given all the same, and one that
# hides the failure; test_common's checks must see each.
set -u
out=$(CK_RUN_CASE=planted LB_FAULT_PLANTED=1 "${top_builddir:-.}/tests/fault/test_common" 2>&1)
if ! grep -q '^0%: Checks: 3, Failures: 3, Errors: 0$' <<<"$out"; then
  printf '%s\nplanted failures were not seen\n' "$out"
  exit 1
fi
echo "three planted failures were seen"
