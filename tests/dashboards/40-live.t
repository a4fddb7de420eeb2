#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every question of every dashboard, on a real Prometheus that scrapes real lbds while real jobs come and go on a cluster; the SQLite ones
# on the snapshot that the controller publishes.  Then they are drawn, where node is there; the pictures stay under dashboards/live.
# beside others: waits, or computes alone, and nothing in it depends on how fast
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"
need_tools prometheus promtool python3 curl sqlite3
need_build bench/cpuloop lb-balancer sbin/lbd
can_draw() { render_browser && command -v node >/dev/null && command -v npm >/dev/null; }
if can_draw; then # it takes as long as the cluster takes to have something to show
  render_packages >/dev/null 2>&1 </dev/null &
  at_end wait $!
fi
export LB_CLUSTER=d$$
live_dir=$tap_tmp/live
. "$dash/live.sh"
mkdir -p "$live_dir"
at_end live_down
# All of the run, however long it takes here: the history is of its beginning.
began=$SECONDS
span() { echo $((SECONDS - began + 60)); }
st=0
live_up || st=$?
[ $st != 77 ] || skip_all "$(sed 's/^cluster: //' "$live_dir/up.log" | tail -n 1)"
is $st 0 "a cluster, and a Prometheus that finds its lbds by the controller's /sd"
[ $st = 0 ] || { diag "$(tail -n 5 "$live_dir"/*.log)"; exit 1; }
ok "all hosts are measured" live_measured
live_jobs
ok "jobs come and go" live_ended 3
ok "a snapshot is published with jobs in it" live_until 60 eval 'live_history "$live_dir/history.db" && [ "$(sqlite3 "$live_dir/history.db" "SELECT count(*) FROM history_job")" -ge 2 ]'
# What takes longer than this run: means of five minutes.
late='Capacity of all hosts'
# Of a job that is balanced: the newest may be one of static or none, which moves nothing.
ask() { "$dash/queries" "$prometheus" --history "$live_dir/history.db" --span "$(span)" --scrape $live_scrape --may-be-empty "$late" --value jobid="$(live_oldest)" "$@"; }
for b in "${boards[@]}"; do
  # A moment may be between two jobs, or just after one has begun, before the rules were evaluated; on a busy machine many are.
  ok "$(basename "$b"): every query and every variable has an answer" look_until 120 3 ask "$b"
  sed 's/^/# /' "$tap_tmp/out" | tail -n 2
done
sed 's/lb_job_share_ratio/lb_job_share/' "$top/dashboards/job.json" >"$tap_tmp/planted.json"
found_in_planted() { ! ask "$tap_tmp/planted.json" >"$tap_tmp/found" && grep -q "FAILED.*$1" "$tap_tmp/found"; }
finds() { # WHAT
  look_until 120 3 found_in_planted "$1" || { cat "$tap_tmp/found"; return 1; }
}
ok "found out: a metric misspelt" finds 'no series: .*lb_job_share{'
sed 's/by (host)/by (hosts)/; s/{{host}}/{{hosts}}/' "$top/dashboards/job.json" >"$tap_tmp/planted.json"
ok "found out: a label misspelt" finds "legend's label hosts"
# Each metric of the catalogue has been on the page of a real lbd.
everything() {
  python3 - "$top/schema/metrics.json" "$prometheus" "${1:-}" <<'P'
import json, sys, urllib.parse, urllib.request
names = [m['name'] + ('_bucket' if m['type'] == 'histogram' else '') for m in json.load(open(sys.argv[1]))['metrics']] + [n for n in sys.argv[3:] if n]
url = f'{sys.argv[2]}/api/v1/label/__name__/values'
there = set(json.load(urllib.request.urlopen(url, timeout=30))['data'])
missing = [n for n in names if n not in there]
print(len(names), 'metrics; missing:', *missing)
sys.exit(bool(missing))
P
}
ok "every metric of the catalogue has come from an lbd" live_until 90 everything
diag "$(cat "$live_dir/until.log")"
not_ok "found out: one that none exports" everything lbd_nowhere_total
page() { curl -fs -H "Accept: $1" "$lbd_url" >"$tap_tmp/page"; }
ok "the controller's page" page text/plain
ok "promtool finds nothing wrong with it" promtool check metrics <"$tap_tmp/page"
# Of the controller and of hosts with jobs, in both formats.
judge() {
  local h a rc
  for h in head n1 n2; do
    for a in text/plain application/openmetrics-text; do
      cluster on $h curl -fs --max-time 20 -H "Accept: $a" http://127.0.0.1:6826/metrics >"$tap_tmp/$h.${a#*/}" || return 1
    done
  done
  for python in python3 /usr/bin/python3; do # the parser's package belongs to the system's own
    rc=0
    $python "$top/tests/metrics/openmetrics" "$top/schema/metrics.json" "$tap_tmp"/{head,n1,n2}.{plain,openmetrics-text} || rc=$?
    [ $rc = 77 ] || break
  done
  return $rc
}
rc=0
judge >"$tap_tmp/judged" 2>&1 || rc=$?
if [ $rc = 77 ]; then
  skip "the pages under jobs are right in both formats" "python3-prometheus-client is not installed"
else
  is $rc 0 "the pages under jobs are right in both formats"
  diag "$(cat "$tap_tmp/judged")"
fi
cp "$live_dir/history.db" "$tap_tmp/history.db"

png=$LB_BUILD/dashboards/live
if can_draw && render_packages >"$tap_tmp/npm" 2>&1 </dev/null; then
  mkdir -p "$png"
  rm -f "$png"/*.png
  cd "$work" || exit
  [ -e dist/index.html ] || ok "the page is bundled" node bundle.mjs "$dash/render/page" dist
  draw() {
    node draw.mjs --page dist --prometheus "$prometheus" --history "$live_dir/history.db" --span "$(span)" --scrape $live_scrape --may-be-empty "$late" "${boards[@]/#/--among=}" --value jobid="$(live_oldest)" --png "$png" "$1"
  }
  draw_all "${boards[@]}"
  for b in "${boards[@]}"; do
    ok "$(basename "$b") is drawn" eval 'drawn "$b" || look_until 180 3 draw "$b"'
    sed 's/^/# /' "$tap_tmp/out" | tail -n 4
  done
else
  skip "drawn" "no node, no chromium, or Grafana's packages cannot be fetched"
fi
done_testing
