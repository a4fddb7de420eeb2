#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Which runs of a benchmark count (quiet_runs of bench/lib.sh): those from which the machine beneath took least, whatever they say.
set -u
. "$(dirname "$0")/../lib/checks.sh"

# quiet LIBRARY N STOLEN...: "RUNS: LINES THAT COUNT" of runs from which so much is taken, and which say the less the more it was
quiet() {
    local library=$1 n=$2
    shift 2
    printf '%s\n' "$@" >"$tmp/stolen"
    : >"$tmp/runs"
    (
        set -eu
        # shellcheck source=/dev/null
        . "$library"
        bench_tmp=$tmp
        taken() { sed -n "$(wc -l <"$tmp/runs")p" "$tmp/stolen"; }
        stolen_since() { taken; }
        a_run() { echo run >>"$tmp/runs" && echo "says=$(calc "1 - $(taken)")"; }
        quiet_runs "$n" test a_run 2>"$tmp/said"
        echo "$(wc -l <"$tmp/runs"): $(tr '\n' ' ' <"$bench_tmp/quiet")most $(most_taken)"
    )
}
# expect LIBRARY WHAT RESULT N STOLEN...
expect() {
    local got library=$1 what=$2 result=$3
    got=$(quiet "$library" "${@:4}")
    [ "$got" = "$result" ] || bad "$what: $got, not $result"
}
all() {
    expect "$1" "all are quiet" "2: 0.001 says=0.999 0.002 says=0.998 most 0.002" 2 0.001 0.002
    expect "$1" "one is made again" "3: 0.000 says=1.000 0.010 says=0.990 most 0.010" 2 0.000 0.300 0.010
    expect "$1" "no more than twice as many" "4: 0.100 says=0.900 0.200 says=0.800 most 0.200" 2 0.400 0.200 0.300 0.100
}
all "$src/bench/lib.sh"
grep -q 'test run 4, 0 of 2: stolen 0.100; says=0.900' "$tmp/said" || bad "what is said of a run: $(cat "$tmp/said")"

# What /proc/stat counts: a part of one, and none of it before.
(
    # shellcheck source=/dev/null
    . "$src/bench/lib.sh"
    awk -v s="$(stolen_since "$(processor_ticks)")" 'BEGIN { exit !(s >= 0 && s <= 1) }'
) || bad "what was taken from this machine is no part of its time"

# Planted failures: chosen by what the runs say; nothing made again.
for plant in 's/sort -s -g -k1,1/sort -s -k2,2/' 's/i <= 2 \* n/i <= n/'; do
    sed "$plant" "$src/bench/lib.sh" >"$tmp/lib.sh"
    (failed=0 && all "$tmp/lib.sh" >/dev/null && exit $failed) && bad "the planted failure was not seen: $plant"
done
exit $failed
