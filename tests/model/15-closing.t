#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Loops that some ranks close early, under the model checker: tests/model/closing.pml says what is modelled and what is checked.
# Each case is searched whole; a planted fault must be found, or the search shows nothing.
set -u
# beside others: a search, each on one processor
. "$(dirname "$0")/spin.sh"
model=$top/tests/model/closing.pml

case_holds "three ranks: nobody waits for ever, wherever the balancer is lost" "$ends" "" -DRANKS=3
case_holds "four ranks" "$ends" "" -DRANKS=4

faulty() { case_finds "$1" "$stuck" "$ends" "" "${@:2}"; }
for p in 1 2 4; do faulty $p; done
faulty 3 -DRANKS=4
done_testing
