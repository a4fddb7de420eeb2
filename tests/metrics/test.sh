#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Metrics, rules, alerts, dashboards and their documents agree, and tests/metrics/check finds each kind of disagreement.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

fail() {
  echo "FAILED: $*"
  bad=1
}

"$here/check" || fail "the tree"
[ -z "${LB_TEST_BRIEF:-}${LB_TEST_FEW:-}" ] || exit $bad # no sanitizer is in what follows

plain() { # a copy of what is checked
  rm -rf "$tmp/t"
  mkdir -p "$tmp/t/tests" "$tmp/t/docs" "$tmp/t/schema"
  cp -r "$top/dashboards" "$tmp/t/"
  cp -r "$here" "$tmp/t/tests/"
  cp -r "$top/docs/runbooks" "$top/docs/metrics.md" "$tmp/t/docs/"
  cp "$top/schema/metrics.json" "$tmp/t/schema/"
  chmod -R u+w "$tmp/t"
}

# The dashboards are made anew, so that only the fault that was planted is left to find.
remake() { python3 "$tmp/t/dashboards/make" && python3 "$tmp/t/tests/metrics/describe" "$tmp/t/schema/metrics.json" >"$tmp/t/docs/metrics.md"; }

# planted TEXT FILE SED COMPLAINT [as-is]
planted() {
  plain
  sed -i "$3" "$tmp/t/$2"
  if [ "${5:-}" != as-is ]; then remake; fi
  if cmp -s "$tmp/t/$2" "$top/$2"; then
    fail "$1: could not be planted"
  elif "$here/check" "$tmp/t" >"$tmp/out" 2>&1; then
    fail "$1 is not found"
  elif ! grep -qE "$4" "$tmp/out"; then
    fail "$1 is not what is complained of: $(cat "$tmp/out")"
  else
    echo "found: $1: $(grep -m 1 -E "$4" "$tmp/out" | sed "s|$tmp/t/||g" | cut -c1-120)"
  fi
}

plain
"$here/check" "$tmp/t" >"$tmp/out" || fail "the copy without a fault: $(cat "$tmp/out")"
j=schema/metrics.json d=dashboards/make.d r=dashboards/prometheus/rules.yml a=dashboards/prometheus/alerts.yml
planted "a metric misspelt in a dashboard" $d/cluster.py 's/lbd_host_tasks{/lbd_host_task{/' 'no such metric: lbd_host_task$'
planted "a metric misspelt in a rule" $r 's/lb_job_wait_seconds_total/lb_job_waits_total/' 'rule .*no such metric'
planted "a metric misspelt in an alert" $a 's/lb_job_load_balance_ratio </lb_job_balance_ratio </' 'rule LbJobUnbalanced.*no such metric'
planted "a label misspelt in a selector" $d/host.py 's/node="$node"/nod="$node"/' "label 'nod'"
planted "a label misspelt in by ()" $d/job.py 's/by (host) (rate/by (hosts) (rate/' "by 'hosts'"
planted "a label misspelt in a legend" $d/job.py "s/'{{reason}}'/'{{reasons}}'/" 'legend of label reasons'
planted "a label misspelt in an alert's text" $a 's/labels.op /labels.operation /' 'text has label operation'
planted "a unit misspelt" $d/daemon.py "s/'Bps'/'Bpss'/; s/'bytes', 8/'byte', 8/" "unit 'byte'"
planted "a unit of something else" $d/job.py "s/'Bps', 8/'s', 8/" "unit 's' is shown for B s\^-1"
planted "seconds added to bytes" $d/daemon.py 's/lbd_uplink_pending_reports{{{N}}})/lbd_ranking_age_seconds{{{N}}} + process_resident_memory_bytes{{{N}}})/' '\+ of s and B'
planted "a rate of a gauge" $d/daemon.py 's/lbd_controller_reports_total{{{C}}}{RATE}/lbd_controller_hosts{{{C}}}{RATE}/' 'rate of lbd_controller_hosts'
planted "a kind of panel that is not drawn here" $d/grafana.py "s/return panel('bargauge'/return panel('piechart'/" "type 'piechart'"
planted "a panel without description" $d/host.py "s/'Bytes copied per CPU second, one core.'/''/" 'no description'
planted "a legend not shown" $d/grafana.py "s/'showLegend': True, 'displayMode': 'table'/'showLegend': False, 'displayMode': 'table'/" 'legend is not shown'
planted "a count without vector(0)" $d/daemon.py 's/== 0) or vector(0)/== 0)/' 'or vector\(0\)'
planted "an unknown variable" $d/job.py 's/jobid="$jobid"/jobid="$job"/' 'variable \$job:'
planted "a link to nowhere" $d/cluster.py "s/to('lb-job'/to('lb-jobs'/" 'link to lb-jobs'
planted "a dashboard changed by hand" dashboards/job.json 's/Why it did not/Why not/' 'is not what dashboards/make makes' as-is
planted "a document not made anew" docs/metrics.md 's/Cores that the host has/Cores/' 'is not what tests/metrics/describe makes' as-is
planted "an alert without its page" $a 's/- alert: LbdDown/- alert: LbdGone/' 'alert LbdGone: runbook'
planted "a metric that is shown nowhere" $d/job.py 's/lb_job_block_iterations/lb_job_period_seconds/' 'lb_job_block_iterations is shown nowhere'
planted "a counter without _total" $j 's/lb_job_loops_total/lb_job_loops/' 'only they, end in _total'
planted "a label of Prometheus' own" $j 's/"stepid", "host"/"stepid", "node"/' "label 'node'"
planted "a unit that is not a base unit" $j 's/lb_job_period_seconds", "type": "gauge", "group": "job", "unit": "seconds"/lb_job_period_ms", "type": "gauge", "group": "job", "unit": "ms"/' "unit 'ms'"
exit $bad
