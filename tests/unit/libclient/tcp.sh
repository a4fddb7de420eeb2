#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tests of loops once more, with ranks that are connected over TCP as those without MPI are.
# With LB_TEST_SHORT some, with LB_TEST_BRIEF one of them.
set -u
status=0 tests="test_coverage test_stepped test_flow test_leave test_huge test_packed"
[ -z "${LB_TEST_SHORT:-}" ] || tests="test_leave test_huge test_packed"
[ -z "${LB_TEST_BRIEF:-}" ] || tests=test_huge
for t in $tests; do
    LB_TEST_TCP=1 "${top_builddir:-.}/tests/unit/libclient/$t" || status=1
done
exit $status
