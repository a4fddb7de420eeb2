#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tests of pipelined loops once more, with rows that change hands within a step as well: where each rank is told its own block
# alone, and over TCP; with LB_TEST_BRIEF and LB_TEST_SHORT over TCP only.
set -u
status=0
LB_TEST_JOINTS=5 LB_TEST_TCP=1 "${top_builddir:-.}/tests/unit/libclient/test_flow" || status=1
[ -z "${LB_TEST_BRIEF:-}${LB_TEST_SHORT:-}" ] || exit $status
LB_TEST_JOINTS=3 LB_TEST_OWN=1 "${top_builddir:-.}/tests/unit/libclient/test_flow" || status=1
exit $status
