#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# policy.conf obeyed by jobs: what comes before what, limits, an lbd that is gone or stopped, and the tasks lbd is told of.
# beside others: waits for daemons and jobs, whatever the speed of hosts
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 1
dir=$(cluster dir)
shared=$dir/shared
ctl() { cluster on "$1" "$LB_BUILD/bin/lbctl" --json "${@:2}"; }
# a program that tells of its policy only; on a slow machine the answer may come late once
policy_of() { cluster user "$@" sh -c 'echo "is $LB_POLICY"' 2>"$tap_tmp/err" | sed -n 's/^is //p'; }
policy_is() { [ "$(policy_of "${@:2}")" = "$1" ]; }
balancer() { # a stand-in that ends as lb-balancer does when nobody joined
  cat >"$shared/balancer" <<'X'
#!/usr/bin/perl
$SIG{TERM} = sub { exit 0 };
sleep 60 while 1;
X
  chmod 755 "$shared/balancer"
}
balancer
cluster plugin "$LB_BUILD/slurm_plugin/.libs/lb.so" "balancer=$shared/balancer"
conf() { # the text on stdin comes into force on all hosts
  cat >"$dir/policy.conf"
  cluster lbd all restart >/dev/null
}

conf <<'X'
policy = "liu,period=1s"
partition "second" {
    policy = "static"
    mode = opt-out
}
account "physics" {
    policy = "siegell"
}
limits {
    policies = {"liu", "static", "none", "siegell"}
    least_period = 100ms
    trace = false
}
X
ok "the default of --lb is the site's" within 30 policy_is "liu,period=1s" srun --lb
ok "keys alone are added to it" within 30 policy_is "liu,period=1s,report" srun --lb=report
ok "a policy that is named stands for itself" within 30 policy_is none srun --lb=none
ok "SLURM_LB likewise" within 30 policy_is "liu,period=2s" env SLURM_LB=period=2s srun
ok "the option comes before SLURM_LB" within 30 policy_is "liu,period=1s" env SLURM_LB=none srun --lb
ok "opt-in: who does not ask is left alone" within 30 policy_is "" srun
ok "opt-out: who does not ask is balanced" within 30 policy_is static srun -p second
ok "but for --lb=off" within 30 policy_is off srun -p second --lb=off
ok "or SLURM_LB=off" within 30 policy_is off env SLURM_LB=off srun -p second
ok "the partition's default comes before the site's" within 30 policy_is static srun -p second --lb
ok "the account's comes before the site's" within 30 policy_is siegell srun -A physics --lb
ok "and before the partition's, whose mode still holds" within 30 policy_is siegell srun -A physics -p second
ok "salloc --lb holds for its steps" within 30 policy_is "static,report" salloc -Q --lb=report -p second srun
: >"$shared/off"
cluster plugin "$LB_BUILD/slurm_plugin/.libs/lb.so" "balancer=$shared/balancer" "killswitch=$shared/off"
ok "the kill switch comes before all of it" within 30 policy_is "" srun -p second
rm "$shared/off"

# --- limits
refused() { # REASON CMD...: nothing is submitted
  local reason=$1 before
  shift
  before=$(cluster head scontrol show config | sed -n 's/^NEXT_JOB_ID *= //p')
  ! cluster user "$@" >"$tap_tmp/refused" 2>&1 || return 1
  [ "$(cluster head scontrol show config | sed -n 's/^NEXT_JOB_ID *= //p')" = "$before" ] &&
    grep -q "$reason" "$tap_tmp/refused"
}
ok "a policy that is not allowed is refused, with those that are" within 30 refused '"auto" is not allowed here: there are liu,static,none,siegell' srun --lb=auto true
ok "so in sbatch" within 30 refused '"auto" is not allowed here' sbatch --lb=auto --wrap true
ok "and in SLURM_LB" within 30 refused '"auto" is not allowed here' env SLURM_LB=auto srun true
ok "a period below the least" within 30 refused 'period=0.05s is below the site.s limit: at least 0.1s' srun --lb=liu,period=50ms true
ok "a trace where there may be none" within 30 refused 'trace= is not allowed' salloc --lb=liu,trace=/tmp/x true
ok "at the limit is allowed" within 30 policy_is "liu,period=100ms" srun --lb=liu,period=100ms
# round srun's own check: a client whose host has no lbd
cluster lbd head kill >/dev/null
ok "what comes round srun's check is left alone" within 30 policy_is off srun --lb=auto
cluster lbd head start >/dev/null

# --- without lbd
cluster lbd all kill >/dev/null
is "$(policy_of srun --lb)" auto "lbd dead: --lb as if there were no policy.conf"
is "$(policy_of srun -p second)" "" "lbd dead: who does not ask is left alone"
is "$(policy_of srun --lb=auto,period=10ms)" "auto,period=10ms" "lbd dead: no limits"
cluster lbd all restart >/dev/null
stopped=$(cluster lbd n1 status | cut -d' ' -f3-)
# shellcheck disable=SC2086
kill -STOP $stopped
is "$(policy_of srun -p second)" "" "lbd stopped: who does not ask is left alone"
is "$(policy_of srun --lb=liu)" liu "lbd stopped: who asks gets what he asked for"
# shellcheck disable=SC2086
kill -CONT $stopped
ok "lbd goes on: the site's default again" within 30 policy_is static srun -p second

# --- a changed file
printf 'policy = "none"\n' >"$dir/policy.conf"
for p in $(cluster lbd all status | cut -d' ' -f3-); do kill -HUP "$p"; done
ok "a file read again is obeyed" within 30 policy_is none srun --lb
printf 'policy = "nonesense"\n' >"$dir/policy.conf"
for p in $(cluster lbd all status | cut -d' ' -f3-); do kill -HUP "$p"; done
ok "(a bad one is noticed)" within 30 grep -q 'the old configuration stays in force' "$dir/log/lbd.n1.log"
ok "a bad file leaves the old one in force" within 30 policy_is none srun --lb

# --- tasks that asked for nothing count
tasks() { ctl n1 status | perl -MJSON::PP -e 'print decode_json(join "", <STDIN>)->{node}{tasks}'; }
tasks_are() { [ "$(tasks)" = "$1" ]; }
ok "no tasks are known" within 30 tasks_are 0
cluster user srun -n3 -J plain sleep 300 >/dev/null 2>&1 &
plain=$!
ok "lbd knows of the tasks of a step without --lb" within 30 tasks_are 3
cluster user srun -n1 --overlap -J plain --lb=off sleep 300 >/dev/null 2>&1 &
off=$!
ok "and of one with --lb=off" within 30 tasks_are 4
cluster head scancel -n plain
wait $plain $off || true
ok "and of their end" within 30 tasks_are 0
ok "no host is drained or down" hosts_are_well
done_testing
