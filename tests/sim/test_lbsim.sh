#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lbsim as a person runs it: repeatable, many ranks, a replay, and wrong options.
set -u
build=${top_builddir:-$(cd "$(dirname "$0")/../../build" && pwd)}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
bad() {
    echo "FAIL: $*"
    failed=1
}
sim() { "$build/lbsim" "$@"; }

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
sim --policy=autoo 2>"$tmp/e" && bad "a wrong policy was taken"
sim --ranks=0 2>/dev/null && bad "no ranks were taken"
sim --speeds=2 2>/dev/null && bad "a host of two cores was taken"
sim --help | grep -q -- --replay || bad "help"

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
sim --replay="$tmp/none" 2>/dev/null && bad "a trace that is not there"
echo garbage >"$tmp/g"
sim --replay="$tmp/g" 2>/dev/null && bad "a trace of garbage"
exit $failed
