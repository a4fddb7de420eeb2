#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Stepped and pipelined loops while layouts are lost, late and repeated, the balancer is killed at one, a rank is stopped and
# resumed, a link is cut and healed, a rank closes a loop early, and one dies: the serial result, or an end that all can see; nobody hangs.
. "$(dirname "$0")/../lib/tap.sh"
need_build examples/jacobi examples/sor tests/mpi/leave tests/fault/lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts
fault_balancer
begin() { job --lb=auto -N4 -n4 -- "${program[@]}"; }
under() { # TEXT PLAN-LINE...
  plan "${@:2}"
  begin
  ok "$1: ends well" job_end
  ok "$1: the serial result" same
  ok "$1: it did happen" planned
}

kind jacobi --n 1000 --steps 500
under "layouts are lost for ranks in turn" "lose layout 3"
under "layouts come late" "late layout 2"
under "layouts come twice" "twice layout 1"
under "killed before a layout" "kill before-layout 1"
under "killed when a rank has a layout" "kill layout 1"
kind sor --n 1000 --steps 150
under "pipelined, layouts are lost" "lose layout 3"
under "pipelined, late and twice" "late layout 3" "twice layout 2"
under "pipelined, killed when a rank has a layout" "kill layout 1"

leave=$LB_BUILD/tests/mpi/leave
for words in stepped pipelined; do
  plan "twice instruct 1"
  job --lb=auto -N4 -n4 -- "$leave" $words 60 20 100000
  ok "a rank closes a $words loop early: the job ends well" job_end
  like "$(cat "$tap_tmp/job")" "leave $words np=4 told=3 wrong=0" "the others are told"
done

# A plan that does no harm shows when the ranks are at work.
for words in "jacobi --n 1000 --steps 700" "sor --n 1000 --steps 200"; do
  # shellcheck disable=SC2086
  kind $words
  name=${words%% *}
  plan "twice instruct 1"
  begin
  ok "$words: it has begun" await planned
  ok "a rank is stopped" cluster on n3 pkill -STOP -x "$name"
  sleep 2
  ok "and resumed" cluster on n3 pkill -CONT -x "$name"
  ok "a link is cut" cluster head ip link set n4 down
  sleep 1
  ok "and healed" cluster head ip link set n4 up
  ok "$words: ends well" job_end
  ok "$words: the serial result" same
done

seconds=60
for words in "jacobi --n 1000 --steps 100000" "sor --n 1000 --steps 100000"; do
  plan "twice instruct 1"
  # shellcheck disable=SC2086
  job --lb=auto -K -N4 -n4 -- "$examples/"$words
  ok "$words: it has begun" await planned
  ok "a rank is killed" cluster on n3 pkill -KILL -x "${words%% *}"
  not_ok "the job fails" job_end
  is "$(grep -cE '^(124|137)$' "$tap_tmp/status" || true)" 0 "and does not hang"
done
await_gone() { ! on_host n1 lb-balancer; }
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
