#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What breaks under a running controller: its database locked, full, damaged, of a newer lbd; a node with another clock or another
# boot id.  In all cases the hosts stay ranked, lbd says what is wrong, and what was acknowledged is there afterwards.
# beside others, long: waits for daemons and jobs, whatever the speed of hosts
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl
munge -n </dev/null 2>/dev/null | unmunge >/dev/null 2>&1 || skip_all "munged does not run"
command -v sqlite3 >/dev/null || skip_all "sqlite3 is not installed"
. "$top/tests/lib/lbds.sh"

port=$((20000 + $$ % 3000 * 4)) # three of its own, also beside another test; none that the kernel gives away
head=$tap_tmp/head.sock node=$tap_tmp/node.sock db=$tap_tmp/state/lbd.db
printf 'probe { load_interval = 500ms }\n' >"$tap_tmp/policy.conf"
pid_head='' pid_node='' holder=''
end_all() { kill -CONT $pid_head $pid_node; kill $pid_head $pid_node $holder; } 2>/dev/null
at_end end_all
start_head() { # WRAPPER...
  "$@" "$LB_BUILD/sbin/lbd" --host=head --socket="$head" --state="$tap_tmp/state" --config="$tap_tmp/policy.conf" \
    --listen=127.0.0.1:$port --metrics=127.0.0.1:$((port + 1)) >>"$tap_tmp/head.log" 2>&1 &
  pid_head=$!
  disown $pid_head
}
start_node() { # WRAPPER...
  "$@" "$LB_BUILD/sbin/lbd" --role=node --controller=127.0.0.1:$port --host=n1 --socket="$node" --state="$tap_tmp/node" \
    --config="$tap_tmp/policy.conf" --metrics=off >>"$tap_tmp/node.log" 2>&1 &
  pid_node=$!
  disown $pid_node
}
gone() { ! kill -0 "$1"; }
end_one() { # PID [SIGNAL]
  kill -CONT "$1" 2>/dev/null || true
  kill "-${2:-TERM}" "$1" 2>/dev/null || true
  within 30 gone "$1"
}
ranks() { get_is 2 "$head" rank hosts; }
logged() { grep -q -- "$1" "$tap_tmp/head.log"; }
on_disk() { # SQL: of the file, when no lbd has it
  sqlite3 "$db" "$1"
}
alike() { # what is the same in each case: the service goes on
  ok "$1: the controller answers, and ranks both hosts" within 60 ranks
  ok "$1: the node is connected" within 60 get_is true "$node" status uplink connected
}

start_head
start_node
ok "two hosts are ranked" within 90 ranks
ok "and recorded" within 60 at_least 5 "$node" status uplink acknowledged
ok "and nothing of that waits" all_acknowledged 30

# --- made by a newer lbd
end_one $pid_head
kill -STOP $pid_node
on_disk "PRAGMA user_version = 99" >/dev/null
rows=$(on_disk "SELECT count(*) FROM report_raw")
before=$(sha256sum <"$db")
start_head
ok "newer: it is told, in words" within 30 logged 'made by a newer lbd (version 99 of its tables'
kill -CONT $pid_node
alike newer
is "$(get "$head" status controller database open)" false "newer: nothing is recorded"
like "$(get "$head" status controller database reason)" 'install that lbd, or move the file away' "newer: lbctl says what to do"
ok "newer: nothing is acknowledged, the node keeps its reports" within 30 at_least 3 "$node" status uplink pending
end_one $pid_head
is "$(sha256sum <"$db")" "$before" "newer: not a byte of the file has changed"
known=$(sqlite3 :memory: "SELECT 0" >/dev/null && sed -n 's/.*this lbd knows \([0-9]*\)).*/\1/p' "$tap_tmp/head.log" | tail -n 1)
on_disk "PRAGMA user_version = $known" >/dev/null
start_head
ok "newer: with its own file again all is acknowledged" all_acknowledged 60
end_one $pid_head KILL
ok "newer: all rows of before are there" test "$(on_disk "SELECT count(*) FROM report_raw")" -gt "$rows"

# --- another process has the file
perl -e 'use strict; open my $p, "|-", "sqlite3", $ARGV[0] or die; select $p; $| = 1; print "PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE;\n.shell touch $ARGV[1]\n"; sleep 120' \
  "$db" "$tap_tmp/locked" >/dev/null &
holder=$!
ok "locked: somebody has it" within 30 test -e "$tap_tmp/locked"
start_head
ok "locked: it is told" within 30 logged 'another process has it open'
alike locked
ok "locked: reports wait" within 30 at_least 3 "$node" status uplink pending
kill $holder
ok "locked: when it is free they are recorded" all_acknowledged 60
is "$(get "$head" status controller database open)" true "locked: and it is open"
is "$(get "$head" status controller database dropped)" 0 "locked: nothing has been dropped"

# --- damaged: at start, and under a running lbd
end_one $pid_head
printf 'this is no database any more' | dd of="$db" conv=notrunc status=none
start_head
alike damaged
ok "damaged: a fresh file is begun" within 30 get_is 1 "$head" status controller database resets
ok "damaged: the old one is kept" sh -c 'ls "$0".damaged-*' "$db"
ok "damaged: and reports are acknowledged" all_acknowledged 60
kill -STOP $pid_head
dd if=/dev/urandom of="$db" bs=4096 count=$(($(stat -c %s "$db") / 4096 + 1)) conv=notrunc status=none
dd if=/dev/urandom of="$db-wal" bs=4096 count=$(($(stat -c %s "$db-wal") / 4096 + 1)) conv=notrunc status=none
kill -CONT $pid_head
alike "overwritten"
end_one $pid_head KILL
start_head
alike "overwritten, after a restart"
ok "overwritten: a fresh file is begun" within 60 get_is true "$head" status controller database open
ok "overwritten: and reports are acknowledged" all_acknowledged 60
end_one $pid_head
is "$(on_disk "SELECT count(*) > 0 FROM event WHERE what = 'database_reset'")" 1 "overwritten: the event is recorded"

# --- a node that was booted anew; one with another clock
end_one $pid_node
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
  printf '11111111-2222-3333-4444-555555555555\n' >"$tap_tmp/boot_id"
  start_head
  # shellcheck disable=SC2016
  start_node unshare -m sh -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"' "$tap_tmp/boot_id"
  alike rebooted
  ok "rebooted: its reports are recorded" all_acknowledged 60
  end_one $pid_head
  is "$(on_disk "SELECT count(*) FROM event WHERE what = 'rebooted' AND detail LIKE '11111111-%'")" 1 "rebooted: the event is recorded, once"
  is "$(on_disk "SELECT boot FROM host WHERE name = 'n1'")" 11111111-2222-3333-4444-555555555555 "rebooted: the host has the new boot id"
  end_one $pid_node
else
  skip "a node with a new boot id" "needs root"
fi
faketime=$(find /usr/lib -name libfaketime.so.1 2>/dev/null | head -n 1)
if [ -n "$faketime" ] && ! grep -q 'enable-sanitizers' "$LB_BUILD/config.log"; then
  start_head
  start_node env LD_PRELOAD="$faketime" FAKETIME=+30d DONT_FAKE_MONOTONIC=1 FAKETIME_DONT_FAKE_MONOTONIC=1
  alike "askew by a month"
  ok "askew: its reports are recorded" all_acknowledged 60
  like "$(tail -n 1 "$tap_tmp/node.log")" "^$(date -u -d +30days +%Y-%m)" "(its clock is)"
  young() { lbctl --json --socket="$head" rank | perl -MJSON::PP -e 'my @h = grep { $_->{host} eq "n1" } @{decode_json(join "", <STDIN>)->{hosts}}; exit !(@h == 1 && $h[0]{age_s} < 60)'; }
  ok "askew: they are as old as they are" within 60 young
  end_one $pid_head
  is "$(on_disk "SELECT count(*) FROM report_raw WHERE key >> 20 > strftime('%s', 'now') + 3600")" 0 "askew: the controller's time is recorded"
  end_one $pid_node
else
  skip "a node whose clock is askew" "libfaketime is not installed, or built with sanitizers"
fi

# --- the disk is full
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
  mkdir -p "$tap_tmp/state"
  # shellcheck disable=SC2016
  start_head unshare -m sh -c 'mount -t tmpfs -o size=4m tmpfs "$0" && exec "$@"' "$tap_tmp/state"
  start_node
  alike full
  ok "full: before, all is recorded" all_acknowledged 60
  nsenter -t $pid_head -m dd if=/dev/zero of="$tap_tmp/state/filler" bs=1k count=8k status=none 2>/dev/null || true
  ok "full: lbd notices" within 60 get_like 'full\|disk\|I/O' "$head" status controller database reason
  alike "full, then"
  ok "full: nothing more is acknowledged" within 60 at_least 3 "$node" status uplink pending
  nsenter -t $pid_head -m rm "$tap_tmp/state/filler"
  ok "full: with room again all is recorded" all_acknowledged 60
  is "$(get "$head" status controller database dropped)" 0 "full: nothing has been dropped"
  end_one $pid_node
  end_one $pid_head
else
  skip "a full disk" "needs root"
fi
done_testing
