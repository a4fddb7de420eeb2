#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A planted failure: all is staked at once, whatever moves cost; test_stake's limits on what loses must see it.
set -u
[ -z "${LB_TEST_FEW:-}${LB_TEST_BRIEF:-}" ] || exit 77 # too few for the limits
out=$(SIM_PLANTED=1 "${top_builddir:-.}/tests/sim/test_stake" 2>&1)
if ! grep -q 'lose more than 1 %, the worst takes' <<<"$out"; then
  printf '%s\nthe planted failure was not seen\n' "$out"
  exit 1
fi
echo "the planted failure was seen"
