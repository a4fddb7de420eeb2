#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a message costs the balancer (messages): a pass with few ranks, and that a dearer balancer shows.
set -u
. "$(dirname "$0")/../lib/checks.sh"
play() { timeout 120 "$build/tests/bench/messages" 16 "$@"; }
value() { tr ' ' '\n' <"$tmp/$1" | sed -n "s/^$2=//p"; }

# Each of 16 ranks reports at least once and hears FINAL at least; beats, of those that it hears while nothing else is said, one a rank at least,
# are sparser than a hundred a second.
play 1 >"$tmp/plain" || bad "a pass of 1 s: $(cat "$tmp/plain")"
awk -v us="$(value plain message_us)" -v beat="$(value plain beat_us)" -v heard="$(value plain heard)" -v said="$(value plain said)" -v beats="$(value plain alone)" \
    'BEGIN { exit !(us > 0.1 && us < 5000 && beat > 0 && heard >= 16 && said >= 16 && beats >= 16 && beats < 16 * 6 * 100) }' ||
    bad "$(cat "$tmp/plain")"
for wrong in "" "0 1" "16 0" "16 x"; do
    # shellcheck disable=SC2086
    "$build/tests/bench/messages" $wrong >/dev/null 2>"$tmp/e" && bad "'$wrong' was taken"
    [ -s "$tmp/e" ] || bad "'$wrong': no message"
done
LB_BALANCER=$tmp/none play 1 >/dev/null 2>"$tmp/e" && bad "no balancer, and a figure"
grep -q 'no lb-balancer' "$tmp/e" || bad "no balancer: $(cat "$tmp/e")"

# Valgrind runs each instruction many times as slowly; it cannot run what has sanitizers in it.
if command -v valgrind >/dev/null && ! ldd "$build/lb-balancer" | grep -q 'lib[atu][a-z]*san'; then
    printf '#!/bin/sh\nexec valgrind --tool=none -q "%s" "$@"\n' "$build/lb-balancer" >"$tmp/dear"
    chmod +x "$tmp/dear"
    LB_BALANCER=$tmp/dear play 1 >"$tmp/slow" || bad "a slow balancer: $(cat "$tmp/slow")"
    awk -v a="$(value plain message_us)" -v b="$(value slow message_us)" 'BEGIN { exit !(a > 0 && b > 2 * a) }' ||
        bad "a balancer under valgrind costs no more: $(cat "$tmp/plain" "$tmp/slow")"
else
    echo "without valgrind: whether a dearer balancer shows was not tried"
fi
exit $failed
