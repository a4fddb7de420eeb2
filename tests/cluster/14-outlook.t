#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the history of a host says, from its samples to a job's decisions: how long its load stays, and whether the host is slower
# than it was.
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl bench/cpuloop lb-balancer slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 2
dir=$(cluster dir)
shared=$dir/shared
ctl() { cluster on "$1" "$LB_BUILD/bin/lbctl" "${@:2}"; } # HOST WORD...
holds() { awk "BEGIN { exit !($1) }"; }                   # a condition on numbers
cluster speed n1 .4
cluster speed n2 .2
printf 'probe { load_interval = 500ms jitter = 0 }\n' >"$dir/policy.conf"

# speeds that differ are planned for as soon as they are seen: the first plan has what is expected at the beginning
job() { # TRACE; on a busy machine the balancer may be given up before it has planned
  local i
  for i in 1 2 3; do
    one_job "$1" || return
    [ "$(expected "$1")" = null ] || return 0
  done
  return 1
}
one_job() { # TRACE
  cluster user timeout 120 srun --mpi=pmix --lb="auto,trace=$shared/$1" -N2 -n2 "$LB_BUILD/bench/cpuloop" --iterations 700 </dev/null >"$tap_tmp/job" 2>"$tap_tmp/err"
}
expected() { jq -s '[.[] | select(.event == "decision" and .kind == "plan")][0].stable_s' "$shared/$1"; }
worth() { cluster user srun --lb -w "$1" -N1 -n1 printenv LB_HOST_SPEED 2>/dev/null; }

# --- without lbd a job knows only what it sees
ok "a job without lbd" job alone
alone=$(expected alone)
ok "expects its hosts to stay as they are for seconds ($alone)" holds "$alone > 0 && $alone < 30"

# --- with it, what the hosts' histories say
cluster lbd all start >/dev/null
stays() { ctl "$1" --json rank | jq -e ".hosts[] | select(.host == \"$2\") | .stable_s"; } # as HOST knows of HOST
known() { holds "$(stays n1 n1) > 60 && $(stays n1 n2) > 60 && $(stays n2 n2) > 60"; }
ok "the controller tells the hosts how long their loads will stay" within 90 known
for i in 1 2 3; do # on a busy machine the plugin goes on without lbd's answer, as it may
  IFS=: read -r _ _ _ handed <<<"$(worth n1)"
  [ -z "$handed" ] || break
done
ok "a task is handed it (${handed:-nothing})" holds "${handed:-0} > 60"
before=$(stays n1 n2)
ok "a job with lbd" job calm
calm=$(expected calm)
ok "its balancer plans with it ($calm)" holds "$calm > 60 && $calm > 2 * $alone"

# --- a load that comes and goes on one of them
cluster load n2 --cores 1 --period 4 --duty 0.5 >/dev/null
restless() { holds "$(stays n1 n2) < 0.4 * $before"; }
ok "n2, whose load comes and goes, will not stay" within 120 restless
longer() { holds "$(stays n1 n1) > $(stays n1 n2)"; }
ok "n1 will, as before" within 30 longer
cluster load n2 off >/dev/null
n2=$(stays n2 n2)
ok "a job on both" job restless
later=$(stays n2 n2) # what n2 said when the job began is between the two
restless=$(expected restless)
least=$(jq -n "[$n2, $later] | min") most=$(jq -n "[$n2, $later] | max")
ok "plans with the shorter one ($restless; n2 $least to $most)" holds "$restless < 0.6 * $before && $restless > 0.3 * $least && $restless < 1.3 * $most"

# --- a host slower than it was: its history is made twice as fast
state=$dir/host/n2/state/benchmarks
ok "n2 remembers its benchmarks" within 60 test -s "$state"
cluster lbd n2 stop >/dev/null
perl -i -ne 'if ($. == 1) { print } else { $last = join(" ", map { 2 * $_ } split) . "\n" } print $last x 3 if eof' "$state"
is "$(wc -l <"$state")" 4 "a history of three"
cluster lbd n2 start >/dev/null
measured() { [ "$(ctl n2 --json status | jq .node.benchmarks)" -ge "$1" ]; }
slow() { ctl head --json hosts | jq -e '.hosts[] | select(.host == "n2") | .slow.ratio'; }
metric() { cluster on n2 perl -MIO::Socket::INET -e '
  my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => 6826) or exit 1;
  print $s "GET /metrics HTTP/1.0\r\n\r\n"; while (<$s>) { print $1 if /^lbd_host_own_history_ratio (\S+)/ }'; }
ok "it is measured" within 90 measured 1
not_ok "one slow benchmark is bad luck" slow
again() { measured 2 || { ctl n2 probe && false; }; }
ok "it is measured again" within 90 again
ok "the second one marks the host" within 30 slow
like "$(ctl head hosts)" 'slower than it was: [a-z]+ at 0\.[0-9]+ of its own history' "lbctl says so"
on_page() { holds "$(metric) > 0.2 && $(metric) < 0.85"; }
ok "so does the host's page, which is made anew now and then" within 30 on_page
ok "and the controller's log" within 30 grep -q 'host n2 is slower than it was' "$dir/log/lbd.head.log"
done_testing
