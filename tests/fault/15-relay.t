#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A relay between all ranks and the balancer (relay.c) tears, delays, repeats, changes, loses and holds back what passes, and breaks
# connections and halves of them: a wire that is only slow keeps its balancer, whatever else is refused, or missed, and the job goes
# on without one, to the same result.
# beside others: what is planned is awaited, and asked for again in a longer job
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop examples/jacobi examples/sor tests/fault/lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts
fault_balancer
length=120

lost() { grep -q 'balancer lost' "$tap_tmp/job"; }
kept() { ! lost && { grep -q 'balanced_ranks=4' "$tap_tmp/job" || [ "${program+set}" ]; }; }

# --- a wire that is slow
happened() { planned && kept; }
one "torn both ways for rank 1, late both ways for rank 3" auto "torn up1:proof 1" "torn down1:proof 1" "late up3:join 1" "late down3:start 1"
under "torn for rank 2, late for rank 0" jacobi 250 "torn up2:any 1" "torn down2:any 1" "late up0:any 1" "late down0:any 1"

# --- one that is not to be believed, or breaks
unset program
happened() { planned && lost; }
one "a bit of a report changes" auto "flip up2:report 3"
one "a report is lost" auto "lose up3:report 2"
one "an instruction comes twice" auto "twice down1:instruct 2"
one "what goes to a rank is stuck" auto "stuck down2:instruct 2"
one "a connection is reset in the middle of a report" auto "cut up3:report 2"
one "a rank hears nothing more" auto "half down3:any 5"
one "a rank is heard no more" auto "half up2:report 2"
one "a rank is heard no more, and all it says is acknowledged" auto "mute up2:report 2"
one "a rank hears the end and is still heard" auto "end down1:instruct 1"
one "a rank is heard to end, and still hears" auto "end up2:report 1"
under "a bit of a layout changes" jacobi 250 "flip down3:layout 1"
under "a rank's times come twice" jacobi 250 "twice up2:step 2"
under "pipelined, a layout is lost" sor 100 "lose down2:layout 1"
under "pipelined, a connection is reset in the middle of a layout" sor 100 "cut down3:layout 1"

# --- one that nobody proves anything over
unset program
happened() { planned && grep -q 'balanced_ranks=0' "$tap_tmp/job"; }
one "a bit of a proof changes" auto "flip up2:proof 1"
one "a rank never hears the balancer's proof" auto "half down1:proof 1"

# --- planted: a balancer that believes all it hears goes on with it
happened() { planned; }
one "planted: a report comes twice and is believed" auto "twice up2:report 3" "blind mac 1"
not_ok "and that is seen" lost
await_gone() { ! on_host n1 lb-balancer; }
ok "no balancer is left" await await_gone
ok "no host was drained by any of it" hosts_are_well
done_testing
