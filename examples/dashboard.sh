#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# dashboard.sh - a cluster with jobs that come and go, its lbds and a Prometheus on this machine's loopback, the six dashboards drawn.
# Called by "./run demo --dashboard", which has built everything. Ends on Ctrl-C or when its time is over, and leaves only the pictures.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
export LB_BUILD=${LB_BUILD:-$top/build} LB_CLUSTER=${LB_DEMO_INSTANCE:-demodash}

usage() {
    cat <<'USAGE'
Usage: ./run demo --dashboard [--for DURATION] [--out DIR] [--ports PROMETHEUS,LBD]
Four hosts, jobs of several policies that come and go, a load that comes and goes; Prometheus scrapes the lbds.
--for DURATION   end after so long: 90, 90s, 5m, 2h (until Ctrl-C)
--out DIR        where the pictures go, drawn again every minute (build/demo/dashboards)
--once           draw them once, when the time is over, and fail when a panel is empty ("./run pictures")
--ports P,L      ports on 127.0.0.1 for Prometheus and for the controller's lbd (19090,16826; 0: any)
USAGE
}

die() {
    printf 'demo: %s\n' "$1" >&2
    exit "${2:-1}"
}

once= last=-1 out=$LB_BUILD/demo/dashboards live_ports=(19090 16826)
while [ $# -gt 0 ]; do
    case $1 in
    --help) usage && exit 0 ;;
    --dashboard) shift && continue ;;
    --once) once=1 && shift && continue ;;
    --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
    --for | --out | --ports) [ $# -ge 2 ] || die "option $1: a value is missing" 2 ;;
    *) die "no such option: $1 (see --help)" 2 ;;
    esac
    case $1 in
    --for)
        case $2 in
        *[!0-9smh]* | '' | [smh]*) die "option --for: 90, 90s, 5m or 2h, not \"$2\"" 2 ;;
        *m) last=$((${2%m} * 60)) ;;
        *h) last=$((${2%h} * 3600)) ;;
        *) last=${2%s} ;;
        esac
        ;;
    --out) out=$2 ;;
    --ports) live_ports=("${2%,*}" "${2#*,}") ;;
    esac
    shift 2
done
[ "$(id -u)" = 0 ] || die "the dashboards need a cluster, and that needs root" 77
for t in prometheus python3 curl sqlite3; do command -v $t >/dev/null || die "$t is not installed" 77; done

cluster() { "$top/tests/cluster/cluster" "$@"; }
dash=$top/tests/dashboards
# shellcheck source=/dev/null
. "$dash/lib.sh"
# shellcheck source=/dev/null
. "$dash/live.sh"
[ -z "$once" ] || live_stretch=2 live_scrape=5
mkdir -p "$out" && out=$(cd "$out" && pwd) || die "$out cannot be made"
live_dir=$(mktemp -d "$LB_BUILD/demo-dashboard.XXXXXX") && chmod 755 "$live_dir" || die "$LB_BUILD cannot be written"
drawing=

finish() {
    local rc=$?
    trap - EXIT INT TERM HUP
    [ -z "$drawing" ] || kill "$drawing" 2>/dev/null
    printf '\nEnding the cluster.\n'
    live_down || printf 'demo: not all of the cluster could be ended: %s\n' "$(tail -n 1 "$live_dir/down.log")" >&2
    rm -rf "$live_dir"
    if [ -e "$out/cluster.png" ]; then printf 'The pictures are in %s\n' "$out"; fi
    exit $rc
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Both wait for what ends, so that Ctrl-C is heard at once.
rest() {
    sleep "$1" &
    wait $!
}

# The job's own dashboard shows the time since that began.
draw() {
    local job all=("${boards[@]/#/--among=}") empty=.
    [ -z "$once" ] || empty='^$'
    cd "$work" || return
    [ -e dist/index.html ] || node bundle.mjs "$dash/render/page" dist >"$live_dir/bundle.log" 2>&1 || return
    live_history "$live_dir/history.db" || return
    mkdir -p "$live_dir/png" || return
    job=$(live_oldest)
    # of a job that has just begun there is little to be seen
    [ -z "$once" ] || [ "$(live_age "$job")" -ge 60 ] || { echo "job $job has just begun" >"$live_dir/draw.log"; return 1; }
    set -- node draw.mjs --page dist --prometheus "$prometheus" --history "$live_dir/history.db" --scrape "$live_scrape" --may-be-empty "$empty" --value jobid="$job" \
        --png "$live_dir/png" "${all[@]}"
    "$@" --span $(($(live_age "$job") + 5)) "$top/dashboards/job.json" >"$live_dir/draw.log" 2>&1 &&
        "$@" --span $((SECONDS - began + 20)) "$top"/dashboards/{cluster,host,policy,daemon,history}.json >>"$live_dir/draw.log" 2>&1 &&
        { [ -z "$once" ] || ! command -v pngquant >/dev/null || pngquant --force --ext .png 128 "$live_dir"/png/*.png; } &&
        mv "$live_dir"/png/*.png "$out"
}

printf 'Starting a cluster of four hosts and Prometheus.\n'
began=$SECONDS
rc=0
live_up || rc=$?
[ $rc = 0 ] || die "the cluster did not come up: $(tail -n 1 "$live_dir/up.log")" $rc
live_measured || die "the hosts could not be measured"
live_jobs
cat <<TEXT

  Prometheus          $prometheus
  metrics of an lbd   $lbd_url
  Grafana             add a Prometheus data source at that address; import dashboards/*.json (docs/admin.md)
  in a terminal       LB_CLUSTER=$LB_CLUSTER ./run cluster head $LB_BUILD/bin/lbctl top
  a job               LB_CLUSTER=$LB_CLUSTER ./run cluster head $LB_BUILD/bin/lbctl job JOBID

TEXT
can_draw=
[ -z "$once" ] || [ "$last" -ge 0 ] || die "--once asks for --for" 2
if ! { render_browser && command -v node >/dev/null && command -v npm >/dev/null; }; then
    printf 'No pictures: node, npm and chromium are needed to draw the dashboards here.\n'
elif ! render_packages >"$live_dir/npm.log" 2>&1 </dev/null; then
    printf "No pictures: Grafana's packages cannot be fetched by npm.\n"
else
    can_draw=1
    printf 'The drawn dashboards: %s/*.png, the first in a minute, then anew each minute.\n' "$out"
fi
[ "$last" -ge 0 ] && printf 'Ends after %s s, or on Ctrl-C.\n' "$last" || printf 'Ctrl-C ends it.\n'

if [ -n "$once" ]; then # a moment may be between two jobs
    [ -n "$can_draw" ] || exit 77
    rest $((last / 2))
    live_pause
    rest $((last / 2))
    for i in 1 2 3 4 5 6 7 8 9; do
        if draw; then exit 0; fi
        rest 20
    done
    cat "$live_dir/draw.log" >&2
    die "not all was drawn"
fi
ready=$SECONDS
while [ "$last" -lt 0 ] || [ $((SECONDS - ready)) -lt "$last" ]; do
    left=$((last < 0 || last - (SECONDS - ready) > 60 ? 60 : last - (SECONDS - ready)))
    rest "$left"
    if [ -n "$can_draw" ]; then
        draw &
        drawing=$!
        wait $drawing && printf 'Drawn: %s\n' "$(cd "$out" && echo ./*.png)" || printf 'Not all was drawn: %s\n' "$(tail -n 1 "$live_dir/draw.log")"
        drawing=
    fi
done
