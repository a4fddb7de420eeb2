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
# A job on many hosts, and the host that is slow.
draw() { node draw.mjs --page dist --prometheus "$prometheus" --history "$history" --to $day_end --scrape 60 --value jobid=4203 --value node=n07 "${boards[@]/#/--among=}" "$@"; }
rm -f "$png"/*.png
for b in "${boards[@]}"; do
  ok "$(basename "$b") is drawn" draw --png "$png" "$b"
  sed 's/^/# /' "$tap_tmp/out"
done
ok "six pictures" test "$(find "$png" -name '*.png' -size +40k | wc -l)" = 6

planted() { # schema|draw TEXT BOARD JQ-LIKE-PYTHON
  python3 - "$top/dashboards/$3.json" "$tap_tmp/planted.json" "$4" <<'E'
import json, sys
with open(sys.argv[1]) as f:
    d = json.load(f)
graph = next(p for p in d['panels'] if p['type'] == 'timeseries')
exec(sys.argv[3])
with open(sys.argv[2], 'w') as f:
    json.dump(d, f)
E
  if [ "$1" = schema ]; then
    not_ok "schema: found out: $2" node schema.mjs "$tap_tmp/planted.json"
  else
    not_ok "drawing: found out: $2" draw --png "$tap_tmp" "$tap_tmp/planted.json"
  fi
  like "$(cat "$tap_tmp/out")" "$5" "... and named"
}
planted schema "a key that Grafana does not know" job "graph['titel'] = graph['title']" 'titel'
planted schema "a value that Grafana does not know" job "graph['fieldConfig']['defaults']['color']['mode'] = 5" 'mode'
planted schema "a kind of panel that is not on the list" host "graph['type'] = 'heatmap'" 'heatmap'
planted schema "panels on top of each other" host "graph['gridPos']['y'] += 3" 'overlap'
planted draw "a kind of panel that does not exist" policy "graph['type'] = 'timeserie'" 'was not drawn'
planted draw "a metric misspelt" policy "graph['targets'][0]['expr'] = graph['targets'][0]['expr'].replace('lbd_', 'ldb_')" 'has nothing in it'
planted draw "a query that is no PromQL" policy "graph['targets'][0]['expr'] += ')'" 'a query failed'
planted draw "a column misspelt" history "d['panels'][1]['targets'][0]['rawQueryText'] = 'SELECT hosts FROM history_host'" 'a query failed'
done_testing
