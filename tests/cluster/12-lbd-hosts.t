#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lbd on hosts with quotas: what it finds them worth, that it leaves running jobs alone, and whose name it believes.
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl
export LB_CLUSTER_PLUGIN=no LB_CLUSTER_LBD=no
need_cluster 2
dir=$(cluster dir)
pick() { perl -MJSON::PP -e '
    my $v = decode_json(join "", <STDIN>); my ($host, $key) = @ARGV;
    if ($host) { ($v) = grep { $_->{host} eq $host } @{$v->{hosts}} or exit 1 }
    $v = $v->{$_} for split /\./, $key;
    defined $v or exit 1;
    print ref $v eq "JSON::PP::Boolean" ? ($v ? "true" : "false") : $v' "$@"; }
of_host() { cluster head "$LB_BUILD/bin/lbctl" --json hosts | pick "$@"; } # HOST KEY
status() { cluster on "$1" "$LB_BUILD/bin/lbctl" --json status | pick "" "$2"; } # HOST KEY
of_host_is() { [ "$(of_host "$1" "$2")" = "$3" ]; }
status_is() { [ "$(status "$1" "$2")" = "$3" ]; }
status_above() { [ "$(status "$1" "$2")" -gt "$3" ]; }
compare() { perl -e 'use strict; my $r = eval $ARGV[0]; die $@ if $@; exit !$r' "$1"; } # a condition on numbers
speed_is() { compare "$(of_host "$1" core_speed) $2"; }                                  # HOST CONDITION

cluster speed n1 0.4
cluster speed n2 0.2
printf 'probe { load_interval = 1s }\n' >"$dir/policy.conf"
cluster lbd head start >/dev/null
cluster lbd n1 start >/dev/null
ok "the controller knows n1" within 60 of_host n1 core_speed
without() { cluster head "$LB_BUILD/bin/lbctl" --json hosts | perl -MJSON::PP -e 'print join ",", @{decode_json(<STDIN>)->{without_lbd}}' | grep -x "$1" >/dev/null; }
ok "n2 is known to be Slurm's and to have no lbd" within 60 without n2
cluster lbd n2 start >/dev/null
ok "and n2" within 60 of_host n2 core_speed
is "$(of_host n1 cpus) $(of_host n2 cpus)" "0.4 0.2" "their quotas are seen"
same_hardware() { compare "$(of_host n1 hardware) / $(of_host n2 hardware) > 0.7 && $(of_host n1 hardware) / $(of_host n2 hardware) < 1.4"; }
# one that was disturbed is measured again
same_in_the_end() { same_hardware || { for h in n1 n2; do cluster on $h "$LB_BUILD/bin/lbctl" probe; done && false; }; }
ok "a core's speed is that of the hardware" within 60 same_in_the_end
part_of_it() { speed_is n1 "> 0.2 * $(of_host n1 hardware)"; }
ok "what a task gets is the quota's part of it" within 60 part_of_it
diag "$(cluster head "$LB_BUILD/bin/lbctl" hosts)"
no_more() { speed_is n1 "<= 0.41 * $(of_host n1 hardware)"; }
ok "and no more" within 60 no_more

# --- a competing load
before=$(of_host n2 core_speed)
cluster load n2 --cores 1 >/dev/null
ok "a competing load is seen" within 60 speed_is n2 "< 0.75 * $before"
cluster load n2 off >/dev/null
ok "and its end" within 60 speed_is n2 "> 0.9 * $before"

# --- what lbctl makes of it
ctl() { cluster head "$LB_BUILD/bin/lbctl" "$@"; }
forecast_is_there() { ctl --json forecast n2 | pick "" stable_s; }
ok "the load of n2 is forecast, and how long it stays" within 30 forecast_is_there
like "$(ctl forecast n2)" '[*] [a-z]' "one predictor answers"
like "$(ctl history n2 --since=5m --width=60 --ascii)" '#' "its history is a picture"
like "$(ctl rank)" 's x [0-9.]+ for load' "the ranking says why"
is "$(ctl --json policy show --effective --partition=none | pick "" policy)" auto "what a step would get"
is "$(ctl --json weights user=0.25 task=2 | pick "" user)" 0.25 "weights are set"
is "$(ctl --json policy show | pick "" index.task)" 2 "and in force"
# an interval in which nothing would be seen, and back: the samples show which one is in force
is "$(cluster on n1 "$LB_BUILD/bin/lbctl" --json probe --interval=1h | pick "" load_interval_s)" 3600 "n1 is hardly ever sampled"
samples=$(status n1 node.samples)
is "$(cluster on n1 "$LB_BUILD/bin/lbctl" --json probe --interval=500ms | pick "" load_interval_s)" 0.5 "n1 is sampled more often"
ok "and it is" within 60 status_above n1 node.samples $((samples + 12))
is "$(cluster on n1 "$LB_BUILD/bin/lbctl" hosts >/dev/null 2>&1 || echo $?)" 1 "a node cannot say what only the controller knows"
is "$(ctl hosts --restore >/dev/null 2>&1 || echo $?)" 2 "an option that a command has not is misuse"
ranked() { [ "$(ctl --json rank | perl -MJSON::PP -e 'print join " ", sort map { $_->{host} } @{decode_json(<STDIN>)->{hosts}}')" = "$1" ]; }
is "$(ctl forecast nobody >/dev/null 2>&1 || echo $?)" 1 "an unknown host is refused"
is "$(ctl history nobody >/dev/null 2>&1 || echo $?)" 1 "of its history, too"
is "$(ctl history n2 --width=x >/dev/null 2>&1 || echo $?)" 2 "a width that is none is misuse"
is "$(ctl weights user=x >/dev/null 2>&1 || echo $?)" 2 "so is a weight that is none"
is "$(ctl hosts nobody >/dev/null 2>&1 || echo $?)" 1 "nor is an unknown host shown"
like "$(ctl hosts n1)" 'triad +[0-9.]+ GB/s +[0-9.-]+[ GB/s]+ +[0-9.]+ %' "of one host all kernels are"
is "$(ctl forecast >/dev/null 2>&1 || echo $?)" 2 "and a missing one is misuse"

# --- never while a job runs
runs=$(status n1 node.benchmarks)
cluster head srun -w n1 -N1 -n1 sleep 300 >/dev/null 2>&1 &
job=$!
ok "a job runs on n1" within 30 cluster on n1 pgrep -x slurmstepd
rm -f "$dir/host/n1/state/benchmark"
cluster lbd n1 restart >/dev/null
ok "an lbd that starts beside a job samples" within 30 status_above n1 node.samples 3
is "$(status n1 node.benchmarks) $(status n1 node.measured)" "0 false" "but does not measure"
cluster lbd n2 restart >/dev/null
ok "where it was measured before, it is known at once" within 20 status_is n2 node.measured true
cluster head scancel -u root
wait $job || true
ok "when the job has ended it measures" within 90 status_above n1 node.benchmarks 0
ok "the benchmark was there before, too" test "$runs" -ge 1

# --- a name that is another's
head_address=$(sed -n 's/^SlurmctldHost=head(\(.*\))/\1/p' "$dir/slurm.conf")
# shellcheck disable=SC2016
cluster on n2 sh -c 'echo $$ >"$0"; exec "$@"' "$dir/shared/liar.pid" "$LB_BUILD/sbin/lbd" --role=node \
  --controller="$head_address" --host=n1 --socket="$dir/shared/liar.sock" --state="$dir/shared" \
  --config="$dir/policy.conf" --metrics=off >"$dir/liar.log" 2>&1 &
liar=$!
ok "an lbd on n2 that says it is n1 is refused" within 30 grep -q 'says that it is host n1 and comes from another address' "$dir/log/lbd.head.log"
cluster on n2 kill "$(cat "$dir/shared/liar.pid")"
wait $liar 2>/dev/null || true
is "$(of_host n1 connected)" true "the real one stays connected"

# --- a host that is no node of Slurm's
# shellcheck disable=SC2016
cluster head sh -c 'echo $$ >"$0"; exec "$@"' "$dir/shared/login.pid" "$LB_BUILD/sbin/lbd" --role=node \
  --controller=127.0.0.1 --host=login --socket="$dir/shared/login.sock" --state="$dir/shared/login" \
  --config="$dir/policy.conf" --metrics=off >"$dir/login.log" 2>&1 &
login=$!
ok "a host that Slurm does not have is known as such" within 60 of_host_is login slurm absent
ok "and is not ranked" ranked "n1 n2"
cluster head kill "$(cat "$dir/shared/login.pid")"
wait $login 2>/dev/null || true

# --- without the controller
cluster lbd head kill >/dev/null
ok "n1 notices that the controller is gone" within 30 status_is n1 uplink.connected false
ok "and still ranks two hosts" compare "$(cluster on n1 "$LB_BUILD/bin/lbctl" --json rank | perl -MJSON::PP -e 'print scalar @{decode_json(<STDIN>)->{hosts}}') == 2"
cluster lbd head start >/dev/null
ok "it is back, and n1 with it" within 90 of_host_is n1 connected true
done_testing
