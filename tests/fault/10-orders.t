#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The balancer's orders lost, late, repeated and out of date, also those that ranks wait for: every iteration is run once, with its row intact, and the job
# ends well.
# beside others: what is planned is awaited, and asked for again in a longer job
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop examples/jacobi tests/fault/lb-balancer slurm_plugin/.libs/lb.so
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

# --- ranks that wait for answers wait no longer than a second for one that never comes
kept() { cat "$tap_tmp/job"; ! grep -q 'balancer lost' "$tap_tmp/job"; }
happened() { planned && kept; }
one "synchronous: answers are lost" auto,sync=yes "lose answer 7"
one "synchronous: instructions are lost" auto,sync=yes "lose instruct 2"
one "synchronous: moves and FINAL are lost, answers are late" auto,sync=yes "lose move 2" "lose final 3" "late answer 40"
lb=auto,sync=yes
under "synchronous steps: answers are lost" jacobi 100 "lose answer 30"
under "synchronous steps: layouts are lost" jacobi 250 "lose layout 3"

# --- planted: what the checks above are to see
plan "lose answer 1000000"
job --lb=auto,sync=yes -N4 -n4 -- "$loop" --iterations "$length" --ms 2 --passes 2 --row-bytes 20000
ok "planted: nothing happens to a job: ends well" job_end
not_ok "planted: nothing happens to a job: seen" happened
plan "kill instruct 1"
job --lb=auto,sync=yes -N4 -n4 -- "$loop" --iterations "$length" --ms 2 --passes 2 --row-bytes 20000
ok "planted: no balancer is left to wait for: ends well" job_end
not_ok "planted: no balancer is left to wait for: seen" kept

ok "no host was drained by any of it" hosts_are_well
done_testing
