#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Votes that are taken later than entered, or entered in the step before: tests/model/steps.pml, too, and a file of its own so
# that both are searched at the same time.
set -u
# beside others: a search, each on one processor
. "$(dirname "$0")/spin.sh"
model=$top/tests/model/steps.pml

case_holds "pipelined: votes are taken a step later than entered" "$ends" "" -DLATER=1 -DRANKS=2 -DSTEPS=4
case_holds "pipelined, three ranks" "$ends" "" -DLATER=1 -DRANKS=3 -DSTEPS=2 -DEPOCHS=1 -DK=1
case_holds "pipelined, a rank ends at any moment" "$ends" "" -DLATER=1 -DRANKS=2 -DSTEPS=3 -DENDS
case_holds "pipelined, all ranks come to the last layout" "$fair" "-a -f -N moves" -DLATER=1 -DLIVE -DRANKS=2 -DK=1
case_holds "pipelined, the balancer dies at any moment: ranks ask no more" "$fair" "-a -f -N rests" -DLATER=1 -DLIVE -DDIES -DRANKS=2 -DEPOCHS=1 -DK=1
case_holds "short steps: votes are taken two steps later" "$ends" "" -DLATER=2 -DRANKS=2 -DSTEPS=5
case_long "two steps later, three ranks" "$ends" "" -DLATER=2 -DRANKS=3 -DSTEPS=3 -DEPOCHS=1 -DK=1
case_holds "two steps later, a rank ends at any moment" "$ends" "" -DLATER=2 -DRANKS=2 -DSTEPS=4 -DENDS
case_holds "two steps later, all ranks come to the last layout" "$fair" "-a -f -N moves" -DLATER=2 -DLIVE -DRANKS=2 -DK=1
case_holds "two steps later, the balancer dies at any moment: ranks ask no more" "$fair" "-a -f -N rests" -DLATER=2 -DLIVE -DDIES -DRANKS=2 -DEPOCHS=1 -DK=1
case_holds "votes are entered in the step before, or not" "$ends" "" -DEARLY -DRANKS=2 -DSTEPS=4
case_long "in the step before, three ranks" "$ends" "" -DEARLY -DRANKS=3 -DSTEPS=2 -DEPOCHS=1 -DK=1
case_long "in the step before, a rank ends at any moment" "$ends" "" -DEARLY -DRANKS=2 -DSTEPS=3 -DENDS
case_holds "in the step before, all ranks come to the last layout" "$fair" "-a -f -N moves" -DEARLY -DLIVE -DRANKS=2 -DK=1
case_holds "in the step before, the balancer dies at any moment: ranks ask no more" "$fair" "-a -f -N rests" -DEARLY -DLIVE -DDIES -DRANKS=2 -DEPOCHS=1 -DK=1
case_long "pipelined, steps become longer and shorter: votes are entered in the step before, or taken a step later" "$ends" "" -DMIXED -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_long "so a rank ends at any moment" "$ends" "" -DMIXED -DRANKS=2 -DSTEPS=3 -DENDS
case_long "so all ranks come to the last layout" "$fair" "-a -f -N moves" -DMIXED -DLIVE -DRANKS=2 -DEPOCHS=1 -DK=1
case_long "so a rank is killed" "$ends" "" -DMIXED -DKILLS -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_long "pipelined, a rank is killed" "$ends" "" -DKILLS -DLATER=1 -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_long "two steps later, a rank is killed" "$ends" "" -DKILLS -DLATER=2 -DRANKS=2 -DSTEPS=4 -DEPOCHS=1
case_long "in the step before, a rank is killed" "$ends" "" -DKILLS -DEARLY -DRANKS=2 -DSTEPS=3 -DEPOCHS=1
case_holds "ranks are told their own blocks alone, two steps later, and a rank closes the loop at any moment" "$ends" "" -DGATHERS -DLATER=2 -DRANKS=2 -DSTEPS=4 -DENDS
case_long "so in the step before, and a rank closes the loop" "$ends" "" -DGATHERS -DEARLY -DRANKS=2 -DSTEPS=3 -DENDS
case_long "so pipelined, and a rank is killed" "$ends" "" -DGATHERS -DKILLS -DLATER=1 -DRANKS=2 -DSTEPS=3 -DEPOCHS=1

faulty() { case_finds "$@" -DRANKS=2; }
faulty 16 "$either" "$ends" "" -DLATER=1 -DSTEPS=4
faulty 16 "$either" "$ends" "" -DLATER=2 -DSTEPS=5
faulty 17 "$either" "$ends" "" -DEARLY -DSTEPS=4
faulty 24 "$either" "$ends" "" -DMIXED -DSTEPS=4
faulty 22 "$wrong" "$ends" "" -DGATHERS -DLATER=2 -DSTEPS=4 -DENDS
done_searching
