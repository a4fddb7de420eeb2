# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# A living cluster with a Prometheus that scrapes its lbds, and jobs that come and go.  For tests and for ./run demo --dashboard.
# The caller defines cluster() and sets $top, $LB_BUILD, and $live_dir, a folder for files; live_down ends everything.
#   live_up       cluster of four hosts, lbds that look often, Prometheus; sets $prometheus (its URL on loopback) and $lbd_url
#   live_jobs     begins jobs of several policies, which follow each other until live_down
#   live_pause    lets all jobs end, so that the hosts are measured once more
#   live_oldest   prints the job that has run longest
#   live_age JOBID  prints for how many seconds that has run
#   live_history FILE   copies the snapshot that the controller has published last
. "$(dirname "${BASH_SOURCE[0]}")/../lib/look.sh"
live_pids=() live_speeds=(.3 .3 .3 .12)
live_stretch=1 # how many times as long the jobs are
live_scrape=2 # s, and of the rules: a minute must do for what else takes hours

live_kill() {
  local p
  for p in "${live_pids[@]}"; do kill "$p" 2>/dev/null; done
  for p in "${live_pids[@]}"; do wait "$p" 2>/dev/null; done
  live_pids=()
}

live_down() {
  live_kill
  cluster down >"$live_dir/down.log" 2>&1
}

live_until() { look_until "$1" 0.5 live_look "${@:2}"; } # SECONDS CMD...
live_look() { "$@" >"$live_dir/until.log" 2>&1; }

live_conf() { # the cluster's policy.conf: everything often
  cat >"$(cluster dir)/policy.conf" <<'C'
placement = on
probe { load_interval = 2s benchmark_interval = 60s }
database { snapshot_interval = 10s }
C
}

live_up() {
  local i
  mkdir -p "$live_dir/data"
  LB_CLUSTER_LBD=no cluster up 4 >"$live_dir/up.log" 2>&1 || return $?
  for i in 1 2 3 4; do cluster speed n$i "${live_speeds[i - 1]}" >/dev/null || return 1; done
  live_conf
  cluster lbd all start >"$live_dir/lbd.log" 2>&1 || return 1
  cluster head "$LB_BUILD/sbin/lbd" --print-sd --role=controller --host=head >"$live_dir/targets.json" || return 1
  sed "s/interval: 60s/interval: ${live_scrape}s/" "$top/dashboards/prometheus/rules.yml" >"$live_dir/rules.yml"
  cp "$top/dashboards/prometheus/alerts.yml" "$live_dir/"
  cat >"$live_dir/prometheus.yml" <<C
global: {scrape_interval: ${live_scrape}s, evaluation_interval: ${live_scrape}s}
rule_files: [rules.yml, alerts.yml]
scrape_configs:
  - job_name: lbd
    scrape_timeout: ${live_scrape}s
    http_sd_configs: [{url: "http://127.0.0.1:6826/sd", refresh_interval: 20s}]
C
  cluster head prometheus --config.file="$live_dir/prometheus.yml" --storage.tsdb.path="$live_dir/data" --web.listen-address=127.0.0.1:9090 \
    --log.level=warn >"$live_dir/prometheus.log" 2>&1 </dev/null &
  live_pids+=($!)
  python3 "$top/tests/dashboards/forward.py" "lbc.$LB_CLUSTER.head" "${live_ports[0]:-0}=127.0.0.1:9090" "${live_ports[1]:-0}=127.0.0.1:6826" >"$live_dir/ports" 2>"$live_dir/forward.log" &
  live_pids+=($!)
  live_until 20 eval '[ "$(wc -l <"$live_dir/ports")" = 2 ]' || return 1
  prometheus=http://127.0.0.1:$(sed -n 1p "$live_dir/ports")
  lbd_url=http://127.0.0.1:$(sed -n 2p "$live_dir/ports")/metrics
  export prometheus lbd_url
  live_until 60 curl -fs "$prometheus/-/ready" && live_until 90 live_sees 'count(up{job="lbd"} == 1) == 5'
}

# Whether a question to Prometheus has an answer.
live_sees() { grep -q '"result":\[{' <<<"$(curl -fs --data-urlencode "query=$1" "$prometheus/api/v1/query")"; }

# The job that has run longest: most to be seen of it.
live_oldest() {
  curl -fs --data-urlencode 'query=topk(1, max by (jobid) (time() - lb_job_start_timestamp_seconds * on (jobid, stepid) group_left () max by (jobid, stepid) (lb_job_info{policy=~"auto|siegell|liu"})))' \
    "$prometheus/api/v1/query" | sed -n 's/.*"jobid":"\([0-9]*\)".*/\1/p'
}

live_age() { # JOBID
  curl -fs --data-urlencode "query=floor(time() - min(lb_job_start_timestamp_seconds{jobid=\"$1\"}))" "$prometheus/api/v1/query" | sed -n 's/.*"\([0-9]*\)"\].*/\1/p' | grep . || echo 60
}

live_job() { # HOSTS POLICY ITERATIONS SHAPE [TASKS]
  while [ -e "$live_dir/pause" ]; do sleep 1; done
  cluster user timeout 300 srun --lb="$2" -N"$1" -n"${5:-$1}" "$LB_BUILD/bench/cpuloop" --iterations="$3" --shape="$4" --row-bytes=4096
}

# All hosts are measured: a benchmark waits for jobs to end.
live_measured() { live_until 120 live_sees 'count(lbd_host_effective_speed_ratio) == 4 and count(node:lb_benchmark_age_seconds:max) == 4'; }

# So many jobs have ended, of two policies at least.
live_ended() { live_until 180 live_sees "sum(lbd_jobs_finished_total) >= $1 and count(lbd_jobs_finished_total > 0) >= 2 and count(lb_job_info) >= 1"; } # JOBS

# Two lines of jobs, one after the other in each; the load on n1 comes and goes.
live_jobs() {
  # while there are idle hosts to choose from; on a busy machine srun may not wait for lbd's answer
  for _ in 1 2 3 4; do
    live_job 2 auto,hosts 500 even >>"$live_dir/jobs0.log" 2>&1 </dev/null || true
    if live_until 10 live_sees 'sum(increase(lbd_placement_duration_seconds_count[1h])) > 0'; then break; fi
  done
  (
    trap 'kill $(jobs -p) 2>/dev/null; exit' TERM INT
    while :; do
      live_job 4 auto $((9000 * live_stretch)) front & wait $!
      live_job 4 static $((2500 * live_stretch)) even & wait $!
      live_job 4 siegell $((6000 * live_stretch)) even & wait $!
    done
  ) >"$live_dir/jobs1.log" 2>&1 </dev/null &
  live_pids+=($!)
  (
    trap 'kill $(jobs -p) 2>/dev/null; exit' TERM INT
    while :; do
      live_job 2 liu $((5000 * live_stretch)) even 3 & wait $!
      live_job 2 auto $((9000 * live_stretch)) rise 3 & wait $!
      live_job 2 none $((2500 * live_stretch)) even & wait $!
    done
  ) >"$live_dir/jobs2.log" 2>&1 </dev/null &
  live_pids+=($!)
  cluster load n1 --cores 1 --period 40 --duty .4 >"$live_dir/load.log" 2>&1 || true
}

# No new jobs until the hosts were measured once more: they are when they are idle.
live_pause() {
  touch "$live_dir/pause"
  live_until 240 live_sees 'count(count by (node) (changes(lbd_benchmark_last_run_timestamp_seconds[1h]) > 0)) >= 4' || true
  rm -f "$live_dir/pause"
}

live_history() { # FILE
  local s
  s=$(cluster dir)/host/head/state/snapshot/lbd.db
  live_until 60 test -s "$s" && cp "$s" "$1"
}
