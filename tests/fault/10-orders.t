#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The balancer's orders lost, late, repeated and out of date: every iteration is run once, with its row intact, and the job
# ends well.
# beside others: what is planned is awaited, and asked for again in a longer job
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop tests/fault/lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts
fault_balancer

one "each other move is lost" auto "lose move 2"
one "FINAL is lost for ranks in turn" auto "lose final 3"
one "moves come late and out of order" auto "late move 2"
one "FINAL comes late" auto "late final 2"
one "moves come twice" auto "twice move 1"
one "each move is followed by one of an old epoch" auto "stale move 1"
one "all of it" auto "late move 3" "twice move 2" "stale move 2" "lose instruct 2"
ok "no host was drained by any of it" hosts_are_well
done_testing
