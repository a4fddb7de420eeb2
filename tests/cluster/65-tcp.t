#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program without MPI: its ranks find each other through PMIx, its rows go over TCP, and its result is the serial one's,
# with a slow host, without a balancer, and when the balancer or a link goes away.
. "$(dirname "$0")/../lib/tap.sh"
need_build examples/pure examples/particles lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts

pure=$LB_BUILD/examples/pure
serial=$("$pure" --serial 5000)
trace=$(cluster dir)/shared/trace
same() {
  cat "$tap_tmp/job"
  grep -qxF "$serial" "$tap_tmp/job"
}
blocks() { sed -n "s/^rank=$1 blocks=//p" "$tap_tmp/job"; }
seen() { grep -q "$1" "$trace"; }

# The slow host's rank is not always 3: least is the least of all.
least() { for r in 0 1 2 3; do blocks $r; done | sort -n | head -n 1; }

job -N4 -n4 -- "$pure" 5000
ok "without --lb it ends well" job_end
ok "with the serial result" same
is "$(least)" 1250 "and fixed shares"
cluster speed n4 0.06 >/dev/null # much slower than the others even where the machine is busy with something else
job --lb=auto,report -N4 -n4 -- "$pure" 5000
ok "with --lb it ends well" job_end
ok "with the serial result" same
ok "the slow host has less" test "$(least)" -lt 1100
like "$(cat "$tap_tmp/job")" 'lb: .*moves=[1-9]' "rows have moved"
fault_hosts
job --lb=auto -N4 -n8 --overcommit -- "$pure" 5000
ok "two ranks a host end well" job_end
ok "with the serial result" same

# --- data that is not rows
particles=$LB_BUILD/examples/particles
whole=$serial
serial=$("$particles" --serial 3000 20)
job --lb=auto -N4 -n4 -- "$particles" 3000 20
ok "lists that travel with their cells: ends well" job_end
ok "with the serial result" same
like "$(cat "$tap_tmp/job")" 'moved_cells=[1-9]' "cells have moved"
job --lb=auto -N4 -n4 -- "$particles" --stepped 3000 20
ok "lists that travel between steps: ends well" job_end
ok "with the serial result" same
like "$(cat "$tap_tmp/job")" 'moved_cells=[1-9]' "cells have moved between steps"
serial=$whole

# Something is done to a job whose rows have moved. A machine may be so fast that the job has ended by then: a longer one.
amid() { # CMD...
  local rows
  for ((rows = 8000; rows <= 256000; rows *= 2)); do
    echo $rows >"$tap_tmp/rows"
    cluster head rm -f "$trace"
    job --lb="auto,trace=$trace" -N4 -n4 -- "$pure" $rows
    await seen '"move"' || return 1
    if "$@" && [ ! -e "$tap_tmp/status" ]; then return 0; fi
    job_end || return 1
  done
  return 1
}

ok "rows move and the balancer is killed" amid cluster on n1 pkill -KILL -x lb-balancer
ok "it ends well" job_end
serial=$("$pure" --serial "$(cat "$tap_tmp/rows")")
ok "with the serial result" same

cut() {
  cluster head ip link set n4 down
  [ ! -e "$tap_tmp/status" ] || ! cluster head ip link set n4 up
}
ok "rows move and a link is cut" amid cut
sleep 2
ok "and healed" cluster head ip link set n4 up
ok "it ends well" job_end
serial=$("$pure" --serial "$(cat "$tap_tmp/rows")")
ok "with the serial result" same

seconds=60
job --lb=auto -K -N4 -n4 -- "$pure" 100000
ok "a rank is there" await on_host n3 pure
ok "it is killed" cluster on n3 pkill -KILL -x pure
not_ok "the job fails" job_end
is "$(grep -cE '^(124|137)$' "$tap_tmp/status" || true)" 0 "and does not hang"
await_gone() { ! on_host n1 lb-balancer; }
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
