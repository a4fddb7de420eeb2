#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every question of every dashboard has an answer from a real Prometheus and a real SQLite file; a wrong one is found out.
# beside others: waits, or computes alone, and nothing in it depends on how fast
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"
need_tools prometheus promtool python3 curl

ok "a day of a cluster in Prometheus, months in SQLite" day_make
day_up
ask() { "$dash/queries" "$prometheus" --history "$history" --at $day_end --scrape 60 "$@"; }
for b in "${boards[@]}"; do
  ok "$(basename "$b"): every query and every variable has an answer" ask "$b"
done

planted() { # TEXT BOARD SED
  sed "$3" "$top/dashboards/$2.json" >"$tap_tmp/planted.json"
  cmp -s "$top/dashboards/$2.json" "$tap_tmp/planted.json" && { not_ok "$1: was not planted" true; return; }
  not_ok "found out: $1" ask "$tap_tmp/planted.json"
}
planted "a metric misspelt" cluster 's/lbd_host_cpus/lbd_host_cpu/'
planted "a label misspelt" job 's/jobid=\\"/jobId=\\"/'
planted "a legend of no label" host 's/{{kernel}}/{{kernels}}/'
planted "a column misspelt" history 's/saved_core_seconds/saved_core_second/'
planted "a query cut short" policy 's/\[1h\]))/[1h])/'
planted "a variable without values" daemon 's/label_values(lbd_build_info{/label_values(lbd_build_infos{/'
done_testing
