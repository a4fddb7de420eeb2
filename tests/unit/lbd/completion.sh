#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The completion of lbctl knows what lbctl knows.
set -u
src=${top_srcdir:-$(cd "$(dirname "$0")/../../.." && pwd)}
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
lbctl() { # in place of the program, for the names of hosts
    case $* in *top*)
        printf '%s' '{"hosts":[],"jobs":[{"jobid":21,"stepid":0},{"jobid":7,"stepid":0},{"jobid":21,"stepid":1}]}'
        return
        ;;
    esac
    printf '%s' '{"age_s":1,"hosts":[{"host":"n1","index":1,"why":{"users":0}},{"host":"n2","index":2}],"stale":false}'
}
compopt() { :; }
# shellcheck source=/dev/null
. "$src/completion/lbctl"

# completes "WORD ..." [EXPECTED...]: of the last word, in order
completes() {
    local line=$1 got
    shift
    read -ra COMP_WORDS <<<"${line//=/ = }"
    case $line in *' ') COMP_WORDS+=('') ;; esac
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _lbctl
    got=${COMPREPLY[*]}
    [ "$got" = "$*" ] || fail "\"$line\" gives \"$got\", not \"$*\""
}
completes "lbctl ho" hosts
completes "lbctl --json ra" rank
completes "lbctl forecast " n1 n2
completes "lbctl history n" n1 n2
completes "lbctl history n1 " ""
completes "lbctl history n1 --of=ext" external_cpus
completes "lbctl history n1 --si" --since=
completes "lbctl hosts --si" ""
completes "lbctl policy " check show
completes "lbctl policy show --e" --effective
completes "lbctl weights us" user=
completes "lbctl --socket=$src/comple" "$src/completion"
completes "lbctl probe --interval=5" 500ms 5s
completes "lbctl xyz " ""
completes "lbctl job " 7 21
completes "lbctl explain 2" 21
completes "lbctl job 7 --w" --width=

# Every command and option of the usage can be completed.
usage=$(sed -n '/^static const char usage/,/;$/p' "$src/lbd/ctl/lbctl.c")
text=$(cat "$src/completion/lbctl")
n=0
for word in $(grep -oE '^    "  [a-z]+' <<<"$usage" | tr -d '" ' | sort -u) $(grep -oE -- '--[a-z]+' <<<"$usage" | sort -u); do
    n=$((n + 1))
    grep -qE -- "(^|[^a-z-])$word([^a-z]|\$)" <<<"$text" || fail "$word cannot be completed"
done
[ $n -gt 15 ] || fail "the usage has only $n words: nothing was checked"
if grep -qE "(^|[^a-z-])--planted([^a-z]|\$)" <<<"$text"; then fail "what is not there is found"; fi
exit $failed
