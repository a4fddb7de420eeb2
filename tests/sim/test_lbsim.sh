#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lbsim as a person runs it: repeatable, many ranks, a replay, and wrong options.
set -u
. "$(dirname "$0")/../lib/checks.sh"
lbsim=$build/lbsim
sim() { "$lbsim" "$@"; }

sim --ranks=20 --speeds=0.2.. --load=0.5 --period=3 --seed=7 --csv >"$tmp/a" || bad "run 1"
sim --ranks=20 --speeds=0.2.. --load=0.5 --period=3 --seed=7 --csv >"$tmp/b" || bad "run 2"
sim --ranks=20 --speeds=0.2.. --load=0.5 --period=3 --seed=8 --csv >"$tmp/c" || bad "run 3"
cmp -s "$tmp/a" "$tmp/b" || bad "the same seed gave other output"
cmp -s "$tmp/a" "$tmp/c" && bad "another seed gave the same output"

for kind in doall stepped doacross; do
    sim --kind=$kind --speeds=1,1,1,0.3 --csv >"$tmp/k" || bad "$kind"
    awk -F, 'NR == 2 && $8 < 0.75 { ok = 1 } END { exit !ok }' "$tmp/k" || bad "$kind: $(tail -1 "$tmp/k")"
done

sim --ranks=100000 --n=200000 --speeds=0.5.. --seconds=2 --json >"$tmp/j" || bad "100,000 ranks"
grep -q '"ranks":100000,' "$tmp/j" || bad "json: $(cat "$tmp/j")"

sim --rank=3 2>"$tmp/e" && bad "a wrong key was taken"
grep -q 'nearest is --ranks' "$tmp/e" || bad "message: $(cat "$tmp/e")"
sim --ranks 2>"$tmp/e" && bad "a key without a value was taken"
grep -q 'a value is missing: write --ranks=' "$tmp/e" || bad "message: $(cat "$tmp/e")"
sim --untold=1 2>"$tmp/e" && bad "a value for --untold was taken"
grep -q 'takes no value' "$tmp/e" || bad "message: $(cat "$tmp/e")"
sim --policy=autoo 2>"$tmp/e" && bad "a wrong policy was taken"
sim --ranks=0 2>/dev/null && bad "no ranks were taken"
sim --speeds=2 2>/dev/null && bad "a host of two cores was taken"
timeout 60 "$lbsim" --quota=1e-9 2>/dev/null && bad "a quota of a ns was taken"
sim --help | grep -q -- --replay || bad "help"

# Recorded loads.  One that takes half of the one loaded host all the time: as a constant one.  csv KEY: a column of the last run.
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0 && b > 0 && a / b < 1.001 && b / a < 1.001) }'; }
seconds() { sim "$@" --policy=static --csv | tail -n 1 | cut -d, -f4; }
{ echo "# interval_s=2 cores=2" && for ((i = 0; i < 8; i++)); do echo 1.0; done; } >"$tmp/half.csv"
{ echo "# interval_s=2 cores=2" && for ((i = 0; i < 8; i++)); do echo 2.0; done; } >"$tmp/whole.csv"
{ echo "# interval_s=2 cores=2" && echo 0 && echo 1.0; } >"$tmp/swings.csv"
near "$(seconds --load=trace:"$tmp/half.csv")" "$(seconds --load=0.5)" || bad "half of a host: $(seconds --load=trace:"$tmp/half.csv")"
near "$(seconds --load=trace:"$tmp/half.csv,scale=2")" "$(seconds --load=0.5)" || bad "a load that wants all gets half"
near "$(seconds --load=trace:"$tmp/whole.csv,scale=2")" "$(seconds --load=0.333333)" || bad "two processes"
near "$(seconds --load=trace:"$tmp/half.csv,interval=0.1,scale=0.2")" "$(seconds --load=0.9)" || bad "scale last"
near "$(seconds --load=trace:"$tmp/half.csv")" "$(seconds)" && bad "a load that is none"
# A recording that is damaged says of itself what cannot be, or that more processes ran than there are.
for line in 'interval_s=1e-12' 'interval_s=1e300' 'cores=1e-300'; do
    printf '# %s\n0.5\n1e308\n1e6\n' "$line" >"$tmp/damaged.csv"
    timeout 60 "$lbsim" --seconds=0.1 --load=trace:"$tmp/damaged.csv",scale=1e6 >"$tmp/k" 2>&1 || bad "$line: $(cat "$tmp/k")"
done
near "$(seconds --load=trace:"$tmp/swings.csv,interval=0.1")" "$(seconds --load=0.75)" && bad "a mean is not what it swings between"
awk -v t="$(seconds --kind=stepped --load=trace:"$tmp/swings.csv,interval=0.01")" -v c="$(seconds --kind=stepped --load=0.75)" \
    'BEGIN { exit !(t > 0.9 * c && t < 1.1 * c) }' || bad "a load that comes and goes"
for trace in "$src"/bench/traces/*.csv; do
    for kind in doall stepped doacross; do
        sim --kind=$kind --ranks=8 --load=trace:"$trace",interval=0.2 --loaded=0.5 --csv --policy=auto --policy=none >"$tmp/k" ||
            bad "$kind: $trace"
        [ "$(wc -l <"$tmp/k")" = 3 ] || bad "$kind: $trace: $(cat "$tmp/k")"
    done
done
sim --ranks=8 --loaded=1 --load=trace:"$src/bench/traces/machine.csv" --seed=5 --csv >"$tmp/a" || bad "seed 5"
sim --ranks=8 --loaded=1 --load=trace:"$src/bench/traces/machine.csv" --seed=5 --csv | cmp -s - "$tmp/a" || bad "the same seed and load"
sim --ranks=8 --loaded=1 --load=trace:"$src/bench/traces/machine.csv" --seed=6 --csv | cmp -s - "$tmp/a" && bad "another stretch"
echo nothing >"$tmp/empty.csv"
for wrong in "trace:" "trace:$tmp/nothing" "trace:$tmp/empty.csv" "trace:$tmp/half.csv,scale=x" "trace:$tmp/half.csv,interval=0" \
    "trace:$tmp/half.csv,scal=2" race; do
    sim --load="$wrong" >/dev/null 2>"$tmp/e" && bad "--load=$wrong was taken"
    [ -s "$tmp/e" ] || bad "--load=$wrong: no message"
done

# The block size by hand: bad ones cost time, and only a pipelined loop has one.
fine=$(seconds --kind=doacross --grain=25) coarse=$(seconds --kind=doacross --grain=1000)
awk -v f="$fine" -v c="$coarse" 'BEGIN { exit !(f > 0 && c > 1.7 * f) }' || bad "grain: $fine $coarse"
drained() { sim --kind=doacross --policy=static,sync=yes --csv "$@" | tail -n 1 | cut -d, -f5; } # all wait for the last in each step
fine=$(drained --grain=25) coarse=$(drained --grain=1000)
awk -v f="$fine" -v c="$coarse" 'BEGIN { exit !(f > 0 && c > 2 * f) }' || bad "grain, drained: $fine $coarse"
sim --grain=10 2>/dev/null && bad "a grain for a loop without blocks"

# Joints: a load that comes is answered within the pass, and only a pipelined loop has passes in legs.
beside() { sim --kind=doacross --steps=10 --load=0.5 --loaded=0.25 --period=12 --speeds=0.3 --quota=0.01 --n=2000 --csv "$@" | tail -n 1 | cut -d, -f4; }
whole=$(beside) legs=$(beside --legs=8) chosen=$(beside --legs=auto)
awk -v w="$whole" -v l="$legs" -v c="$chosen" 'BEGIN { exit !(l > 0 && l < 0.97 * w && c > 0 && c < 0.97 * w) }' || bad "legs: $whole $legs $chosen"
[ "$(beside --policy=siegell --legs=8)" = "$(beside --policy=siegell)" ] || bad "legs under siegell, where the library has one"
[ "$(beside --policy=auto,sync=yes --legs=8)" = "$(beside --policy=auto,sync=yes)" ] || bad "legs of ranks that wait for answers"
for wrong in "--legs=2" "--kind=stepped --legs=auto" "--kind=doacross --legs=0" "--kind=doacross --legs=1001"; do
    # shellcheck disable=SC2086 # two options
    sim $wrong >/dev/null 2>"$tmp/e" && bad "$wrong was taken"
    grep -q -- '--legs' "$tmp/e" || bad "$wrong: $(cat "$tmp/e")"
done

# A slow link costs time, and only moves of simulated free-running loops have one.
linked() { sim --n=40 --seconds=1 --speeds=1,0.3 --row=4000000 --bandwidth=1e8 --csv --link="$1" | tail -n 1 | cut -d, -f4; }
fine=$(linked 1) coarse=$(linked 8)
awk -v f="$fine" -v c="$coarse" 'BEGIN { exit !(f > 0 && c > 1.02 * f) }' || bad "link: $fine $coarse"
sim --kind=stepped --link=2 2>/dev/null && bad "a link for a stepped loop"

# Efficiency, and the model of figure 31.  value KEY: of the text of the last run.
value() { tr ' ' '\n' <"$tmp/o" | sed -n "s/^$1=//p"; }
efficient() { # CONDITION OPTION...: efficiency e, the model's m and u (-1: not said)
    local condition=$1 e m u
    shift
    sim "$@" >"$tmp/o" || bad "$*"
    e=$(value efficiency) m=$(value model_efficiency) u=$(value model_unbalanced)
    awk -v e="${e:-nan}" -v m="${m:--1}" -v u="${u:--1}" 'function near(a, b, by) { return b > 0 && a / b < 1 + by && a / b > 1 - by }
        BEGIN { exit !(e > 0 && e <= 1.0001 && ('"$condition"')) }' || bad "efficiency: not $condition: $*: $(cat "$tmp/o")"
}
for kind in doall stepped; do
    efficient 'e > 0.998 && m == -1 && u == -1' --kind=$kind
    efficient 'e > 0.998 && m == -1' --kind=$kind --speeds=1,0.5 --weights --policy=static # hosts by their speed
    efficient 'near(e, 0.5715, 0.003) && m == -1' --kind=$kind --load=0.5 --policy=static # 4 of equal parts by 3.5 hosts at half speed
    for load in 0.5 0.8; do
        swings="--kind=$kind --steps=3000 --seconds=60 --load=$load --period=10"
        efficient 'near(e, u, 0.02) && near(m, u, 0.001)' $swings --policy=static
        efficient 'e > u && near(e, m, 0.03)' $swings --policy=auto
    done
done
efficient 'near(u, 0.8, 0.01)' --kind=stepped --steps=3000 --seconds=60 --load=0.5 --period=10 # 4 (ta + tb / 2) / (4 ta + 3.5 tb)
for row in 8000 400000; do # delays, and moves that cost most of the time
    efficient 'near(e, m, 0.03)' --kind=stepped --steps=3000 --seconds=60 --load=0.5 --period=2 --row=$row --bandwidth=1e8 \
        --policy=siegell,filter=0,threshold=0,profit=0
done
efficient 'e < 0.25 && u > 0.79' --kind=stepped --steps=3000 --seconds=60 --load=0.5 --period=2 --row=400000 --bandwidth=1e8 \
    --policy=siegell,filter=0,threshold=0,profit=0
for seed in 1 2 3; do # who followed the load there would take two or three times as long
    for period in 4 10 20; do
        swings="--kind=stepped --load=0.5 --period=$period --row=400000 --bandwidth=1e8 --seed=$seed"
        efficient 'e > 0.97 * u' --steps=3000 --seconds=60 $swings
        efficient 'e > 1.01 * u' --steps=12000 --seconds=240 $swings # what was won in parts is staked
        efficient 'e > 1.03 * u' --steps=12000 --seconds=240 $swings --policy=auto,stake=0.25
    done
done
efficient 'near(e, u, 0.05)' --kind=doacross --steps=1000 --seconds=60 --load=0.5 --period=10 --policy=static
for other in "--ranks=1 --load=0.5 --period=1" "--ranks=8 --loaded=0.5 --load=0.5 --period=1" "--speeds=1,0.9 --load=0.5 --period=1" \
    "--load=0.5 --period=60" "--load=trace:$tmp/swings.csv,interval=0.1"; do # not what the model is of
    efficient 'm == -1 && u == -1' $other
done
sim --csv --load=0.5 --period=2 >"$tmp/k"
awk -F, 'NF != 13 { bad = 1 } NR == 1 { bad = bad || $11 != "efficiency" || $13 != "model_unbalanced" } NR == 2 { bad = bad || !($11 > 0.9 && $12 > 0.9 && $13 > 0.7) }
    END { exit bad || NR != 2 }' "$tmp/k" || bad "efficiency in csv: $(cat "$tmp/k")"
sim --csv | tail -n 1 | grep -q ',[01]\.[0-9]*,,$' || bad "csv without a model: $(sim --csv)"
sim --json --load=0.5 --period=2 | grep -q '"efficiency":0.9[0-9]*,"model_efficiency":0.9[0-9]*,"model_unbalanced":0.[78][0-9]*}$' || bad "efficiency in json"
sim --json | grep -q '"efficiency":[01]\.[0-9]*}$' || bad "json without a model"
odd=$(printf 'auto,trace=a"\\\351')
sim --json --policy="$odd" | perl -MJSON::PP -0ne 'exit decode_json($_)->{policy} ne "auto,trace=a\"\\?"' || bad "an odd name in json: $(sim --json --policy="$odd")"
sim --csv --policy="$odd" | grep -q '^"auto,trace=a""\\?",' || bad "an odd name in csv: $(sim --csv --policy="$odd")"

# Two ranks, one at half speed, 100 iterations of 10 ms: even shares, 1 s without balancing.
{
    echo '{"t":0,"event":"start","nranks":2,"policy":"static","weight":[]}'
    echo '{"t":1,"event":"open","loop":0,"name":"rows","n":100,"row_bytes":0,"rank":0,"owned":[0,50]}'
    echo '{"t":500000001,"event":"report","loop":0,"rank":0,"pass":0,"executed":50,"remaining":0,"dry":true,"low":false,"wait_ns":0,"samples":[[0,50,500000000,500000000]],"done":[]}'
    echo '{"t":1000000001,"event":"report","loop":0,"rank":1,"pass":0,"executed":50,"remaining":0,"dry":true,"low":false,"wait_ns":0,"samples":[[50,100,1000000000,500000000]],"done":[]}'
    echo '{"t":1,"event":"rep'
} >"$tmp/trace"
sim --replay="$tmp/trace" --policy=static >"$tmp/r" || bad "replay"
grep -q 'measured_s=1.0000 predicted_s=1.0' "$tmp/r" || bad "replay: $(cat "$tmp/r")"
grep -q 'error_ratio=0.0' <(sim --replay="$tmp/trace") || bad "by its own policy: $(sim --replay="$tmp/trace")"
sim --replay="$tmp/trace" --policy=static --policy="auto,trace=a\"b\\c" --json |
    perl -MJSON::PP -ne '$o = decode_json($_); $n++ if $o->{measured_s} == 1 && $o->{kind} eq "doall"; END { exit($n == 2 ? 0 : 1) }' || bad "replay as JSON"
sim --replay="$tmp/trace" --policy=static --csv | awk -F, 'NF != 15 { bad = 1 } END { exit bad || NR != 2 }' || bad "replay as CSV"
grep -q error_ratio <(sim --replay="$tmp/trace" --policy=auto) && bad "nobody knows what another policy would have taken"

# stepped KIND: ten steps of 100 rows of 1 ms by two ranks with half each, rank 1 at half speed; a step takes 100 ms, and 20 ms
# besides.  Its policy moved nothing; auto would have, and the ideal time is 2/3 of what computing took.
stepped() {
    echo '{"t":0,"event":"start","nranks":2,"policy":"none,report,trace=/tmp/x","weight":[]}'
    for r in 0 1; do
        echo '{"t":0,"event":"open","loop":0,"name":"rows","kind":"'"$1"'","pipelined":200,"n":100,"row_bytes":8,"rank":'$r',"owned":['$((50 * r)),$((50 * r + 50))']}'
    done
    for ((i = 1; i <= 10; i++)); do
        for r in 0 1; do
            wall=$((50000000 * (r + 1)))
            echo '{"t":'$((i * 120000000))',"event":"step","loop":0,"rank":'$r',"step":'$i',"steps":1,"epoch":0,"owned":['$((50 * r)),$((50 * r + 50))'],"wall_ns":'$wall',"cpu_ns":50000000,"wait_ns":'$((120000000 - wall))',"move":[0,0,0],"shift":[-1,0],"samples":[['$((50 * r)),$((50 * r + 50)),$wall',50000000]]}'
        done
    done
    for r in 0 1; do
        wall=$((500000000 * (r + 1)))
        echo '{"t":1200000000,"event":"close","loop":0,"rank":'$r',"passes":10,"compute_ns":'$wall',"wait_ns":'$((1200000000 - wall))',"library_ns":0}'
    done
}
stepped stepped >"$tmp/stepped"
sim --replay="$tmp/stepped" >"$tmp/r" || bad "stepped replay"
grep -q 'policy=none kind=stepped ranks=2 n=100 passes=10 measured_s=1.2000 predicted_s=1.\(20\|19\).* error_ratio=0.00.* exchange_s=0.0[12]9*' "$tmp/r" ||
    bad "stepped replay: $(cat "$tmp/r")"
# 1 s of CPU time, of 1.5 hosts for 1.2 s; a host is as fast as it was in each slice, also in the 20 ms that nobody computes
grep -q 'measured_efficiency=0.55.* predicted_efficiency=0.55' "$tmp/r" || bad "replayed efficiency: $(cat "$tmp/r")"
sim --replay="$tmp/stepped" --policy=auto --policy=none >"$tmp/r" || bad "stepped replay by two policies"
awk '{ for (i = 1; i <= NF; i++) { split($i, a, "="); v[NR, a[1]] = a[2] } }
    END { exit !(v[1, "predicted_s"] < 1.1 && v[1, "predicted_moves"] > 0 && v[2, "predicted_s"] > 1.19 && v[2, "predicted_moves"] == 0) }' "$tmp/r" ||
    bad "auto would have gained: $(cat "$tmp/r")"
stepped doacross >"$tmp/doacross"
sim --replay="$tmp/doacross" >"$tmp/r" || bad "pipelined replay"
grep -q 'policy=none kind=doacross .* measured_s=1.2000 predicted_s=1.\(20\|19\).* error_ratio=0.00' "$tmp/r" || bad "pipelined replay: $(cat "$tmp/r")"
sed 's/"wall_ns":100000000/"wall_ns":50000000/' "$tmp/stepped" >"$tmp/lie"
grep -q 'error_ratio=0.00.* exchange_s=0.0[67]' <(sim --replay="$tmp/lie") || bad "what is not computing is the exchange: $(sim --replay="$tmp/lie")"
sim --replay="$tmp/none" 2>/dev/null && bad "a trace that is not there"
# What a damaged line says is not believed: a block before the first row, a step that never was, a time beyond all clocks.
{
    grep -e start -e open "$tmp/stepped" | sed 's/"owned":\[50,/"owned":[-500000,/'
    grep '"rank":0,"step"' "$tmp/stepped"
    echo '{"t":9223372036854775807,"event":"step","loop":0,"rank":0,"step":9223372036854775807,"steps":1,"owned":[0,50],"wall_ns":9223372036854775807,"cpu_ns":1,"samples":[]}'
    grep close "$tmp/stepped"
} >"$tmp/damaged"
timeout 60 "$lbsim" --replay="$tmp/damaged" >"$tmp/r" 2>&1
grep -q ' passes=10 ' "$tmp/r" || bad "a damaged trace: $(cat "$tmp/r")"
echo garbage >"$tmp/g"
sim --replay="$tmp/g" 2>/dev/null && bad "a trace of garbage"
exit $failed
