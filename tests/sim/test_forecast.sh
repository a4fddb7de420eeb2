#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Forecasts on recorded load: as good as they were, no trace is a catastrophe, and a trace that is none is refused.
set -u
. "$(dirname "$0")/../lib/checks.sh"
run() { "$build/sim/forecast-trace" "$@"; }
# within LINE KEY LIMIT
within() { awk -v key="$2=" -v limit="$3" '{ for (i = 1; i <= NF; i++) if (index($i, key) == 1) { v = substr($i, length(key) + 1); ok = v + 0 > 0 && v + 0 <= limit } } END { exit !ok }' <<<"$1"; }

line=$(run --interval=2 "$src/bench/traces/machine.csv") || bad "machine"
within "$line" over_last_value 0.77 || bad "machine: $line"
within "$line" over_hindsight 1.03 || bad "machine: $line"
line=$(run --interval=10 "$src/bench/traces/machine.csv") || bad "machine, 10 s"
within "$line" over_last_value 0.83 || bad "machine, 10 s: $line"
within "$line" over_hindsight 1.04 || bad "machine, 10 s: $line"
line=$(for i in 2 10; do run --interval=$i "$src"/bench/traces/held-out/*.csv; done | awk \
    '{ for (i = 1; i <= NF; i++) { split($i, p, "="); v[p[1]] = p[2] } n++; last += log(v["over_last_value"]); best += log(v["over_hindsight"]) }
    END { printf "traces=%d over_last_value=%.3f over_hindsight=%.3f\n", n, exp(last / n), exp(best / n) }')
within "$line" traces 13 && bad "held-out traces are missing: $line"
within "$line" over_last_value 0.905 || bad "held-out: $line"
within "$line" over_hindsight 1.04 || bad "held-out: $line"
within "$line" over_hindsight 0.5 && bad "a mean that cannot be is kept"
within "$line" over_hindsight 0.5 && bad "a limit that cannot be kept is kept"
for trace in "$src"/bench/traces/*.csv "$src"/bench/traces/held-out/*.csv; do
    for interval in 2 10; do
        line=$(run --interval=$interval "$trace") || bad "$trace"
        within "$line" over_last_value 1.2 || bad "$line"
    done
done

# A load that stays, and one that swings round a mean from sample to sample.
{ echo "# interval_s=10" && for ((i = 0; i < 200; i++)); do echo 0.5; done; } >"$tmp/still.csv"
grep -q 'mae_cpus=0.0000 ' <(run "$tmp/still.csv") || bad "still: $(run "$tmp/still.csv")"
{ echo "# interval_s=10" && for ((i = 0; i < 400; i++)); do echo $((i % 2)); done; } >"$tmp/swings.csv"
within "$(run "$tmp/swings.csv")" over_last_value 0.2 || bad "swings: $(run "$tmp/swings.csv")"

echo "no numbers" >"$tmp/none.csv"
run "$tmp/none.csv" 2>/dev/null && bad "a trace without samples was taken"
run "$tmp/nothing.csv" 2>/dev/null && bad "a trace that is not there was taken"
run --interval=x "$tmp/still.csv" 2>/dev/null && bad "a wrong interval was taken"
run 2>/dev/null
[ $? = 2 ] || bad "without a trace it is misuse"
exit $failed
