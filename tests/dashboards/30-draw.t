#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The dashboards against Grafana's own schema, and drawn by Grafana's own libraries in a browser without a screen: every panel is
# there with something in it, no query fails.  The pictures stay in the build folder, under dashboards/png.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"
need_tools node npm prometheus promtool python3 curl sqlite3
render_browser || skip_all "chromium is not installed"
png=$LB_BUILD/dashboards/png

mkdir -p "$png"
render_packages >"$tap_tmp/npm" 2>&1 </dev/null || skip_all "the packages of tests/dashboards/render cannot be fetched: $(grep -m 1 -i err "$tap_tmp/npm" | cut -c1-100)"
cd "$work" || exit

ok "Grafana's schema and our list of panels accept the dashboards" node schema.mjs "${boards[@]}"
ok "the page is bundled" node bundle.mjs "$dash/render/page" dist
ok "a day of a cluster in Prometheus, months in SQLite" day_make
day_up
# A job on many hosts, and the host that is slow.  Planted boards leave no picture with the others.
draw() {
  local to=$png
  case $1 in "$tap_tmp"/*) to=$tap_tmp ;; esac
  node draw.mjs --page dist --prometheus "$prometheus" --history "$history" --to $day_end --scrape 60 --value jobid=4203 --value node=n07 "${boards[@]/#/--among=}" \
    --png "$to" "$1"
}

plant() { # NAME BOARD JQ-LIKE-PYTHON
  python3 - "$top/dashboards/$2.json" "$tap_tmp/$1.json" "$3" <<'E'
import json, sys
with open(sys.argv[1]) as f:
    d = json.load(f)
graph = next(p for p in d['panels'] if p['type'] == 'timeseries')
exec(sys.argv[3])
with open(sys.argv[2], 'w') as f:
    json.dump(d, f)
E
}
plant kind policy "graph['type'] = 'timeserie'"
plant metric policy "graph['targets'][0]['expr'] = graph['targets'][0]['expr'].replace('lbd_', 'ldb_')"
plant promql policy "graph['targets'][0]['expr'] += ')'"
plant column history "d['panels'][1]['targets'][0]['rawQueryText'] = 'SELECT hosts FROM history_host'"

rm -f "$png"/*.png
draw_all "$tap_tmp/kind.json" "${boards[@]}" "$tap_tmp"/{metric,promql,column}.json
for b in "${boards[@]}"; do
  ok "$(basename "$b") is drawn" drawn "$b"
  sed 's/^/# /' "$tap_tmp/out"
done
ok "six pictures" test "$(find "$png" -name '*.png' -size +40k | wc -l)" = 6

refused() { # TEXT BOARD JQ-LIKE-PYTHON FOUND
  plant planted "$2" "$3"
  not_ok "schema: found out: $1" node schema.mjs "$tap_tmp/planted.json"
  like "$(cat "$tap_tmp/out")" "$4" "... and named"
}
refused "a key that Grafana does not know" job "graph['titel'] = graph['title']" 'titel'
refused "a value that Grafana does not know" job "graph['fieldConfig']['defaults']['color']['mode'] = 5" 'mode'
refused "a kind of panel that is not on the list" host "graph['type'] = 'heatmap'" 'heatmap'
refused "panels on top of each other" host "graph['gridPos']['y'] += 3" 'overlap'

not_drawn() { # TEXT NAME FOUND
  not_ok "drawing: found out: $1" drawn "$tap_tmp/$2.json"
  like "$(cat "$tap_tmp/out")" "$3" "... and named"
}
not_drawn "a kind of panel that does not exist" kind 'was not drawn'
not_drawn "a metric misspelt" metric 'has nothing in it'
not_drawn "a query that is no PromQL" promql 'a query failed'
not_drawn "a column misspelt" column 'a query failed'
done_testing
