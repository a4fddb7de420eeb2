#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What rank 0 and the balancer say to each other comes twice, torn or with a bit of it changed, and a link is cut while a layout is
# on its way to the ranks: what cannot be true is refused with its connection, and the job goes on without a balancer to the serial
# result.
# beside others: what is planned is awaited, and asked for again in a longer job
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop examples/jacobi examples/sor tests/fault/lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts
fault_balancer

# Once refused, rank 0 says so, unless it had nothing more to wait for.
lost() { grep -q 'balancer lost' "$tap_tmp/job"; }
happened() { planned && lost; }

one "a bit of an instruction changes on the wire" auto "flip instruct 2"
one "a report comes twice on the wire" auto "again heard 3"
under "a layout comes twice on the wire" jacobi 500 "again layout 1"
under "pipelined, the wire breaks in the middle of a layout" sor 150 "cut layout 1"

# The balancer stops when a rank has the first layout, and the others have it not: the link is cut in the middle of a move.
begin() { # TIMES
  kind "$name" --n 1000 --steps $((steps * $1))
  plan "stop layout 1"
  job --lb=auto -N4 -n4 -- "${program[@]}"
}
cut() {
  part "$name: a rank has a layout, others have not" during planned &&
    part "a link is cut" cluster head ip link set n4 down || return
  # A job that was over too soon ends over the link, too.
  if ! part "the balancer tells the others" during cluster on n1 pkill -CONT -x lb-balancer; then
    cluster head ip link set n4 up
    return 1
  fi
  sleep 1
  part "the link is healed" cluster head ip link set n4 up
}
for words in "jacobi 700" "sor 200"; do
  read -r name steps <<<"$words"
  struck begin cut
  ok "$name: ends well" job_end
  ok "$name: the serial result" same
done
await_gone() { ! on_host n1 lb-balancer; }
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
