#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lbsim replays traces of real runs: loops of each kind on hosts of different speed, and what it predicts is compared with what
# happened.
. "$(dirname "$0")/../lib/tap.sh"
need_build lbsim examples/jacobi examples/sor bench/cpuloop lb-balancer
need_cluster 2

shared=$(cluster dir)/shared
cluster speed n1 .5
cluster speed n2 .2

field() { sed -n "s/.* $1=\([^ ]*\).*/\1/p" <<<"$2"; }
# Both times are of the same run: how busy the machine is hardly matters, but a simulation of something else is far off.
agrees() { awk -v e="$1" 'BEGIN { exit !(e != "" && e < 0.25) }'; }
not_ok "a prediction of three quarters of the time would be seen" agrees 0.25
not_ok "and none at all" agrees ""

replay() { # KIND PROGRAM ARGUMENT...
  ok "$1: the job runs" cluster user timeout 120 srun --mpi=pmix --lb="auto,trace=$shared/$1" -N2 -n2 "${@:2}"
  line=$("$LB_BUILD/lbsim" --replay="$shared/$1")
  diag "$line"
  like "$line" "^replay policy=auto kind=$1 ranks=2 " "$1: its trace is replayed"
  ok "$1: predicted about what it took" agrees "$(field error_ratio "$line")"
  ok "$1: other policies, too" "$LB_BUILD/lbsim" --replay="$shared/$1" --policy=none --policy=siegell
}
replay stepped "$LB_BUILD/examples/jacobi" --n=1500 --steps=80
replay doacross "$LB_BUILD/examples/sor" --n=800 --steps=20 --work=6
replay doall "$LB_BUILD/bench/cpuloop" --iterations=1000
done_testing
