#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tests of loops once more, with ranks that are connected over TCP as those without MPI are.
set -u
status=0
for t in test_coverage test_stepped test_flow test_leave test_huge test_packed; do
    LB_TEST_TCP=1 "${top_builddir:-.}/tests/unit/libclient/$t" || status=1
done
exit $status
