#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tests of stepped and pipelined loops once more, where of a layout each rank is told its own block alone, as in jobs of many ranks:
# with ranks as threads, where a reduction that ranks enter with unlike lengths aborts, and over TCP.
# With LB_TEST_SHORT some, with LB_TEST_BRIEF one of them.
set -u
status=0 tests="test_stepped test_flow test_leave test_vote test_packed"
[ -z "${LB_TEST_SHORT:-}" ] || tests="test_leave test_vote"
[ -z "${LB_TEST_BRIEF:-}" ] || tests=test_vote
for t in $tests; do
    LB_TEST_OWN=1 "${top_builddir:-.}/tests/unit/libclient/$t" || status=1
done
[ -z "${LB_TEST_BRIEF:-}${LB_TEST_SHORT:-}" ] || exit $status
LB_TEST_OWN=1 LB_TEST_TCP=1 "${top_builddir:-.}/tests/unit/libclient/test_stepped" || status=1
exit $status
