#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The balancer killed or stopped in each phase of a move and of the end of a pass: every iteration is run once, with its row
# intact, and the job ends well.
# beside others: what is planned is awaited, and asked for again in a longer job
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop tests/fault/early tests/mpi/leave tests/fault/lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts
fault_balancer

for moment in before-move move sent received before-final final dry; do
  one "killed at \"$moment\"" auto "kill $moment 1"
done
one "killed at the second pass's end" auto "kill before-final 5"
one "stopped at \"move\"" auto "stop move 1"
one "stopped at \"final\"" auto "stop final 1"

# --- a rank closes the loop early as well: within a pass the others run what is theirs, and go on; between two passes they are told,
# also where the rank that closed it waits in a call of the program's own
for moment in instruct before-final; do
  plan "kill $moment 1"
  job --lb=auto -N4 -n4 -- "$LB_BUILD/tests/fault/early" 2000 5
  ok "killed at \"$moment\", and a rank closes the loop early: ends well" job_end
  like "$(cat "$tap_tmp/job")" 'twice=0 second=1000 of 1000 balanced=0' "no iteration twice, and the next loop is whole"
  ok "it did happen" planned
done
left() { # KIND MOMENT
  local waits options
  for waits in end elsewhere; do
    plan "kill $2 1"
    options=()
    [ $waits = elsewhere ] || options=(end)
    job --lb=auto -N4 -n4 -- "$LB_BUILD/tests/mpi/leave" "$1" 60 20 100000 ${options[@]+"${options[@]}"}
    ok "killed at \"$2\", and a rank closes a $1 loop early, and waits ($waits): the job ends well" job_end
    like "$(cat "$tap_tmp/job")" "leave $1 np=4 told=3 wrong=0" "the others are told"
    ok "it did happen" planned
  done
}
# between two passes the balancer is killed before it hears of it, as it does, before it tells the others, and as it has told one of them
for moment in before-final close before-closed closed; do left free $moment; done
left stepped instruct
left pipelined instruct
# Planted: a job that hangs is seen.
seconds=5
job --lb=auto -N4 -n4 -- sleep 100
not_ok "planted: a job that hangs" job_end
like "$(cat "$tap_tmp/status")" '^(124|137)$' "that is seen"

await_gone() { ! on_host n1 lb-balancer; }
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
