#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Planted failures: all is staked at once, whatever moves cost; and the published policy in place of auto.  Each limit on what
# loses must see them, of test_stake and of test_step.
set -u
[ -z "${LB_TEST_FEW:-}${LB_TEST_BRIEF:-}" ] || exit 77 # too few for the limits
# seen TEST CASE TEXT
seen() {
  local out
  out=$(SIM_PLANTED=1 CK_RUN_CASE=$2 "${top_builddir:-.}/tests/sim/$1" 2>&1)
  grep -q "$3" <<<"$out" && return
  printf '%s\nthe planted failure was not seen by %s\n' "$out" "$1"
  exit 1
}
seen test_stake stake 'lose more than 1 %, the worst takes'
seen test_step drawn 'on steady hosts the worst takes'
echo "the planted failures were seen"
