#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Stepped and pipelined jobs that are suspended as a whole, and of which one rank is stopped, after their rows have moved: a pause
# is no death, so afterwards they go on with the balancer that they had, to the serial result.
. "$(dirname "$0")/../lib/tap.sh"
need_build examples/jacobi examples/sor lb-balancer slurm_plugin/.libs/lb.so
command -v python3 >/dev/null || skip_all "python3 is not installed"
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts
trace=$(cluster dir)/shared/trace

moved() { grep -q '"layout"' "$trace"; }
is_state() { [ "$(cluster head squeue -h -j "$id" -o %T)" = "$1" ]; }
all_stopped() {
  local h
  for h in n1 n2 n3 n4; do cluster on $h pgrep -x -r T "$name" >/dev/null || return 1; done
}
begin() { # TIMES
  cluster head rm -f "$trace"
  kind "$name" --n 1000 --steps $((steps * $1))
  job --lb="auto,trace=$trace" -N4 -n4 -- "${program[@]}"
}
# The longest silence of the trace is as long as the pause, and each rank has reported after it.
went_on() { # SECONDS
  python3 - "$trace" "$1" <<'PYTHON'
import json, sys
steps = [e for e in map(json.loads, open(sys.argv[1])) if e["event"] == "step"]
gap, at = max((b["t"] - a["t"], b["t"]) for a, b in zip(steps, steps[1:]))
after = {e["rank"] for e in steps if e["t"] >= at}
print("silent for", gap / 1e9, "s; reports after it of ranks", sorted(after))
sys.exit(gap < float(sys.argv[2]) * 1e9 or after != {0, 1, 2, 3})
PYTHON
}
ends() {
  ok "$1: the job ends well" job_end
  ok "$1: the serial result" same
  is "$(grep -c 'balancer lost' "$tap_tmp/job" || true)" 0 "$1: a pause is no death, the balancer is still there"
  ok "$1: it was silent, then all reported again" went_on 2
}

suspend() {
  part "$name: rows have moved" during moved || return 1
  id=$(job_id)
  part "all of it is suspended" cluster head scontrol suspend "$id" &&
    part "Slurm says so" await is_state SUSPENDED &&
    part "each rank is stopped" await all_stopped &&
    sleep 2.5 &&
    part "it is resumed" cluster head scontrol resume "$id"
}
stop_first() {
  part "$name: rows have moved" during moved &&
    part "rank 0, beside the balancer, is stopped" cluster on n1 pkill -STOP -x "$name" &&
    sleep 2.5 &&
    part "it is resumed" cluster on n1 pkill -CONT -x "$name"
}
for words in "jacobi 1000" "sor 250"; do
  read -r name steps <<<"$words"
  struck begin suspend
  ends "$name, suspended"
  struck begin stop_first
  ends "$name, a rank stopped"
done
# For longer than the balancer waits for a rank (10 s) and the others then wait for its beats (3 s): the job goes on with the bounds
# that it has.
told_lost() { grep -q 'balancer lost, loops stay as they are' "$tap_tmp/job"; }
stop_long() {
  part "$name: rows have moved" during moved &&
    part "rank 1 is stopped" cluster on n2 pkill -STOP -x "$name" &&
    part "the balancer is given up" during told_lost &&
    part "it is resumed" cluster on n2 pkill -CONT -x "$name"
}
name=jacobi steps=1000
struck begin stop_long
ok "$name, a rank stopped for long: the job ends well" job_end
ok "$name, a rank stopped for long: the serial result" same
await_gone() { ! on_host n1 lb-balancer; }
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
