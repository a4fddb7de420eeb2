#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What bench/scale says of a balancer that is quick, dear, or slower than its own beats.
set -u
. "$(dirname "$0")/../lib/checks.sh"
program=$src/bench/scale
scale() { LB_BUILD=$build timeout 300 "$program" --ranks=64 --leaf=64 --message-us=10 "$@"; }
jobs_whose() { grep '^scale kind=doall' "$tmp/$1" | grep -c -- "$2"; }

# Four jobs of 64 ranks: two sizes of rows, with and without load.
scale --beat-us=10 >"$tmp/quick" || bad "a quick balancer: $(cat "$tmp/quick")"
[ "$(jobs_whose quick 'busy=0\.0[0-9]* late_s=[0-9]')" = 4 ] || bad "a quick balancer: $(cat "$tmp/quick")"
[ "$(grep -c '^scale kind=stepped' "$tmp/quick")" = 2 ] || bad "stepped loops: $(cat "$tmp/quick")"
grep -q '^scale_limit .* suffices_ranks=64 ' "$tmp/quick" || bad "a quick balancer suffices: $(cat "$tmp/quick")"

# A beat to each of 64 ranks each 1.35 s while it computes, but where a message takes its place: of 14 ms at most 0.66 of its
# time; of 21.3 ms more than all of it, so that nothing is counted.
scale --beat-us=14000 >"$tmp/dear" || bad "dear beats: $(cat "$tmp/dear")"
[ "$(jobs_whose dear 'busy=0\.[2-5]')" = 4 ] || bad "dear beats: $(cat "$tmp/dear")"
scale --beat-us=21300 >"$tmp/late" || bad "beats alone are too many: $(cat "$tmp/late")"
[ "$(jobs_whose late 'busy=- late_s=-')" = 4 ] || bad "beats alone are too many: $(cat "$tmp/late")"
grep -q '^scale_limit .* suffices_ranks=0 one_balancer_ranks=0$' "$tmp/late" || bad "it does not suffice: $(cat "$tmp/late")"
# A planted failure: without that rule such a balancer has a time.
sed 's/< 1\.35/< 9/' "$program" >"$tmp/scale"
chmod +x "$tmp/scale"
program=$tmp/scale scale --beat-us=21300 >"$tmp/planted" || bad "the planted failure: $(cat "$tmp/planted")"
[ "$(jobs_whose planted 'busy=[01]\.')" = 4 ] || bad "the planted failure was not seen: $(cat "$tmp/planted")"

# Messages of 3 ms keep it busy for a third of the time and more with 64 ranks, so that with 512 nothing is counted; planted: it is.
many() { scale --ranks=64,512 --fine=40 --message-us=3000 --beat-us=10; }
many >"$tmp/many" || bad "too many ranks: $(cat "$tmp/many")"
[ "$(jobs_whose many 'ranks=512 .*busy=- late_s=-')" = 4 ] || bad "too many ranks: $(cat "$tmp/many")"
[ "$(jobs_whose many 'ranks=64 .*busy=[0-9]')" = 4 ] || bad "few ranks: $(cat "$tmp/many")"
sed 's/ && p < most//' "$src/bench/scale" >"$tmp/scale"
program=$tmp/scale many >"$tmp/planted" || bad "the planted failure: $(cat "$tmp/planted")"
[ "$(jobs_whose planted 'ranks=512 .*busy=[0-9]')" = 4 ] || bad "the planted failure was not seen: $(cat "$tmp/planted")"

for wrong in --ranks=x --rows= --nothing=1 --ranks; do
    scale "$wrong" >/dev/null 2>"$tmp/e" && bad "'$wrong' was taken"
    [ -s "$tmp/e" ] || bad "'$wrong': no message"
done
exit $failed
