#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The step at which all ranks of a stepped loop agree to move, under the model checker: tests/model/steps.pml says what is
# modelled and what is checked.  Each case is searched whole; a planted fault must be found, or the search shows nothing.
set -u
# beside others: a search, each on one processor
. "$(dirname "$0")/spin.sh"
model=$top/tests/model/steps.pml

case_holds "two ranks, four steps, two layouts: each iteration once in every step, one epoch on both sides" "$ends" "" -DRANKS=2 -DSTEPS=4
case_holds "three ranks, two steps: who has nothing takes part" "$ends" "" -DRANKS=3 -DSTEPS=2 -DEPOCHS=1
case_holds "a balancer that tells ranks different things moves nothing" "$ends" "" -DRANKS=2 -DSTEPS=3 -DEPOCHS=1 -DLIES
case_holds "a rank ends at any moment: nobody waits for it for ever" "$ends" "" -DRANKS=2 -DSTEPS=3 -DENDS
case_holds "three ranks, one ends" "$ends" "" -DRANKS=3 -DSTEPS=1 -DEPOCHS=1 -DENDS
case_holds "told in any time, all ranks come to the last layout" "$fair" "-a -f -N moves" -DLIVE -DRANKS=2 -DK=1
case_holds "whatever intervals they propose" "$fair" "-a -f -N moves" -DLIVE -DRANKS=2 -DEPOCHS=1
case_holds "the balancer dies at any moment: ranks go on, and ask no more" "$fair" "-a -f -N rests" -DLIVE -DDIES -DRANKS=2 -DEPOCHS=1 -DK=1
case_holds "layouts are lost, and told again: all ranks come to the last one" "$fair" "-a -f -N moves" -DLIVE -DRANKS=2 -DK=1 -DLOSES=1
case_holds "sync=yes: a layout is in force at the step whose reports it was made of" "$ends" "" -DSYNC -DRANKS=2 -DK=1
case_holds "three ranks" "$ends" "" -DSYNC -DRANKS=3 -DSTEPS=2 -DEPOCHS=1 -DK=1
case_holds "some go on without an answer, and the balancer dies" "$ends" "" -DSYNC -DDIES -DRANKS=2 -DEPOCHS=1 -DK=1 -DPATIENCE=1
case_holds "pipelined: votes are taken a step later than entered" "$ends" "" -DLATER=1 -DRANKS=2 -DSTEPS=4
case_holds "pipelined, three ranks" "$ends" "" -DLATER=1 -DRANKS=3 -DSTEPS=2 -DEPOCHS=1 -DK=1
case_holds "pipelined, a rank ends at any moment" "$ends" "" -DLATER=1 -DRANKS=2 -DSTEPS=3 -DENDS
case_holds "pipelined, all ranks come to the last layout" "$fair" "-a -f -N moves" -DLATER=1 -DLIVE -DRANKS=2 -DK=1
case_holds "pipelined, the balancer dies at any moment: ranks ask no more" "$fair" "-a -f -N rests" -DLATER=1 -DLIVE -DDIES -DRANKS=2 -DEPOCHS=1 -DK=1
case_holds "short steps: votes are taken two steps later" "$ends" "" -DLATER=2 -DRANKS=2 -DSTEPS=5
case_holds "two steps later, three ranks" "$ends" "" -DLATER=2 -DRANKS=3 -DSTEPS=3 -DEPOCHS=1 -DK=1
case_holds "two steps later, a rank ends at any moment" "$ends" "" -DLATER=2 -DRANKS=2 -DSTEPS=4 -DENDS
case_holds "two steps later, all ranks come to the last layout" "$fair" "-a -f -N moves" -DLATER=2 -DLIVE -DRANKS=2 -DK=1
case_holds "two steps later, the balancer dies at any moment: ranks ask no more" "$fair" "-a -f -N rests" -DLATER=2 -DLIVE -DDIES -DRANKS=2 -DEPOCHS=1 -DK=1
case_holds "votes are entered in the step before, or not" "$ends" "" -DEARLY -DRANKS=2 -DSTEPS=4
case_holds "in the step before, three ranks" "$ends" "" -DEARLY -DRANKS=3 -DSTEPS=2 -DEPOCHS=1 -DK=1
case_holds "in the step before, a rank ends at any moment" "$ends" "" -DEARLY -DRANKS=2 -DSTEPS=3 -DENDS
case_holds "in the step before, all ranks come to the last layout" "$fair" "-a -f -N moves" -DEARLY -DLIVE -DRANKS=2 -DK=1
case_holds "in the step before, the balancer dies at any moment: ranks ask no more" "$fair" "-a -f -N rests" -DEARLY -DLIVE -DDIES -DRANKS=2 -DEPOCHS=1 -DK=1
case_holds "pipelined, steps become longer and shorter: votes are entered in the step before, or taken a step later" "$ends" "" -DMIXED -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_holds "so a rank ends at any moment" "$ends" "" -DMIXED -DRANKS=2 -DSTEPS=3 -DENDS
case_holds "so all ranks come to the last layout" "$fair" "-a -f -N moves" -DMIXED -DLIVE -DRANKS=2 -DEPOCHS=1 -DK=1
case_holds "so a rank is killed" "$ends" "" -DMIXED -DKILLS -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_holds "a rank is killed at any moment: nobody waits for it for ever, who closes the loop without an error misses nothing" "$ends" "" -DKILLS -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_holds "through two layouts" "$ends" "" -DKILLS -DRANKS=2 -DSTEPS=3 -DK=1
case_holds "one of three is killed" "$ends" "" -DKILLS -DRANKS=3 -DSTEPS=1 -DEPOCHS=1 -DK=1
case_holds "one of three, and a step without a vote" "$ends" "" -DKILLS -DDEAF -DSAME -DRANKS=3 -DSTEPS=2 -DEPOCHS=1
case_holds "pipelined, a rank is killed" "$ends" "" -DKILLS -DLATER=1 -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_holds "two steps later, a rank is killed" "$ends" "" -DKILLS -DLATER=2 -DRANKS=2 -DSTEPS=4 -DEPOCHS=1
case_holds "in the step before, a rank is killed" "$ends" "" -DKILLS -DEARLY -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_holds "ranks are told their own blocks alone: they vote once more, and bring the bounds together" "$ends" "" -DGATHERS -DRANKS=2 -DSTEPS=4
case_holds "so three ranks" "$ends" "" -DGATHERS -DRANKS=3 -DSTEPS=2 -DEPOCHS=1
case_holds "so two steps later, and a rank closes the loop at any moment" "$ends" "" -DGATHERS -DLATER=2 -DRANKS=2 -DSTEPS=4 -DENDS
case_holds "so in the step before, and a rank closes the loop" "$ends" "" -DGATHERS -DEARLY -DRANKS=2 -DSTEPS=3 -DENDS
case_holds "so pipelined, and a rank is killed" "$ends" "" -DGATHERS -DKILLS -DLATER=1 -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_holds "sync=yes, and a rank is killed, where it waits for an answer, too" "$ends" "" -DSYNC -DKILLS -DRANKS=2 -DSTEPS=3 -DEPOCHS=1 -DK=1

faulty() { ok "planted fault $1 is found" found "$2" "$3" "$4" -DRANKS=2 -DPLANTED="$1" "${@:5}"; }
wrong='assertion violated\|invalid end state ('
for p in 1 3 4 6 7; do faulty $p "$wrong" "$ends" "" -DSTEPS=4; done
for p in 2 5; do faulty $p "$wrong" "$ends" "" -DSTEPS=3 -DLIES; done
faulty 8 'invalid end state (' "$ends" "" -DENDS
faulty 9 'acceptance cycle (' "$fair" "-a -f -N moves" -DLIVE -DEPOCHS=1
faulty 10 'acceptance cycle (' "$fair" "-a -f -N rests" -DLIVE -DDIES -DEPOCHS=1
faulty 11 'acceptance cycle (' "$fair" "-a -f -N moves" -DLIVE -DK=1 -DLOSES=1
faulty 12 'acceptance cycle (' "$fair" "-a -f -N moves" -DLIVE -DK=1 -DLOSES=1
faulty 13 'assertion violated' "$ends" "" -DSYNC -DK=1
faulty 14 'assertion violated' "$ends" "" -DSYNC -DK=1 -DPATIENCE=1
faulty 15 'invalid end state (' "$ends" "" -DSYNC -DDIES -DK=1
faulty 16 "$wrong" "$ends" "" -DLATER=1 -DSTEPS=4
faulty 16 "$wrong" "$ends" "" -DLATER=2 -DSTEPS=5
faulty 17 "$wrong" "$ends" "" -DEARLY -DSTEPS=4
faulty 24 "$wrong" "$ends" "" -DMIXED -DSTEPS=4
faulty 22 'assertion violated' "$ends" "" -DGATHERS -DLATER=2 -DSTEPS=4 -DENDS
faulty 23 'invalid end state (' "$ends" "" -DSYNC -DKILLS -DEPOCHS=1 -DK=1 -DSTEPS=3
killed() { ok "planted fault $1 is found" found "$2" "$ends" "" -DPLANTED="$1" -DKILLS -DRANKS=3 -DEPOCHS=1 "${@:3}"; }
for p in 18 19; do killed $p 'invalid end state (' -DSTEPS=1 -DK=1; done
killed 20 'assertion violated' -DSTEPS=1 -DK=1
killed 21 'assertion violated' -DSTEPS=2 -DDEAF -DSAME
done_testing
