#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A host's link is cut and healed while iterations move: the job is complete, with its balancer or, after a longer cut, without.
# Then the same of a program without MPI, in the middle of rows that go over TCP.
# beside others: what is done to the job is done while it is held
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop tests/fault/flying lb-balancer slurm_plugin/.libs/lb.so
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

# The slow host sends 1 MB a second, so that its large rows are on the way for long: as long as that much waits to be sent, they are.
flying=$LB_BUILD/tests/fault/flying
row_bytes=400000
slow_link() { cluster on n4 tc qdisc replace dev eth0 root tbf rate 8mbit burst 64kb latency 100ms; }
full_link() { cluster on n4 tc qdisc del dev eth0 root; }
flies() {
  cluster on n4 ss -Htn state established | awk -v least=$((row_bytes / 4)) '$2 > least { n++ } END { exit n == 0 }'
}
begin() {
  slow_link
  job --lb=auto -N4 -n4 -- "$flying" $((160 * $1)) $row_bytes 15
}
# The link is down and rows are still on their way: nothing of them leaves any more.  Those that were seen may have come meanwhile.
cut_in_flight() {
  until during flies && cluster head ip link set n4 down && flies; do
    cluster head ip link set n4 up
    job_runs || return 1
  done
}
cut() {
  part "$seconds_cut s: the link is cut while rows are on their way over TCP" cut_in_flight &&
    sleep "$seconds_cut" &&
    part "the link is healed, and fast" cluster head ip link set n4 up &&
    full_link
}
for seconds_cut in 0.3 2 6; do
  struck begin cut
  ok "the job ends well" job_end
  ok "every row is as it was, and was run once" complete
done
job --lb=auto -N4 -n4 -- "$flying" 40 $row_bytes 5 spoil
ok "a row that is changed on purpose" job_end
not_ok "is seen" complete

await_gone() { ! on_host n1 lb-balancer; }
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
