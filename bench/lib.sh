# SPDX-License-Identifier: BSD-3-Clause
# lib.sh - what every benchmark needs: a cluster of its own, programs, medians. Sourced by bash, set -eu.
# key=value lines go to stdout, all else to stderr.
bench_src=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bench_build=${LB_BUILD:-$bench_src/build}
bench_tmp=
bench_up=

say() { printf '%s\n' "$*" >&2; }
die() {
    say "$(basename "$0"): $*"
    exit 1
}

cl() { LB_CLUSTER=$bench_instance "$bench_src/tests/cluster/cluster" "$@"; }
# In the background: the command itself is the job, so that killing the job ends it.
cl_exec() { LB_CLUSTER=$bench_instance exec "$bench_src/tests/cluster/cluster" "$@"; }

# The programs named, or a clear word on what is missing.
need_programs() {
    local p
    for p in "$@"; do
        [ -x "$bench_build/$p" ] || die "$bench_build/$p is missing: build first (./run build), or set LB_BUILD"
    done
}

bench_cleanup() {
    local rc=$?
    trap - EXIT INT TERM HUP
    [ -z "$(jobs -p)" ] || kill $(jobs -p) 2>/dev/null || true
    [ -z "$bench_up" ] || cl down >&2 2>/dev/null || true
    [ -z "$bench_tmp" ] || rm -rf "$bench_tmp"
    exit $rc
}

# bench_begin NAME: a place for files, and everything undone at the end, however it comes.
bench_begin() {
    bench_instance=${LB_BENCH_INSTANCE:-b$1}
    trap bench_cleanup EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    bench_tmp=$(mktemp -d "$bench_build/bench-$1.XXXXXX") || die "cannot write in $bench_build"
    chmod 755 "$bench_tmp"
}

# bench_cluster CORES...: a cluster of that many hosts at these speeds.
bench_cluster() {
    [ "$(id -u)" = 0 ] || die "needs root: the cluster's hosts are namespaces and cgroups of this machine"
    say "cluster: $# hosts"
    bench_up=1
    cl down >/dev/null 2>&1 || true
    cl up $# >&2 || die "the cluster did not come up"
    bench_speeds "$@"
}

bench_speeds() {
    local i=0 s
    for s in "$@"; do
        i=$((i + 1))
        cl speed "n$i" "$s" >&2
    done
}

# on_head SECONDS CMD...: run a command as on the head, at most that long.
on_head() {
    local limit=$1
    shift
    cl head timeout -k 5 "$limit" "$@" </dev/null
}

# value KEY LINE: what stands behind KEY= in LINE.
value() {
    local word
    for word in $2; do
        case $word in "$1="*) printf '%s\n' "${word#*=}" && return ;; esac
    done
    die "no $1= in: $2"
}

# processor_ticks: "STOLEN ALL" of this machine's processors so far; stolen_since "STOLEN ALL": the part of their time since then that
# the machine beneath this one gave to others.  What was to be shown takes longer for it, and no host's speed says so.
processor_ticks() { awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print $9, all }' /proc/stat; }
stolen_since() { processor_ticks | awk -v then="$1" '{ split(then, t); printf "%.4f", ($1 - t[1]) / ($2 > t[2] ? $2 - t[2] : 1) }'; }

# quiet_runs N WHAT COMMAND...: runs COMMAND, which says one line, N times; where more than $most_stolen of the processors' time was taken
# in a run, another is made in its place, 2 N in all at most.  $bench_tmp/all: "STOLEN LINE" of each run; $bench_tmp/quiet: of the N from
# which least was taken, whatever they say.  most_taken: the most of these.
most_stolen=0.01
quiet_runs() {
    local n=$1 what=$2 i line ticks stolen good=0
    shift 2
    : >"$bench_tmp/all"
    for ((i = 1; good < n && i <= 2 * n; i++)); do
        ticks=$(processor_ticks)
        line=$("$@")
        stolen=$(stolen_since "$ticks")
        echo "$stolen $line" >>"$bench_tmp/all"
        good=$((good + $(calc "$stolen <= $most_stolen" %d)))
        say "$what run $i, $good of $n: stolen $stolen; ${line:0:110}"
    done
    sort -s -g -k1,1 "$bench_tmp/all" | head -n "$n" >"$bench_tmp/quiet"
}
most_taken() { cut -d' ' -f1 "$bench_tmp/quiet" | tail -n 1; }

calc() { awk "BEGIN { printf \"${2:-%.3f}\", $1 }"; }

# median, of numbers on stdin
median() {
    sort -g | awk '{ v[NR] = $1 } END { if (!NR) exit 1; if (NR % 2) print v[(NR + 1) / 2]; else printf "%.4f\n", (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

sum_of() { awk "BEGIN { print $(printf '%s+' "$@")0 }"; }

# CPU seconds that a process has used so far (user and system).
cpu_seconds() {
    awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$1/stat" 2>/dev/null
}

# watch_load SECONDS: CPU seconds of the load on a host so often, each with its moment, as long as it runs; to $bench_tmp/load
watch_load() {
    local pid ns rest
    [ -p "$bench_tmp/never" ] || mkfifo "$bench_tmp/never"
    for pid in $(pgrep -x lb-load); do
        grep -q "/lbc\.$bench_instance/" "/proc/$pid/cgroup" 2>/dev/null && break
    done
    while read -r ns rest <"/proc/$pid/schedstat"; do
        echo "$EPOCHREALTIME $ns"
        read -rt "$1" rest <>"$bench_tmp/never" || true
    done 2>/dev/null >"$bench_tmp/load"
}

# load_took BEGAN ENDED: CPU seconds of the load between the two moments; fails where it was not seen to run
load_took() {
    awk -v began="$1" -v ended="$2" '
        $1 <= began { a = $2 } $1 <= ended { b = $2; if (a == "") a = $2 }
        END { if (NR < 2) exit 1; printf "%.3f", (b - a) / 1e9 }' "$bench_tmp/load"
}

whole_number() { case $2 in '' | *[!0-9]*) die "option $1: a whole number is needed, not \"$2\"" ;; esac; }
number() { awk -v v="$2" 'BEGIN { exit v !~ /^[0-9]*\.?[0-9]+$/ }' || die "option $1: a number is needed, not \"$2\""; }
