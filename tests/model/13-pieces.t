#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Moves of packed data, piece by piece, under the model checker: tests/model/pieces.pml says what is modelled and what is
# checked.  Each case is searched whole; a planted fault must be found, or the search shows nothing.
set -u
# beside others: a search, each on one processor
. "$(dirname "$0")/spin.sh"
model=$top/tests/model/pieces.pml

case_holds "two ranks, two moves, room for one piece: each iteration once, no more pieces than there is room for" "$ends" "" -DMOVES=2
case_holds "room for two pieces, two passes" "$ends" "" -DMOVES=1 -DCREDIT=2 -DPASSES=2
case_holds "three ranks" "$ends" "" -DMOVES=1 -DRANKS=3 -DPASSES=2
case_holds "one rank closes the loop early" "$ends" "" -DMOVES=1 -DPASSES=2 -DCLOSES
case_holds "a transport fails between two pieces: nothing is run twice, what is missing is said" "$ends" "" -DMOVES=1 -DCREDIT=2 -DBREAKS
case_holds "and through two passes" "$ends" "" -DMOVES=1 -DPASSES=2 -DBREAKS
case_holds "a rank dies between two pieces: nothing is run twice, nobody waits for ever" "$ends" "" -DMOVES=1 -DRANKS=3 -DDIES
case_holds "no run goes on for ever" "$cycles" -l -DMOVES=1 -DPASSES=2 -DCLOSES

faulty() { case_finds "$1" "$2" "$ends" "" "${@:3}"; }
for p in 1 2 3 5 7 8 9 10; do faulty $p "$wrong" -DMOVES=1; done
for p in 4 11; do faulty $p "$wrong" -DMOVES=1 -DBREAKS; done
faulty 6 "$wrong" -DMOVES=2
faulty 12 "$stuck" -DMOVES=1
for p in 13 14; do faulty $p "$stuck" -DMOVES=1 -DRANKS=3 -DDIES; done
done_testing
