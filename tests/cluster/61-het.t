#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A heterogeneous step (srun A : B): all components are the ranks of one program, and one balancer serves them all.
# beside others: waits for daemons and jobs, whatever the speed of hosts
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop examples/plain lb-balancer
need_cluster 3

cluster speed n1 .4
cluster speed n2 .1
cluster speed n3 .4
loop=$LB_BUILD/bench/cpuloop
het() { # LB-OF-THE-FIRST LB-OF-THE-SECOND PROGRAM...
  local a=$1 b=$2
  shift 2
  # shellcheck disable=SC2086
  cluster user timeout -k 5 120 srun --mpi=pmix $a -N1 -n1 "$@" : $b -N2 -n3 "$@" </dev/null >"$tap_tmp/job" 2>"$tap_tmp/job.err" ||
    { cat "$tap_tmp/job" "$tap_tmp/job.err"; return 1; }
}

if ! het "" "" "$loop" --iterations 10; then
  diag "$(cat "$tap_tmp/job.err")"
  skip "a heterogeneous step" "this Slurm starts none with PMIx"
  done_testing
  exit 0
fi
like "$(cat "$tap_tmp/job")" 'missing=0 duplicated=0 .*balanced_ranks=0' "without --lb it runs as ever"

ok "with --lb for the first component it runs" het --lb=auto,report "" "$loop" --iterations 1500
like "$(cat "$tap_tmp/job")" 'missing=0 duplicated=0 .*balanced_ranks=4' "balanced on all ranks of both"
like "$(cat "$tap_tmp/job.err")" 'lb: policy auto, 4 ranks: ' "by one balancer"
is "$(grep -c 'did not call lb_init' "$tap_tmp/job.err" || true)" 0 "nobody says that the program knows nothing of it"

ok "with --lb for both it runs" het --lb=auto,report --lb=auto,report "$loop" --iterations 1500
like "$(cat "$tap_tmp/job")" 'missing=0 duplicated=0 .*balanced_ranks=4' "balanced just the same"
is "$(grep -c 'did not call lb_init' "$tap_tmp/job.err" || true)" 0 "and nothing is said"

ok "with --lb for the second alone it runs" het "" --lb "$loop" --iterations 300
like "$(cat "$tap_tmp/job")" 'missing=0 duplicated=0 .*balanced_ranks=4' "and is balanced: srun gives its components one option"
gone() { local h; for h in n1 n2 n3; do ! cluster on $h pgrep -x lb-balancer >/dev/null || return 1; done; }
for ((i = 0; i < 100; i++)); do if gone; then break; fi; sleep .1; done
ok "no balancer is left on any host" gone
done_testing
