#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Stepped and pipelined loops while layouts are lost, late, repeated and out of date, the balancer is killed in each phase of one,
# a rank is stopped and resumed, a link is cut and healed, a rank closes a loop early, and one dies: the serial result, or an end that all can see; nobody hangs.
# beside others: what is planned is awaited, and asked for again in a longer job
. "$(dirname "$0")/../lib/tap.sh"
need_build examples/jacobi examples/sor tests/mpi/leave tests/fault/lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts
fault_balancer
begin() { job --lb=auto -N4 -n4 -- "${program[@]}"; }
under "layouts are lost for ranks in turn" jacobi 500 "lose layout 3"
under "layouts come late" jacobi 500 "late layout 2"
under "layouts come twice, and otherwise when they are in force" jacobi 500 "twice layout 1" "stale applied 1"
under "killed before a layout" jacobi 500 "kill before-layout 1"
under "killed when a rank has a layout" jacobi 500 "kill layout 1"
under "a rank in turn has one of another epoch before, killed when a rank has applied one" jacobi 500 "stale layout 3" "kill applied 1"
under "pipelined, layouts are lost" sor 150 "lose layout 3"
under "pipelined, late, twice, and otherwise when they are in force" sor 300 "late layout 3" "twice layout 2" "stale applied 1"
legs=5
under "within steps, layouts are lost" sor 150 "lose layout 3"
under "within steps, late, twice, and otherwise when they are in force" sor 300 "late layout 3" "twice layout 2" "stale applied 1"
under "within steps, killed when a rank has a layout" sor 150 "kill layout 1"
under "within steps, a rank in turn has one of another epoch before, killed when a rank has applied one" sor 150 "stale layout 3" "kill applied 1"
legs=0
under "pipelined, killed before a layout" sor 150 "kill before-layout 1"
under "pipelined, killed when a rank has a layout" sor 150 "kill layout 1"
under "pipelined, a rank in turn has one of another epoch before, killed when a rank has applied one" sor 150 "stale layout 3" "kill applied 1"

leave=$LB_BUILD/tests/mpi/leave
for words in free stepped pipelined; do
  plan "twice instruct 1"
  job --lb=auto -N4 -n4 -- "$leave" $words 60 20 100000
  ok "a rank closes a $words loop early: the job ends well" job_end
  like "$(cat "$tap_tmp/job")" "leave $words np=4 told=3 wrong=0" "the others are told"
done

# A plan that does no harm shows when the ranks are at work.
begin_long() { # TIMES
  kind "$name" --n 1000 --steps $((steps * $1))
  plan "twice instruct 1"
  begin
}
stop_and_cut() {
  part "$name: it has begun" during planned &&
    part "a rank is stopped" cluster on n3 pkill -STOP -x "$name" &&
    sleep 2 &&
    part "and resumed" cluster on n3 pkill -CONT -x "$name" &&
    part "a link is cut" cluster head ip link set n4 down &&
    sleep 1 &&
    part "and healed" cluster head ip link set n4 up
}
for words in "jacobi 700 0" "sor 200 0" "sor 200 5"; do
  read -r name steps legs <<<"$words"
  struck begin_long stop_and_cut
  ok "$words: ends well" job_end
  ok "$words: the serial result" same
done

seconds=60
for words in "jacobi 0" "sor 0" "sor 5"; do
  read -r name legs <<<"$words"
  plan "twice instruct 1"
  job --lb=auto -K -N4 -n4 -- env "LB_TEST_LEGS=$legs" "$examples/$name" --n 1000 --steps 100000
  ok "$words: it has begun" await planned
  ok "a rank is killed" cluster on n3 pkill -KILL -x "$name"
  not_ok "the job fails" job_end
  is "$(grep -cE '^(124|137)$' "$tap_tmp/status" || true)" 0 "and does not hang"
done
await_gone() { ! on_host n1 lb-balancer; }
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
