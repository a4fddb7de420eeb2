#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The page with many jobs, under load: jobs come and go, slow clients hang on, several scrape at once.  Both formats are read by promtool and by the
# parser of Prometheus' client library, and planted faults are found out.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..
served=${LB_BUILD:-$PWD}/tests/metrics/served
for t in python3 curl promtool; do command -v $t >/dev/null || { echo "$t is not installed"; exit 77; }; done
python=
for p in python3 /usr/bin/python3; do # the package belongs to the system's own
  if [ -z "$python" ] && $p -c 'import prometheus_client.openmetrics.parser' 2>/dev/null; then python=$p; fi
done
[ -n "$python" ] || { echo "python3-prometheus-client is not installed"; exit 77; }
[ -x "$served" ] || { echo "$served is not built"; exit 77; }
tmp=$(mktemp -d)
pids=() failed=0
cleanup() {
  exec 7>&-
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null; wait "$p" 2>/dev/null; done
  rm -rf "$tmp"
}
trap cleanup EXIT
check() { # TEXT CMD...
  local text=$1
  shift
  if "$@" >"$tmp/said" 2>&1; then echo "ok: $text"; else
    echo "FAILED: $text: $*"
    sed 's/^/  /' "$tmp/said" | tail -n 15
    failed=1
  fi
}
not() { ! "$@"; }
judge() { $python "$here/openmetrics" "$top/schema/metrics.json" "$@"; }

mkfifo "$tmp/in"
"$served" host 64 4 20 <"$tmp/in" >"$tmp/port" 2>"$tmp/err" &
pids+=($!)
exec 7>"$tmp/in"
for ((i = 0; i < 300; i++)); do [ -s "$tmp/port" ] && break; sleep 0.1; done
port=$(cat "$tmp/port")
url=http://127.0.0.1:$port/metrics
python3 "$here/scrape.py" "$port" 100000 --slow 8 >"$tmp/load" 2>&1 &
pids+=($!)
shown() { curl -fs --max-time 20 "$url" | grep -q '^lb_job_info'; }
for ((i = 0; i < 300; i++)); do shown && break; sleep 0.1; done
om=application/openmetrics-text
for i in 1 2 3 4 5; do
  for accept in text/plain $om; do
    check "page $i as $accept is there" curl -fs --max-time 20 -H "Accept: $accept" "$url" -o "$tmp/page.$i.${accept#*/}"
  done
done
check "what jobs come and go on" not cmp -s "$tmp/page.1.plain" "$tmp/page.5.plain"
check "all of them are right, in both formats" judge "$tmp"/page.*
check "promtool finds nothing wrong" promtool check metrics <"$tmp/page.5.plain"

planted() { # TEXT SED COMPLAINT
  sed "$2" "$tmp/page.5.openmetrics-text" >"$tmp/bad"
  judge "$tmp/bad" >"$tmp/found" 2>&1
  check "found out: $1" test $? = 1
  check "... and named: $(head -n 1 "$tmp/found" | cut -d: -f2- | cut -c1-90)" grep -qE "$3" "$tmp/found"
}
planted "a page that is cut" '$d' 'labels|instead of|cannot be read|unit|not in the catalogue'
planted "a metric that nobody knows" 's/lb_job_nodes/lb_job_node/' 'lb_job_node is not in the catalogue'
planted "another type" 's/TYPE lb_job_share_ratio gauge/TYPE lb_job_share_ratio unknown/' 'lb_job_share_ratio: unknown instead of gauge'
planted "another unit" '/UNIT lb_job_period_seconds/d' "lb_job_period_seconds: unit ''"
planted "a label that is missing" 's/,host="[^"]*"//' 'cannot be read|labels'
planted "a label too many" 's/^lb_job_nodes{/&a="b",/' "lb_job_nodes: labels \['a'"
planted "a quote that is not escaped" 's/policy="auto"/policy="au"to"/' 'cannot be read'
planted "a timestamp" 's/^lb_job_nodes.*/& 1768503600/' 'timestamp'
planted "a series twice" 's/^lb_job_nodes.*/&\n&/' 'twice|cannot be read'
planted "a counter that fell below 0" 's/^\(lb_job_loops_total{[^}]*}\) .*/\1 -1/' 'cannot be read|loops_total: -1'
exit $failed
