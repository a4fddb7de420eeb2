#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The balancer killed or stopped in each phase of a move and of the end of a pass: every iteration is run once, with its row
# intact, and the job ends well.
# beside others: what is planned is awaited, and asked for again in a longer job
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop tests/fault/lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts
fault_balancer

for moment in before-move move sent received before-final final dry; do
  one "killed at \"$moment\"" auto "kill $moment 1"
done
one "killed at the second pass's end" auto "kill before-final 5"
one "stopped at \"move\"" auto "stop move 1"
one "stopped at \"final\"" auto "stop final 1"
await_gone() { ! on_host n1 lb-balancer; }
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
