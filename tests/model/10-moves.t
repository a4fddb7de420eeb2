#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The protocol of moves under the model checker: tests/model/moves.pml says what is modelled and what is checked.
# Each case is searched whole; a planted fault must be found, or the search shows nothing.
set -u
# beside others: a search, each on one processor
. "$(dirname "$0")/spin.sh"
model=$top/tests/model/moves.pml

case_holds "three ranks, two passes, two moves: each iteration once, nobody waits for ever" "$ends" "" -DRANKS=3 -DPASSES=2 -DMOVES=2
case_holds "three ranks, one pass, three moves" "$ends" "" -DRANKS=3 -DPASSES=1 -DMOVES=3
case_holds "two ranks, three passes, three moves: there and back again" "$ends" "" -DRANKS=2 -DPASSES=3 -DMOVES=3
case_holds "one rank closes the loop early" "$ends" "" -DRANKS=3 -DPASSES=2 -DMOVES=2 -DCLOSES
case_holds "a rank dies at any moment: nothing is run twice, nobody waits for ever, who hears nothing of it misses nothing" "$ends" "" -DRANKS=3 -DPASSES=1 -DMOVES=2 -DDIES
case_holds "and through two passes" "$ends" "" -DRANKS=2 -DPASSES=2 -DMOVES=2 -DDIES
case_holds "no run goes on for ever" "$cycles" -l -DRANKS=3 -DPASSES=1 -DMOVES=2 -DCLOSES
case_holds "nor through two passes" "$cycles" -l -DRANKS=2 -DPASSES=2 -DMOVES=2

for p in 1 2 3 4; do case_finds $p "$wrong" "$ends" "" -DRANKS=3 -DPASSES=2 -DMOVES=2; done
case_finds 5 "$stuck" "$ends" "" -DRANKS=3 -DPASSES=2 -DMOVES=2
case_finds 6 'non-progress cycle (' "$cycles" -l -DRANKS=2 -DPASSES=2 -DMOVES=2
for p in 7 10; do case_finds $p "$wrong" "$ends" "" -DRANKS=3 -DPASSES=1 -DMOVES=2 -DDIES; done
for p in 8 9; do case_finds $p "$stuck" "$ends" "" -DRANKS=3 -DPASSES=1 -DMOVES=2 -DDIES; done
done_testing
