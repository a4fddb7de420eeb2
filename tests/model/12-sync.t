#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that wait for the balancer's answers (sync=yes) under the model checker: tests/model/sync.pml says what is modelled and what is
# checked.  Each case is searched whole; a planted fault must be found, or the search shows nothing.
set -u
# beside others: a search, each on one processor
. "$(dirname "$0")/spin.sh"
model=$top/tests/model/sync.pml

case_holds "two ranks, three asks, two moves: nobody waits for ever, all that is decided is known" "$ends" "" -DRANKS=2 -DITERATIONS=3 -DASKS=3 -DMOVES=2
case_holds "FINAL at any moment" "$ends" "" -DRANKS=2 -DITERATIONS=3 -DASKS=3 -DMOVES=2 -DEARLY
case_holds "three ranks" "$ends" "" -DRANKS=3 -DASKS=1
case_holds "patience ends: an old answer lets nobody go on" "$ends" "" -DRANKS=2 -DITERATIONS=3 -DPATIENCE=2

faulty() { case_finds "$1" "$2" "$ends" "" -DRANKS=2 -DITERATIONS=3 "${@:3}"; }
for p in 1 2; do faulty $p "$stuck"; done
faulty 4 "$stuck" -DEARLY
faulty 3 "$wrong" -DPATIENCE=2
faulty 5 "$wrong"
done_testing
