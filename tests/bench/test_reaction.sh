#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How bench/reaction reads a trace (reaction.py), and that it counts what was decided while the host's speed was being set.
set -u
command -v python3 >/dev/null || { echo "SKIP: python3 is not installed"; exit 77; }
. "$(dirname "$0")/../lib/checks.sh"

# Two hosts that are alike, the second of which has half of its cores left: 667 and 333 of 1000 rows are right.  ms AT EVENT: a line.
ms() { printf '{"event":%s,"t":%d000000}\n' "$2" "$1"; }
layout() { ms "$1" "\"layout\",\"counts\":[$2,$((1000 - $2))]"; }
decision() { ms "$1" "\"decision\",\"period_s\":$2"; }
# expect READER WHAT RESULT LINE AFTER-MS, of the trace $tmp/trace
expect() {
    local got
    got=$(python3 "$1" "$tmp/trace" "$4" "$5"000000 .05 .3 .3)
    [ "$got" = "$3" ] || bad "$2: $got, not $3"
}
all() { # READER
    { decision 100 0.1 && layout 900 500 && decision 1000 0.2 && layout 1300 640 && layout 1500 670 && decision 2000 0.4; } >"$tmp/trace"
    expect "$1" "after its line" "0.3 0.2 0 0.5 0" 3 0
    expect "$1" "between two lines" "0.25 0.2 0 0.45 0" 3 50
    expect "$1" "the first layout is of before the line" "0.25 0.2 0 0.45 0" 4 -250
    expect "$1" "too late" "0.4 0.2 1 0.4 1" 5 100
    expect "$1" "right before it is asked for" "0.2 0.2 1 0.2 1" 6 -200
    { layout 900 500 && layout 1300 610; } >"$tmp/trace"
    expect "$1" "no period was said; not as right as that" "0.4 0.5 1 0.4 1" 1 0
}
all "$src/bench/reaction.py"
was=$failed

# Planted failures: only what is of after the line counts; what was right before counts, too.
for plant in 's/ and last >= began:/ and last >= began and event in events[line:]:/' 's/ and last >= began:/:/'; do
    sed "$plant" "$src/bench/reaction.py" >"$tmp/reader.py"
    all "$tmp/reader.py" >"$tmp/said"
    grep -q ', not ' "$tmp/said" && ! grep -q ': , not ' "$tmp/said" || { echo "FAIL: the planted failure was not seen: $plant" && exit 1; }
    failed=$was
done
exit $failed
