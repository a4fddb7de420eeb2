#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs that run while something is wrong with lbd: a name that is another's, an unreadable policy.conf, a full disk, a damaged
# database, a host that is booted anew in the middle of a step, a controller that hangs, one that cannot be reached.  Each time a
# step is balanced and ends right, a new job goes to the better host by what was known before, and no host is drained.
# beside others: waits for daemons and jobs; hosts differ by more than a busy machine can hide
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl lb-balancer slurm_plugin/.libs/lb.so bench/cpuloop
export LB_CLUSTER_LBD=no
need_cluster 2
. "$top/tests/lib/jobs.sh"

cluster speed n1 .25
cluster speed n2 .75
printf 'probe { load_interval = 1s }\n' >"$dir/policy.conf"
mkdir -p "$dir/host/head/state"
cluster head mount -t tmpfs -o size=4m tmpfs "$dir/host/head/state"
cluster lbd all start >/dev/null
ok "the better host is known" within 90 better
jobs_run "all is well"

# --- a name that is another's
address=$(sed -n 's/^SlurmctldHost=head(\(.*\))/\1/p' "$dir/slurm.conf")
# shellcheck disable=SC2016
cluster on n2 sh -c 'echo $$ >"$0"; exec "$@"' "$dir/shared/liar.pid" "$LB_BUILD/sbin/lbd" --role=node --controller="$address" --host=n1 \
  --socket="$dir/shared/liar.sock" --state="$dir/shared" --config="$dir/policy.conf" --metrics=off >"$tap_tmp/liar.log" 2>&1 &
liar=$!
ok "name: the liar is refused" within 30 grep -q 'says that it is host n1' "$dir/log/lbd.head.log"
jobs_run name
cluster on n2 kill "$(cat "$dir/shared/liar.pid")"
wait $liar 2>/dev/null || true

# --- policy.conf is garbage
printf 'probe { load_interval = soon\n' >"$dir/policy.conf"
for h in head n1 n2; do kill -HUP "$(pid_of $h)"; done
ok "policy.conf: it is refused" within 30 status_is n1 policy_conf.reload_failures 1
jobs_run policy.conf
printf 'probe { load_interval = 1s }\n' >"$dir/policy.conf"

# --- the controller's disk is full
cluster head dd if=/dev/zero of="$dir/host/head/state/filler" bs=1k count=8k status=none 2>/dev/null || true
ok "full: reports are not acknowledged" within 60 status_above n1 uplink.pending 3
jobs_run full
cluster head rm "$dir/host/head/state/filler"
ok "full: with room again they are" all_acknowledged

# --- its database is damaged
cluster lbd head stop >/dev/null
cluster head dd if=/dev/urandom of="$dir/host/head/state/lbd.db" bs=1k count=8 conv=notrunc status=none
cluster lbd head start >/dev/null
jobs_run damaged
ok "damaged: a fresh one is begun" within 60 status_is head controller.database.resets 1

# --- n2 is booted anew while a step runs: to lbd, its boot id is another
step 500 --hold="$dir/shared/hold" &
long=$!
printf '11111111-2222-3333-4444-555555555555\n' >"$dir/shared/boot_id"
ok "(a step runs)" within 30 cluster on n2 pgrep -x cpuloop
cluster lbd n2 kill >/dev/null
cluster on n2 mount --bind "$dir/shared/boot_id" /proc/sys/kernel/random/boot_id
cluster lbd n2 start >/dev/null
ok "rebooted: the step still runs" cluster on n2 pgrep -x cpuloop
touch "$dir/shared/hold"
st=0
wait $long || st=$?
is "$st $(grep -c 'missing=0 duplicated=0 corrupt=0' "$tap_tmp/step")" "0 1" "rebooted: the step ends well"
# What was known of it is void once it has joined, which may take longer than a step.  A controller that hangs leaves what is known as
# it is, so that it has to be known again by then.
measured_anew() {
  status_is n2 uplink.connected true && status_is n2 node.measured true && cluster head "$LB_BUILD/bin/lbctl" --json rank | grep -q '"n2"'
}
ok "rebooted: it is measured anew" within 90 measured_anew
jobs_run rebooted

# --- the controller hangs, and cannot be reached
kill -STOP "$(pid_of head)"
jobs_run "hanging controller"
kill -CONT "$(pid_of head)"
cluster lbd head kill >/dev/null
ok "no controller: n1 notices" within 60 status_is n1 uplink.connected false
jobs_run "no controller"
ok "no host is drained or down" hosts_are_well
done_testing
