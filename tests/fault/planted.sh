#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Planted failures: a function that leaks when memory runs out, one that changes what it was given all the same, and one that
# hides the failure; test_common's checks must see each.
set -u
. "${top_srcdir:-.}/tests/lib/planted.sh"
planted_seen LB_FAULT_PLANTED fault/test_common planted '^0%: Checks: 3, Failures: 3, Errors: 0$'
echo "three planted failures were seen"
