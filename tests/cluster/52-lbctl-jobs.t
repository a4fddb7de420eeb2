#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lbctl top and lbctl job: a job while it runs and after its end, from SQLite; in a terminal with its keys and sizes.
# beside others: waits for daemons and jobs, whatever the speed of hosts
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop lb-balancer sbin/lbd bin/lbctl
command -v python3 >/dev/null || skip_all "python3 is not installed"
need_cluster 2
dir=$(cluster dir)
lbctl() { cluster head "$LB_BUILD/bin/lbctl" "$@"; }
json() { python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"; }
two_hosts() { [ "$(lbctl --json top | json 'len([h for h in d["hosts"] if h["host"] in ("n1", "n2") and h.get("cpus")])')" = 2 ]; }
ok "both hosts are known" within 60 two_hosts
like "$(lbctl top --once)" 'No balanced job runs' "no job, and that is said"
not_ok "a job that nobody knows" lbctl job 4711
like "$(cat "$tap_tmp/out")" 'job 4711 is not known' "and that is said"
st=0
lbctl job 12x >"$tap_tmp/out" 2>&1 || st=$?
is $st 2 "what is no number is wrong use"

# Until its end is awaited below.
cluster user timeout 300 srun --lb=auto -N2 -n2 "$LB_BUILD/bench/cpuloop" --iterations 100000 </dev/null >"$tap_tmp/job" 2>&1 &
job=$!
at_end eval "kill $job 2>/dev/null || true"
runs() { [ "$(lbctl --json top | json 'len(d["jobs"])')" = 1 ]; }
ok "top has the job" within 60 runs
id=$(lbctl --json top | json 'd["jobs"][0]["jobid"]')
is "$id" "$(cluster head squeue -h -o %i)" "under its number"
like "$(lbctl top --once)" "$id +lbtest +auto" "as text"
both() { [ "$(lbctl --json job "$id" | json 'd["jobs"][0]["ended"], round(sum(h["share"] for h in d["jobs"][0]["hosts"]), 2), [h["host"] for h in d["jobs"][0]["hosts"]]')" = "None 1.0 ['n1', 'n2']" ]; }
ok "lbctl job: both hosts, whose shares are all of it" within 30 both
like "$(lbctl job "$id")" 'n1 +#+\.+ +[0-9.]+ %' "as bars"

cat >"$tap_tmp/script" <<S
expect ^2 hosts|^3 hosts
expect HOST\* +STATE
expect ^n2 +up
send s
expect HOST +STATE +CPUS\*
send j
expect JOB\* +USER
expect ^$id +lbtest
size 30 60
expect ^$id +lbtest
expect q end$
send \r
expect ^Job $id.0  user lbtest
size 24 120
expect ^n1 +#+
expect ^n2 +#+
size 2 20
send b
size 8 100
expect ^$id +lbtest
absent ^n2
send h
expect ^n2 +up
send ?
expect Keys
send \x1b
expect ^n2 +up
send q
status 0
S
ok "top in a terminal: views, keys, sizes" "$top/tests/cluster/terminal.py" "$tap_tmp/script" "$top/tests/cluster/cluster" head "$LB_BUILD/bin/lbctl" --interval=0.5 top
cat >"$tap_tmp/script" <<S
expect ^n2 +up
run $top/tests/cluster/cluster lbd n2 stop
expect ^n2 +away
colour 1 n2 +away
run $top/tests/cluster/cluster lbd n2 start
expect ^n2 +up
run $top/tests/cluster/cluster lbd head stop
expect OLD:
expect ^n2
run $top/tests/cluster/cluster lbd head start
absent OLD:
size 10 12
expect ^n2
send q
status 0
S
top_in() { env "$@" "$top/tests/cluster/terminal.py" "$tap_tmp/script" "$top/tests/cluster/cluster" head "$LB_BUILD/bin/lbctl" --interval=0.5 top; }
ok "a host that goes stands out in colour; without lbd the last is shown, and said to be old" top_in LB_TERM=xterm-256color
printf 'expect ^n2 +up\nrun %s lbd n2 stop\nexpect ^n2 +away\nplain 1 n2\nsend q\nstatus 0\n' "$top/tests/cluster/cluster" >"$tap_tmp/script"
ok "no colour where NO_COLOR forbids it" top_in LB_TERM=xterm-256color NO_COLOR=1
cluster lbd n2 start
not_ok "(and else there is)" top_in LB_TERM=xterm-256color
like "$(cat "$tap_tmp/out")" 'failed: plain 1 n2; status None' "which is what the test misses"
cluster lbd n2 start
not_ok "top without a terminal" lbctl top
like "$(cat "$tap_tmp/out")" 'top needs a terminal' "says so"

cluster user scancel "$id"
wait "$job" || true
over() { lbctl --json job "$id" | json 'd["jobs"][0]["ended"] > 1e9 or 1/0'; }
ok "after its end it comes from the database" within 60 over
is "$(lbctl --json job "$id" | json 'len(d["jobs"])')" 1 "once"
like "$(lbctl job "$id")" "Job $id.0  user lbtest .* ended 20.* after" "as text"
like "$(lbctl job "$id")" 'n2 +#+' "with its bars"
gone() { [ "$(lbctl --json top | json 'len(d["jobs"])')" = 0 ]; }
ok "and top has it no more" within 60 gone
st=0
cluster on n1 "$LB_BUILD/bin/lbctl" top --once >"$tap_tmp/out" 2>&1 || st=$?
is $st 1 "on a node: refused"
like "$(cat "$tap_tmp/out")" 'no controller' "and why"
cluster lbd head stop
st=0
lbctl job 1 >"$tap_tmp/out" 2>&1 || st=$?
is $st 3 "without lbd: 3"
done_testing
