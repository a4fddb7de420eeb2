#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A host's link is cut and healed while iterations move: the job is complete, with its balancer or, after a longer cut, without.
# beside others: what is done to the job is done while it is held
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts
trace=$(cluster dir)/shared/trace
seen() { grep -q "$1" "$trace"; }

for cut in n4:0.3 n1:2 n4:5; do
  host=${cut%:*} seconds_cut=${cut#*:}
  cluster head rm -f "$trace"
  held_job --lb="auto,trace=$trace" -N4 -n4 -- --iterations 700 --ms 2 --passes 2 --row-bytes 20000
  ok "$host, $seconds_cut s: iterations have moved" during seen '"move"'
  ok "the link is cut" cluster head ip link set $host down
  sleep $seconds_cut
  ok "the link is healed" cluster head ip link set $host up
  ok "the job ends well" held_end
  ok "it is complete" complete
done
await_gone() { ! on_host n1 lb-balancer; }
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
