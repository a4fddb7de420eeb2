#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Joints of pipelined passes, at which ranks agree to move as they do between steps: tests/model/steps.pml, too, and a file of its
# own so that both are searched at the same time.
set -u
# beside others: a search, each on one processor
. "$(dirname "$0")/spin.sh"
model=$top/tests/model/steps.pml

joints="-DJOINTS=1 -DRANKS=2 -DSTEPS=2" small="-DEPOCHS=1 -DK=1" three="-DRANKS=3 -DSTEPS=1 -DEPOCHS=1 -DK=1"
# shellcheck disable=SC2086
{
  case_holds "joints within pipelined passes: each iteration once in every leg, one leg and epoch on both sides" "$ends" "" $joints
  case_long "joints, three ranks: who has nothing takes part" "$ends" "" -DJOINTS=1 $three
  case_holds "joints, and votes are taken one later, through two layouts" "$ends" "" -DLATER=1 $joints -DK=1
  case_holds "two joints, three ranks, and votes are taken one later" "$ends" "" -DLATER=1 -DJOINTS=2 $three -DSTAYS
  case_long "joints, and votes are entered in the leg before, or not" "$ends" "" -DEARLY $joints -DEPOCHS=1
  case_long "two joints, three ranks, and votes are entered in the leg before, or not" "$ends" "" -DEARLY -DJOINTS=2 $three -DSTAYS
  case_long "joints, and legs become longer and shorter" "$ends" "" -DMIXED $joints $small
  case_holds "joints, and votes are taken two later" "$ends" "" -DLATER=2 $joints $small
  case_holds "so a rank closes the loop at any moment, within a pass, too" "$ends" "" -DLATER=2 -DENDS $joints $small
  case_holds "so a rank is killed" "$ends" "" -DKILLS -DLATER=2 -DJOINTS=2 -DRANKS=2 -DSTEPS=1 $small
  case_long "joints, and a rank closes the loop at any moment, within a pass, too" "$ends" "" -DLATER=1 -DENDS $joints -DK=1
  case_long "so where votes are entered in the leg before" "$ends" "" -DEARLY -DENDS $joints $small
  case_long "so where legs become longer and shorter" "$ends" "" -DMIXED -DENDS $joints $small -DSTAYS
  case_holds "so where ranks are told their own blocks alone" "$ends" "" -DGATHERS -DLATER=1 -DENDS $joints $small
  case_holds "two joints, and a rank is killed" "$ends" "" -DKILLS -DLATER=1 -DJOINTS=2 -DRANKS=2 -DSTEPS=1 $small
  case_long "joints, votes are entered in the leg before, and a rank is killed" "$ends" "" -DKILLS -DEARLY $joints $small
  case_long "joints, legs become longer and shorter, and a rank is killed" "$ends" "" -DKILLS -DMIXED $joints $small -DSTAYS
  case_holds "a joint, and one of three is killed" "$ends" "" -DKILLS -DJOINTS=1 $three -DDEAF -DSTAYS
  case_holds "joints, all ranks come to the last layout" "$fair" "-a -f -N moves" -DLATER=1 -DLIVE -DJOINTS=1 -DRANKS=2 $small
}

for p in 25 26 28; do case_finds $p "$either" "$ends" "" -DRANKS=2 -DJOINTS=1 -DSTEPS=2; done
for p in 29 30; do case_finds $p "$stuck" "$ends" "" -DRANKS=2 -DEARLY -DENDS -DJOINTS=1 -DSTEPS=2 -DEPOCHS=1 -DK=1; done
for votes in LATER=1 EARLY; do
  case_finds 27 "$wrong" "$ends" "" "-D$votes" -DJOINTS=2 -DRANKS=3 -DSTEPS=1 -DEPOCHS=1 -DK=1 -DSTAYS
done
done_searching
