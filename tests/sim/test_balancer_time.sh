#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The balancer's own time in lbsim: what it costs shows, and what does not fit into it waits; several balancers, each with its ranks.
set -u
. "$(dirname "$0")/../lib/checks.sh"
sim() { "$build/lbsim" "$@"; }
# field N OPTION...: of the CSV's last line; with SIM_PLANTED the balancer's time is not asked for
field() {
    local option options=()
    for option in "${@:2}"; do [ -n "${SIM_PLANTED:-}" ] || options+=("$option"); done
    sim --ranks=64 --n=1280 --speeds=0.3.. --seconds=2 --csv "${options[@]}" | tail -n 1 | cut -d, -f"$1"
}
[ -z "$(field 14)" ] || bad "a balancer's time that nobody asked for: $(field 14)"
awk -v b="$(field 14 --message=1e-5)" -v l="$(field 15 --message=1e-5)" 'BEGIN { exit !(b > 0 && b < 0.1 && l < 0.01) }' ||
    bad "cheap messages: $(field 14,15 --message=1e-5)"
awk -v b="$(field 14 --message=0.02)" -v l="$(field 15 --message=0.02)" -v r="$(field 7 --message=0.02)" -v cheap="$(field 7 --message=1e-5)" \
    'BEGIN { exit !(b > 0.9 && l > 1 && r > 1.2 * cheap) }' || bad "dear messages: $(field 7,14,15 --message=0.02)"
awk -v b="$(field 14 --beat=1e-4)" 'BEGIN { exit !(b > 0.001 && b < 64 / 0.45 * 1e-4 * 1.01) }' || bad "beats: $(field 14 --beat=1e-4)"
[ "$(field 5,16 --balancers=1 --beat=1e-9 | tr , '\n' | cut -c1-5 | sort -u | wc -l)" = 1 ] || bad "one group: $(field 5,16 --beat=1e-9)"
awk -v i="$(field 5 --balancers=16)" -v a="$(field 16 --balancers=16)" -v s="$(field 4 --balancers=16)" \
    'BEGIN { exit !(a > 1.05 * i && s >= a) }' || bad "groups are apart: $(field 4,5,16 --balancers=16)"
for wrong in --balancers=65 "--balancers=2 --steps=2" "--kind=stepped --balancers=2" "--kind=stepped --message=1e-6" "--kind=doacross --beat=1e-6"; do
    sim --ranks=64 $wrong >/dev/null 2>"$tmp/e" && bad "$wrong was taken"
    grep -q -- --balancers "$tmp/e" || bad "$wrong: $(cat "$tmp/e")"
done
exit $failed
