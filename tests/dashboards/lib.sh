# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# A Prometheus on loopback with a day of a cluster in it, and months in SQLite.  Source tests/lib/tap.sh before.
#   day_up       sets $prometheus (its URL), $day_end (s since 1970), $history (the SQLite file); ends with the test
dash=$top/tests/dashboards
day_dir=$LB_BUILD/dashboards/day
day_end=1768503600
history=$day_dir/history.db
boards=("$top"/dashboards/{cluster,host,job,policy,daemon,history}.json)

need_tools() { # NAME...
  local t
  for t in "$@"; do command -v "$t" >/dev/null || skip_all "$t is not installed"; done
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# prometheus_up FOLDER CONFIG: sets $prometheus and $prometheus_pid
prometheus_up() {
  local port i
  port=$(free_port)
  prometheus=http://127.0.0.1:$port
  prometheus --config.file="$2" --storage.tsdb.path="$1" --storage.tsdb.retention.time=100y --web.listen-address="127.0.0.1:$port" \
    --log.level=warn >"$1.log" 2>&1 9>&- &
  prometheus_pid=$!
  at_end prometheus_down
  for ((i = 0; i < 600; i++)); do
    if curl -fs -o "$1.ready" "$prometheus/-/ready"; then return 0; fi
    if ! kill -0 $prometheus_pid; then break; fi
    sleep 0.1
  done
  tail -n 5 "$1.log" | sed 's/^/# /'
  return 1
}

prometheus_down() {
  [ -n "${prometheus_pid:-}" ] || return 0
  kill "$prometheus_pid" 2>/dev/null
  wait "$prometheus_pid" 2>/dev/null
  prometheus_pid=
}

# Made once, and again when what it is made of has changed; tests beside each other make it once.
day_make() { mkdir -p "$LB_BUILD/dashboards" && (flock 9 && day_make_now) 9>"$LB_BUILD/dashboards/day.lock"; }

day_make_now() {
  local from=("$dash/day" "$dash/months" "$top/schema/metrics.json" "$top/dashboards/prometheus/rules.yml" "$top"/schema/0*.sql) f fresh=1
  [ -e "$day_dir/made" ] || fresh=
  for f in "${from[@]}"; do if [ "$f" -nt "$day_dir/made" ]; then fresh=; fi; done
  [ -z "$fresh" ] || return 0
  rm -rf "$day_dir"
  mkdir -p "$day_dir/data"
  printf 'global: {}\n' >"$day_dir/prometheus.yml"
  "$dash/months" "$history" $day_end "$top"/schema/0*.sql || return 1
  "$dash/day" "$top/schema/metrics.json" $day_end >"$day_dir/day.om" || return 1
  promtool tsdb create-blocks-from openmetrics "$day_dir/day.om" "$day_dir/data" >"$day_dir/blocks.log" 2>&1 || return 1
  rm "$day_dir/day.om"
  # What the recording rules would have recorded, in their order: each sees what those before it have made.
  prometheus_up "$day_dir/data" "$day_dir/prometheus.yml" || return 1
  "$dash/backfill" "$prometheus" "$top/dashboards/prometheus/rules.yml" $day_end "$day_dir/rules.om" || { prometheus_down; return 1; }
  prometheus_down
  promtool tsdb create-blocks-from openmetrics "$day_dir/rules.om" "$day_dir/data" >>"$day_dir/blocks.log" 2>&1 || return 1
  rm "$day_dir/rules.om"
  touch "$day_dir/made"
}

# On a copy: two Prometheus cannot have one folder.
day_up() { day_make && cp -r "$day_dir/data" "$tap_tmp/day" && prometheus_up "$tap_tmp/day" "$day_dir/prometheus.yml"; }

# What draws: a browser, and Grafana's libraries in $work.
work=$LB_BUILD/dashboards/render
render_browser() {
  CHROMIUM=$(command -v chromium || command -v chromium-browser) && export CHROMIUM
}

# The packages are fetched once, at the versions of package.json.  Where there is no way to them npm tries for a quarter of an
# hour: it is given five minutes, and the tests that come soon after do not ask again.
render_packages() { mkdir -p "$work" && (flock 9 && render_packages_now) 9>"$work.lock"; }

render_packages_now() {
  mkdir -p "$work"
  if ! cmp -s "$dash/render/package.json" "$work/package.json" || [ ! -e "$work/node_modules/.done" ]; then
    rm -rf "$work/node_modules"
    [ -z "$(find "$work/failed" -mmin -20 2>/dev/null)" ] || return 1
    cp "$dash/render/package.json" "$work/"
    (cd "$work" && timeout -k 10 300 npm i --ignore-scripts --legacy-peer-deps --no-package-lock --no-audit --no-fund) || { touch "$work/failed"; return 1; }
    touch "$work/node_modules/.done"
  fi
  cp "$dash"/render/*.mjs "$work/"
}

# draw_all BOARD.json...: each by the caller's function draw, two at a time; drawn BOARD.json says what came of it.
draw_all() {
  local b first=() second=() one two
  for b in "$@"; do if [ ${#first[@]} -le ${#second[@]} ]; then first+=("$b"); else second+=("$b"); fi; done
  draw_some "${first[@]}" &
  one=$!
  draw_some "${second[@]}" &
  two=$!
  wait $one $two
}

draw_some() {
  local b to st
  for b in "$@"; do
    to=$tap_tmp/drawn.$(basename "$b" .json) st=0
    (draw "$b") >"$to" 2>&1 </dev/null || st=$?
    echo $st >"$to.status"
  done
}

drawn() {
  cat "$tap_tmp/drawn.$(basename "$1" .json)"
  return "$(cat "$tap_tmp/drawn.$(basename "$1" .json).status")"
}
