#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# demo.sh - a real program on four hosts of unequal speed, with and without --lb, under a competing load.
# Called by "./run demo", which has built everything. Ends by itself, and leaves only the pictures.
set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
build=${LB_BUILD:-$src/build}
instance=${LB_DEMO_INSTANCE:-demo}
cpu_wanted_s=${LB_DEMO_CPU_SECONDS:-16} # CPU work of one run; with the hosts below about 45 s for both runs
speeds=(.4 .4 .4 .133)
loaded=1 # the host, of those, with the competing load
names=("srun" "srun --lb")

usage() {
    cat <<'USAGE'
Usage: ./run demo [--cpu-seconds N] [--policy P] [--out DIR] [--no-cluster]
Takes the noise out of a photograph on four hosts of .4, .4, .4 and .133 cores, a competing program on the first: plain
srun, then srun --lb. Where no cluster can be had (no root): under mpirun on this machine, beside a competing program.
USAGE
}

die() {
    printf 'demo: %s\n' "$*" >&2
    exit 1
}

policy=auto out=$build/demo cluster=yes
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage && exit 0 ;;
    --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
    --no-cluster) cluster=no && shift && continue ;;
    --cpu-seconds) [ $# -ge 2 ] && cpu_wanted_s=$2 ;;
    --policy) [ $# -ge 2 ] && policy=$2 ;;
    --out) [ $# -ge 2 ] && mkdir -p "$2" && out=$(cd "$2" && pwd) ;;
    *) die "no such option: $1 (see --help)" ;;
    esac
    [ $# -ge 2 ] || die "option $1: a value is missing"
    shift 2
done
case $cpu_wanted_s in '' | *[!0-9]*) die "option --cpu-seconds: a whole number is needed, not \"$cpu_wanted_s\"" ;; esac

tmp= up= job= load_pid=
cleanup() {
    local rc=$?
    trap - EXIT INT TERM HUP
    [ -z "$job" ] || kill "$job" 2>/dev/null || true
    [ -z "$load_pid" ] || kill "$load_pid" 2>/dev/null || true
    [ -z "$up" ] || cl down >/dev/null 2>&1 || true
    [ -z "$tmp" ] || rm -rf "$tmp"
    exit $rc
}
trap cleanup EXIT
trap 'printf "\ndemo: stopped\n" >&2; exit 130' INT
trap 'exit 143' TERM HUP

cl() { LB_CLUSTER=$instance LB_BUILD=$build "$src/tests/cluster/cluster" "$@"; }
# In the background: the command itself is the job, so that killing the job ends it.
on_head() { LB_CLUSTER=$instance LB_BUILD=$build exec "$src/tests/cluster/cluster" head "$@"; }
calc() { awk "BEGIN { printf \"${2:-%.2f}\", $1 }"; }
value() {
    local word
    for word in $2; do case $word in "$1="*) printf '%s\n' "${word#*=}" && return ;; esac done
    die "no $1= in: $2"
}

program=$build/examples/denoise
[ -x "$program" ] || die "$program is missing: build first (./run build), or set LB_BUILD"
mkdir -p "$out"
tmp=$(mktemp -d "$build/demo.XXXXXX") && chmod 755 "$tmp"

# A bar of how far all ranks are together: from the lines "progress RANK DONE TOTAL" in a file.
bar() {
    awk -v name="$2" -v t="$SECONDS" -v t0="$began" -v every="$([ -t 1 ] && echo 0 || echo 25)" -v was="$shown" '
        $1 == "progress" { done[$2] = $3; total = $4 }
        END {
            for (r in done) sum += done[r]
            p = total ? int(100 * sum / total) : 0
            if (every && int(p / every) <= was) { print "-" was; exit }
            bar = ""
            for (i = 0; i < 40; i++) bar = bar (i * 100 < p * 40 ? "#" : ".")
            print every ? int(p / every) : 0
            printf "%-10s [%s] %3d %%  %2d s%s", name, bar, p, t - t0, every ? "\n" : ""
        }' "$1"
}

# watch NAME: until the job in the background is over
watch() {
    local text first
    began=$SECONDS shown=-1
    while kill -0 "$job" 2>/dev/null; do
        sleep 0.3
        [ "$SECONDS" -lt $((began + 300)) ] || die "the job still runs after 300 s"
        text=$(bar "$tmp/err" "$1")
        first=${text%%$'\n'*}
        case $first in -*) continue ;; esac
        shown=$first
        if [ -t 1 ]; then printf '\r%s' "${text#*$'\n'}"; else printf '%s\n' "${text#*$'\n'}"; fi
    done
    [ ! -t 1 ] || printf '\n'
}

# run_one NAME FILE CMD...: the program under CMD; its lines stay in $tmp/FILE
run_one() {
    local name=$1 file=$2 rc=0
    shift 2
    : >"$tmp/err"
    "$@" "$program" --search="$search" --progress=lines --report --before="$out/before-$file.png" --output="$out/$file.png" \
        --both="$out/both.png" \
        </dev/null >"$tmp/$file" 2>"$tmp/err" &
    job=$!
    watch "$name"
    wait "$job" || rc=$?
    job=
    if [ $rc != 0 ] || ! grep -q '^checksum=' "$tmp/$file"; then
        grep -v '^progress ' "$tmp/err" >&2 || true
        die "$name failed ($rc)"
    fi
    grep -v '^progress ' "$tmp/err" | sed 's/^/  /' || true
    mv "$out/before-$file.png" "$out/before.png"
}

# How far to look for similar patches, so that a run takes the CPU seconds wanted.
choose_search() {
    local cost
    cost=$(value cpu_s "$("$program" --estimate --search=10)") || die "the photograph cannot be read"
    search=$(awk -v want="$cpu_wanted_s" -v cost="$cost" 'BEGIN { s = int((21 * sqrt(want / cost) - 1) / 2 + 0.5); print (s < 2 ? 2 : s > 60 ? 60 : s) }')
}

# shares FILE KEY...: rows by host name, or by rank; placement may put rank 0 on any host
shares() {
    local file=$1 by
    shift
    for by in "$@"; do
        awk -v by="$by" '$1 == "share" { for (i = 2; i <= NF; i++) if ($i == by) { sub(/.* iterations=/, ""); n += $1 } } END { printf "%8d", n }' "$tmp/$file"
    done
}

# table IDEAL TITLE=KEY...: what happened; KEY as in shares
table() {
    local ideal=$1 i file files=(plain balanced) wall
    shift
    printf '\n%-10s %8s %8s %7s  rows on%s\n' "" wall ideal ratio "$(printf '%8s' "${@%%=*}")"
    for i in 0 1; do
        file=${files[i]} wall=$(value wall_s "$(grep '^run ' "$tmp/$file")")
        printf '%-10s %6.1f s %6.1f s %7s         %s\n' "${names[i]}" "$wall" "$ideal" "$(calc "$wall / $ideal")" "$(shares "$file" "${@#*=}")"
    done
}

# verdict IDEAL: the pictures, and the last line
verdict() {
    local ideal=$1 identical=yes static lb file name
    printf '\n'
    for file in plain balanced; do
        [ $file = plain ] && name=${names[0]} || name=${names[1]}
        printf '%-10s checksum %s  %s\n' "$name" "$(sed -n 's/^checksum=//p' "$tmp/$file")" "$out/$file.png"
    done
    printf '%-10s %27s  %s\n' before "" "$out/before.png"
    static=$(value wall_s "$(grep '^run ' "$tmp/plain")") lb=$(value wall_s "$(grep '^run ' "$tmp/balanced")")
    if [ "$(grep '^checksum=' "$tmp/plain")" != "$(grep '^checksum=' "$tmp/balanced")" ] ||
        ! cmp -s "$out/plain.png" "$out/balanced.png"; then
        identical=no
    fi
    printf '\ndemo static_s=%.2f lb_s=%.2f ideal_s=%.2f ratio=%s identical=%s\n' "$static" "$lb" "$ideal" "$(calc "$lb / $ideal" %.3f)" $identical
    [ $identical = yes ] || die "the two pictures differ"
}

cpu_of() { value cpu_s "$(grep '^run ' "$tmp/$1")"; }

# What one run's ranks used; the smaller of the two is the work, the rest was disturbance.
work() { calc "$(cpu_of plain) < $(cpu_of balanced) ? $(cpu_of plain) : $(cpu_of balanced)" %.4f; }

# The cluster, or a return value of 77 with the reason in $tmp/up where this machine lets us have none.
start_cluster() {
    local rc=0
    [ "$cluster" = yes ] || { echo "--no-cluster was given" >"$tmp/up" && return 77; }
    [ "$(id -u)" = 0 ] || { echo "not root" >"$tmp/up" && return 77; }
    echo "Starting a Slurm cluster of ${#speeds[@]} hosts on this machine."
    up=1
    cl down >/dev/null 2>&1 || true
    cl up ${#speeds[@]} >"$tmp/up" 2>&1 || rc=$?
    [ $rc = 0 ] || [ $rc = 77 ] || { cat "$tmp/up" >&2 && die "the cluster did not come up"; }
    return $rc
}

with_cluster() {
    local i sum=0 share ideal
    for i in 1 2 3 4; do
        cl speed "n$i" "${speeds[i - 1]}" >/dev/null
        share=${speeds[i - 1]}
        printf '  n%s  %5.3f cores' "$i" "$share"
        if [ $i = $loaded ]; then
            cl load "n$i" --cores 1 >/dev/null
            share=$(calc "$share / 2" %.4f) # its fair share beside one busy process
            printf ', and a competing program that takes half of them'
        fi
        printf '\n'
        sum=$(calc "$sum + $share" %.4f)
    done
    printf 'Denoising a photograph, 600 rows, about %s s of CPU time.\n\n' "$cpu_wanted_s"
    run_one "${names[0]}" plain on_head srun --mpi=pmix -N4 -n4
    run_one "${names[1]}" balanced on_head srun --mpi=pmix -N4 -n4 --lb="$policy"
    ideal=$(calc "$(work) / $sum" %.4f)
    table "$ideal" n1+load=host=n1 n2=host=n2 n3=host=n3 n4=host=n4
    printf 'ideal: %s s of CPU time over the %s cores that the hosts leave to the job\n' "$(calc "$(work)")" "$(calc "$sum" %.3f)"
    verdict "$ideal"
}

# Run the program on NP ranks, each on a CPU of its own. Open MPI's own binding is off: in a container it may be refused.
here() { # LB_POLICY CPUS CMD...
    local policy_=$1 cpus=$2 np balancer=$build/lb-balancer
    shift 2
    np=$(wc -w <<<"$cpus")
    [ ! -x "$balancer" ] || export LB_BALANCER=$balancer
    # shellcheck disable=SC2016
    LB_POLICY=$policy_ LB_DEMO_CPUS=$cpus exec mpirun $([ "$(id -u)" != 0 ] || echo --allow-run-as-root) --oversubscribe \
        --bind-to none -np "$np" bash -c 'c=($LB_DEMO_CPUS); exec taskset -c "${c[OMPI_COMM_WORLD_LOCAL_RANK]}" "$@"' rank "$@"
}

# Without a cluster: ranks under mpirun, one on each of this machine's CPUs, a competing program on the first.
without_cluster() {
    local all cpus ideal t
    for t in mpirun taskset; do command -v $t >/dev/null || die "$t is needed, and is not there"; done
    all=$(awk '/^Cpus_allowed_list:/ { n = split($2, part, ","); for (i = 1; i <= n; i++) { m = split(part[i], e, "-"); for (c = e[1]; c <= e[m]; c++) print c } }' \
        /proc/self/status | head -n 4)
    cpus=$(echo $all)
    cat <<TEXT
No Slurm cluster here: $(tail -n 1 "$tmp/up"). The same program runs under mpirun instead, a rank on each of the CPUs
$cpus, and a competing program on the first. What this cannot show: srun --lb, hosts of unequal speed, what lbd knows of
them, and rows that move over a network.

TEXT
    if [ "${cpus% *}" = "$cpus" ]; then
        echo "There is only one CPU: two ranks share it, and there is nothing to gain."
        cpus="$cpus $cpus"
    fi
    taskset -c "${cpus%% *}" bash -c 'while :; do :; done' &
    load_pid=$!
    names=("static" "balanced")
    run_one static plain here off "$cpus"
    run_one balanced balanced here "$policy" "$cpus"
    kill $load_pid 2>/dev/null || true
    load_pid=
    ideal=$(calc "$(work) / ($(wc -w <<<"$all") - .5)" %.4f)
    table "$ideal" $(seq 0 $(($(wc -w <<<"$cpus") - 1)) | sed 's/.*/rank&=rank=&/')
    verdict "$ideal"
}

choose_search
rc=0
start_cluster || rc=$?
if [ $rc = 0 ]; then with_cluster; else without_cluster; fi
