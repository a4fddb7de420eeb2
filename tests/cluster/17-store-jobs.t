#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs that run while the controller can record nothing, since a newer lbd has made its database or another process has it, while
# clocks of nodes are askew, and where lbd does not know one of Slurm's hosts.  Each time a step is balanced and ends right, a new
# job goes to the better host by what was known before, and what was acknowledged is on disk.
# beside others: waits for daemons and jobs; hosts differ by more than a busy machine can hide
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl lb-balancer slurm_plugin/.libs/lb.so bench/cpuloop
command -v sqlite3 >/dev/null || skip_all "sqlite3 is not installed"
export LB_CLUSTER_LBD=no
need_cluster 2
. "$top/tests/lib/jobs.sh"
db=$dir/host/head/state/lbd.db
on_disk() { sqlite3 "$db" "$1"; } # SQL: when no lbd has it

cluster speed n1 .25
cluster speed n2 .75
printf 'probe { load_interval = 1s }\n' >"$dir/policy.conf"
cluster lbd all start >/dev/null
ok "the better host is known" within 90 better
ok "and what is known is on disk" all_acknowledged

# --- made by a newer lbd
cluster lbd head stop >/dev/null
known=$(on_disk 'PRAGMA user_version')
rows=$(on_disk 'SELECT count(*) FROM report_raw')
on_disk 'PRAGMA user_version = 99' >/dev/null
before=$(sha256sum <"$db")
cluster lbd head start >/dev/null
ok "newer: nothing is recorded" within 60 status_is head controller.database.open false
jobs_run newer
ok "newer: the nodes keep what they have to tell" within 60 status_above n1 uplink.pending 2
cluster lbd head stop >/dev/null
is "$(sha256sum <"$db")" "$before" "newer: not a byte of the file has changed"
on_disk "PRAGMA user_version = $known" >/dev/null

# --- another process has it
perl -e 'use strict; open my $p, "|-", "sqlite3", $ARGV[0] or die; select $p; $| = 1; print "PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE;\n.shell touch $ARGV[1]\n"; sleep 200' \
  "$db" "$tap_tmp/locked" >/dev/null &
holder=$!
end_holder() { kill $holder 2>/dev/null; }
at_end end_holder
ok "locked: somebody has it" within 30 test -e "$tap_tmp/locked"
cluster lbd head start >/dev/null
ok "locked: nothing is recorded" within 60 status_is head controller.database.open false
jobs_run locked
end_holder || true
ok "locked: when it is free all is recorded" all_acknowledged
is "$(status head controller.database.open) $(status head controller.database.dropped)" "true 0" "locked: and nothing was lost"

# --- clocks askew: that of the host that srun asks, and that of the better one
faketime=$(find /usr/lib -name libfaketime.so.1 2>/dev/null | head -n 1)
if [ -n "$faketime" ] && ! grep -q 'enable-sanitizers' "$LB_BUILD/config.log"; then
  address=$(sed -n 's/^SlurmctldHost=head(\(.*\))/\1/p' "$dir/slurm.conf")
  # MUNGE lets no host with such a clock speak to Slurm: as srun itself has the true one here, so has lb-slurm
  printf '#!/bin/sh\nunset LD_PRELOAD FAKETIME\nexec "%s"\n' "$LB_BUILD/lb-slurm" >"$dir/lb-slurm"
  chmod +x "$dir/lb-slurm"
  askew() { # HOST BY
    cluster lbd "$1" stop >/dev/null
    # shellcheck disable=SC2016
    cluster on "$1" sh -c 'setsid env "$@" >>"$0" 2>&1 </dev/null &' "$dir/log/lbd.$1.log" LD_PRELOAD="$faketime" FAKETIME="$2" FAKETIME_DONT_FAKE_MONOTONIC=1 \
      "$LB_BUILD/sbin/lbd" --role=node --controller="$address" --state="$dir/host/$1/state" --config="$dir/policy.conf" --slurm="$dir/lb-slurm"
  }
  askew n1 +30d
  askew n2 -2d
  ok "askew: both are connected" within 60 eval 'status_is n1 uplink.connected true && status_is n2 uplink.connected true'
  like "$(tail -n 1 "$dir/log/lbd.n1.log")" "^$(date -u -d +30days +%Y-%m)" "(the clock of n1 is)"
  jobs_run askew
  ok "askew: all is recorded" all_acknowledged
  young() { cluster head "$LB_BUILD/bin/lbctl" --json rank | perl -MJSON::PP -e 'my @h = @{decode_json(join "", <STDIN>)->{hosts}}; exit !(@h == 2 && !grep { $_->{age_s} > 60 } @h)'; }
  ok "askew: and as old as it is" within 30 young
  cluster lbd n1 restart >/dev/null
  cluster lbd n2 stop >/dev/null
else
  skip "clocks that are askew" "libfaketime is not installed, or built with sanitizers"
  cluster lbd n2 stop >/dev/null
fi

# --- a host of Slurm's that lbd does not know
cluster lbd head stop >/dev/null
is "$(on_disk "SELECT count(*) FROM report_raw WHERE key >> 20 NOT BETWEEN strftime('%s', 'now') - 3600 AND strftime('%s', 'now') + 60")" 0 "the controller's time is recorded"
ok "all rows of before are there" test "$(on_disk 'SELECT count(*) FROM report_raw')" -gt "$rows"
rm -f "$db" "$db-wal" "$db-shm"
cluster lbd head start >/dev/null
ranked() { [ "$(cluster on n1 "$LB_BUILD/bin/lbctl" --json rank | perl -MJSON::PP -e 'print join " ", map { $_->{host} } @{decode_json(join "", <STDIN>)->{hosts}}')" = "$1" ]; }
ok "unknown: n1 alone is ranked" within 90 ranked n1
ok "unknown: a step on both is balanced, each iteration once" right
ok "unknown: a new job with --lb=hosts runs" n1_user srun --lb=hosts -N1 -n1 true
ok "no host is drained or down" hosts_are_well
done_testing
