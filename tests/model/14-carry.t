#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Packed data that goes in rounds from one layout of a stepped loop to the next, under the model checker: tests/model/carry.pml says
# what is modelled and what is checked.  Each case is searched whole; a planted fault must be found, or the search shows nothing.
set -u
# beside others: a search, each on one processor
. "$(dirname "$0")/spin.sh"
model=$top/tests/model/carry.pml

case_holds "four iterations of unequal sizes, room for one piece: all comes once, nobody waits for one that waits for it" "$ends" "" -DN=4
case_long "with sizes that the room is just enough for" "$ends" "" -DN=3 -DSIZED=3
case_long "from any rank to any other, in circles and both ways" "$ends" "" -DN=3 -DANY
case_holds "a rank dies at any moment: who goes on has all that is its own, nobody waits for ever" "$ends" "" -DN=3 -DSIZED=1 -DDIES=1
case_long "two die" "$ends" "" -DN=3 -DSIZED=1 -DDIES=2

faulty() { case_finds "$1" "$2" "$ends" "" "${@:3}"; }
faulty 1 "$stuck" -DN=4
faulty 2 "$stuck" -DN=3 -DANY
for p in 3 4 5 6 7 8; do faulty $p "$wrong" -DN=4; done
for p in 9 10; do faulty $p "$stuck" -DN=3 -DSIZED=1 -DDIES=1; done
faulty 11 "$wrong" -DN=3 -DSIZED=1 -DDIES=1
done_searching
