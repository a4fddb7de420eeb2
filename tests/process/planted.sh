#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A planted failure: a rank that should hear nothing is heard, so that it hears; test_balancer must see it.
set -u
. "${top_srcdir:-.}/tests/lib/planted.sh"
planted_seen LB_PROCESS_PLANTED process/test_balancer planted 'an unheard rank hears'
echo "the planted failure was seen"
