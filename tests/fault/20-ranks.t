#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks stopped and resumed, a job suspended and resumed, a rank killed, loops closed early, sizes at their limits: every
# iteration once with its row intact, or an end that all can see; nobody hangs.
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop tests/fault/early lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts
trace=$(cluster dir)/shared/trace
await_gone() { ! on_host n1 lb-balancer; }

# A job whose trace tells what has happened in it, and which goes on until it is released.
traced() { # ITERATIONS
  cluster head rm -f "$trace"
  held_job --lb="auto,trace=$trace" -N4 -n4 -- --iterations "$1" --ms 2 --passes 2 --row-bytes 20000
}
seen() { grep -q "$1" "$trace"; }

# --- a rank is stopped, after iterations have moved
for host in n2 n4; do
  traced 900
  ok "a rank on $host: iterations have moved" during seen '"move"'
  ok "it is stopped" cluster on $host pkill -STOP -x cpuloop
  sleep 2.5
  ok "and resumed" cluster on $host pkill -CONT -x cpuloop
  ok "the job ends well" held_end
  ok "it is complete" complete
done

# --- all of the job is suspended
traced 900
ok "a job: iterations have moved" during seen '"move"'
id=$(job_id)
ok "it is suspended" cluster head scontrol suspend "$id"
suspended() { [ "$(cluster head squeue -h -j "$id" -o %T)" = SUSPENDED ]; }
ok "all of it is silent" await suspended
sleep 2.5
ok "it is resumed" cluster head scontrol resume "$id"
ok "the job ends well" held_end
ok "it is complete" complete
like "$(cat "$tap_tmp/job")" 'balanced_ranks=4' "a pause is no death: the balancer is still there"

# --- a rank dies
seconds=60
held_job --lb=auto -K -N4 -n4 -- --iterations 3000
ok "a balancer is there" await on_host n1 lb-balancer
ok "a rank is there" await on_host n3 cpuloop
ok "it is killed" cluster on n3 pkill -KILL -x cpuloop
not_ok "the job fails" job_end
is "$(cat "$tap_tmp/status" | grep -cE '^(124|137)$' || true)" 0 "and does not hang"
ok "its balancer is gone" await await_gone
seconds=120

# --- loops that are closed early, and sizes
early=$LB_BUILD/tests/fault/early
job --lb=auto -N4 -n4 -- "$early" 4000 5
ok "a loop closed early by one rank ends well" job_end
like "$(cat "$tap_tmp/job")" 'twice=0 second=1000 of 1000 balanced=1' "no iteration twice, and the next loop is whole"
job --lb=auto -N4 -n4 -- "$early" 1099511627776 50 all
ok "2^40 iterations, closed early by all: ends well" job_end
like "$(cat "$tap_tmp/job")" 'twice=0 second=1000 of 1000 balanced=1' "no iteration twice, and the next loop is whole"
job --lb=auto -N4 -n4 -- "$loop" --iterations 400 --row-bytes 0
ok "rows of no bytes: ends well" job_end
ok "it is complete" complete
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
