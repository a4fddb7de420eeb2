#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The step at which all ranks of a stepped loop agree to move, under the model checker: tests/model/steps.pml says what is
# modelled and what is checked.  Each case is searched whole; a planted fault must be found, or the search shows nothing.
set -u
# beside others: a search, each on one processor
. "$(dirname "$0")/spin.sh"
model=$top/tests/model/steps.pml

case_holds "two ranks, four steps, two layouts: each iteration once in every step, one epoch on both sides" "$ends" "" -DRANKS=2 -DSTEPS=4
case_long "three ranks, two steps: who has nothing takes part" "$ends" "" -DRANKS=3 -DSTEPS=2 -DEPOCHS=1
case_holds "a balancer that tells ranks different things moves nothing" "$ends" "" -DRANKS=2 -DSTEPS=3 -DEPOCHS=1 -DLIES
case_holds "a rank ends at any moment: nobody waits for it for ever" "$ends" "" -DRANKS=2 -DSTEPS=3 -DENDS
case_holds "three ranks, one ends" "$ends" "" -DRANKS=3 -DSTEPS=1 -DEPOCHS=1 -DENDS
case_holds "told in any time, all ranks come to the last layout" "$fair" "-a -f -N moves" -DLIVE -DRANKS=2 -DK=1
case_holds "whatever intervals they propose" "$fair" "-a -f -N moves" -DLIVE -DRANKS=2 -DEPOCHS=1
case_holds "the balancer dies at any moment: ranks go on, and ask no more" "$fair" "-a -f -N rests" -DLIVE -DDIES -DRANKS=2 -DEPOCHS=1 -DK=1
case_holds "layouts are lost, and told again: all ranks come to the last one" "$fair" "-a -f -N moves" -DLIVE -DRANKS=2 -DK=1 -DLOSES=1
case_holds "sync=yes: a layout is in force at the step whose reports it was made of" "$ends" "" -DSYNC -DRANKS=2 -DK=1
case_holds "three ranks" "$ends" "" -DSYNC -DRANKS=3 -DSTEPS=2 -DEPOCHS=1 -DK=1
case_long "some go on without an answer, and the balancer dies" "$ends" "" -DSYNC -DDIES -DRANKS=2 -DEPOCHS=1 -DK=1 -DPATIENCE=1
case_holds "a rank is killed at any moment: nobody waits for it for ever, who closes the loop without an error misses nothing" "$ends" "" -DKILLS -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_holds "through two layouts" "$ends" "" -DKILLS -DRANKS=2 -DSTEPS=3 -DK=1
case_long "one of three is killed" "$ends" "" -DKILLS -DRANKS=3 -DSTEPS=1 -DEPOCHS=1 -DK=1
case_long "one of three, and a step without a vote" "$ends" "" -DKILLS -DDEAF -DSAME -DRANKS=3 -DSTEPS=2 -DEPOCHS=1
case_holds "ranks are told their own blocks alone: they vote once more, and bring the bounds together" "$ends" "" -DGATHERS -DRANKS=2 -DSTEPS=4
case_long "so three ranks" "$ends" "" -DGATHERS -DRANKS=3 -DSTEPS=2 -DEPOCHS=1
case_holds "sync=yes, and a rank is killed, where it waits for an answer, too" "$ends" "" -DSYNC -DKILLS -DRANKS=2 -DSTEPS=3 -DEPOCHS=1 -DK=1

faulty() { case_finds "$@" -DRANKS=2; }
for p in 1 3 4 6 7; do faulty $p "$either" "$ends" "" -DSTEPS=4; done
for p in 2 5; do faulty $p "$either" "$ends" "" -DSTEPS=3 -DLIES; done
faulty 8 "$stuck" "$ends" "" -DENDS
faulty 9 'acceptance cycle (' "$fair" "-a -f -N moves" -DLIVE -DEPOCHS=1
faulty 10 'acceptance cycle (' "$fair" "-a -f -N rests" -DLIVE -DDIES -DEPOCHS=1
faulty 11 'acceptance cycle (' "$fair" "-a -f -N moves" -DLIVE -DK=1 -DLOSES=1
faulty 12 'acceptance cycle (' "$fair" "-a -f -N moves" -DLIVE -DK=1 -DLOSES=1
faulty 13 "$wrong" "$ends" "" -DSYNC -DK=1
faulty 14 "$wrong" "$ends" "" -DSYNC -DK=1 -DPATIENCE=1
faulty 15 "$stuck" "$ends" "" -DSYNC -DDIES -DK=1
faulty 23 "$stuck" "$ends" "" -DSYNC -DKILLS -DEPOCHS=1 -DK=1 -DSTEPS=3
killed() { case_finds "$1" "$2" "$ends" "" -DKILLS -DRANKS=3 -DEPOCHS=1 "${@:3}"; }
for p in 18 19; do killed $p "$stuck" -DSTEPS=1 -DK=1; done
killed 20 "$wrong" -DSTEPS=1 -DK=1
killed 21 "$wrong" -DSTEPS=2 -DDEAF -DSAME
done_searching
