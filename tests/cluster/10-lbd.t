#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two lbds on loopback: a controller and a node.  What they answer, what they refuse, and what outlives a kill.
# beside others: waits for daemons and jobs, whatever the speed of hosts
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl
munge -n </dev/null 2>/dev/null | unmunge >/dev/null 2>&1 || skip_all "munged does not run"
. "$top/tests/lib/lbds.sh"

port=$((20000 + $$ % 3000 * 4)) # three of its own, also beside another test; none that the kernel gives away
head=$tap_tmp/head.sock node=$tap_tmp/node.sock
printf 'probe { load_interval = 500ms }\nindex { task = 1.5 }\n' >"$tap_tmp/policy.conf"
printf 'probe { load_interval = 500ms }\n' >"$tap_tmp/node.conf"
pid_head='' pid_node=''
end_all() { kill -CONT $pid_head $pid_node && kill $pid_head $pid_node; } 2>/dev/null
at_end end_all

start_head() {
  "$LB_BUILD/sbin/lbd" --host=head --socket="$head" --state="$tap_tmp/state" --config="$tap_tmp/policy.conf" \
    --listen=127.0.0.1:$port --metrics=127.0.0.1:$((port + 1)) >>"$tap_tmp/head.log" 2>&1 &
  pid_head=$!
  disown $pid_head
}
start_node() {
  "$LB_BUILD/sbin/lbd" --role=node --controller=127.0.0.1:$port --host=n1 --socket="$node" --state="$tap_tmp/node" --config="$tap_tmp/node.conf" \
    --metrics=127.0.0.1:$((port + 2)) >>"$tap_tmp/node.log" 2>&1 &
  pid_node=$!
}
head_is_gone() { ! kill -0 $pid_head; }
ranks() { get_is "$2" "$1" rank hosts; }
http() { perl -MIO::Socket::INET -e '
    my ($port, @lines) = @ARGV;
    my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port, Timeout => 5) or exit 1;
    print $s join("\r\n", @lines, "Host: x", "Connection: close", "", ""); local $/; print scalar <$s>' "$@"; }
metric() { # PORT SERIES
  http "$1" "GET /metrics HTTP/1.1" | sed -n "s/^${2//[/\\[} //p"
}
metric_above() { awk -v v="$(metric "$1" "$2")" -v m="$3" 'BEGIN { exit !(v != "" && v + 0 > m + 0) }'; }
# Send HEX to a socket (a path, or a port of loopback), say what comes back in hex, until it is closed or enough has come.
talk() { # SOCKET|PORT HEX [MOST [SECONDS that the process lives on]]
  perl -MIO::Socket::UNIX -MIO::Socket::INET -e '
    my ($to, $hex, $most, $stay) = @ARGV;
    local $SIG{ALRM} = sub { print "timeout"; exit 3 }; alarm 20 + $stay; $SIG{PIPE} = "IGNORE";
    my $s = $to =~ m{/} ? IO::Socket::UNIX->new(Peer => $to) : IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $to);
    $s or do { print "no connection"; exit 2 };
    syswrite $s, pack("H*", $hex); my $got = "";
    while (length $got < $most) { my $n = sysread $s, my $part, 65536; last unless $n; $got .= $part }
    print unpack("H*", $got), length $got < $most ? " closed" : ""; $| = 1; print ""; sleep $stay if $stay' "$1" "$2" "${3:-1000000}" "${4:-0}"
}

# --- together
start_head
start_node
ok "the controller's lbd answers" within 20 lbctl --socket="$head" status
ok "the node's lbd answers" within 20 lbctl --socket="$node" status
ok "both hosts are ranked on the controller" within 60 ranks "$head" 2
ok "both hosts are ranked on the node" within 60 ranks "$node" 2
is "$(get "$node" status uplink connected)" true "the node is connected"
like "$(lbctl --socket="$head" hosts)" 'n1 +up' "lbctl hosts shows the node"
like "$(lbctl --socket="$node" rank)" 'RANK +HOST +INDEX' "lbctl rank is a table"
is "$(talk "$node" 00000003920101 5 | cut -c9-10)" 9b "a host is told what it is worth"
ok "reports are acknowledged when they are on disk" all_acknowledged 20

# --- the past, which the controller reads from its database; the socket's own words: [version 1, COMMAND 4, text]
past() { # COMMAND: the answer's text
  perl -MIO::Socket::UNIX -e '
    my ($path, $text) = @ARGV; local $SIG{ALRM} = sub { exit 3 }; alarm 20;
    my $s = IO::Socket::UNIX->new(Peer => $path) or exit 2;
    my $body = pack("C3 C2", 0x93, 1, 4, 0xd9, length $text) . $text;
    syswrite $s, pack("N", length $body) . $body; my $got = "";
    while (length $got < 4 or length $got < 4 + unpack("N", $got)) { sysread $s, $got, 65536, length $got or last }
    print $got =~ /(\{.*\})/s ? $1 : substr $got, 9' "$head" "$1"
}
past_has() { past "$1" | grep -- "$2" >/dev/null; } # COMMAND REGEX
ok "the history of a host has raw reports" within 20 past_has "history n1 -600 0 raw 5" '"rows":[[][[][0-9]*,1,[0-9.]*,'
like "$(past "history n1 -600 0 raw 1")" '"columns":\["at","reports","core_speed","capacity".*"next":[0-9]+' "one point at a time says where to go on"
like "$(past "history nowhere -600 0 auto")" 'nowhere. has never reported' "of an unknown host it says so"
like "$(past "history n1 yesterday 0 raw")" 'write history HOST FROM TO' "a wrong question is told the right form"
is "$(past "jobs -600 0")" '{"jobs":[],"more":false}' "no step has ended"
is "$(past "job 7")" '{"jobs":[],"more":false}' "there is no job 7"

# --- garbage and caps
before=$(get "$node" status socket bad)
is "$(talk "$node" ffffffff)" " closed" "a frame that is too long closes the connection"
is "$(talk "$node" 00000000)" " closed" "an empty frame closes it"
is "$(talk "$node" 000000049201010a)" " closed" "a byte behind a message closes it"
is "$(talk "$node" 000000029201)" " closed" "a message that is cut off closes it"
is "$(talk "$node" 00000003920201)" " closed" "another version closes it"
is "$(talk "$node" 00000003920121)" " closed" "an answer is no question"
ok "they are counted" test "$(get "$node" status socket bad)" -ge $((before + 5))
is "$(talk $port ffffffff | sed 's/^.* //')" closed "a frame that is too long closes a node's connection"
is "$(talk $port 000000079303020301020304 | sed 's/^.* //')" closed "garbage does"
ok "they are counted, too" within 30 metric_above $((port + 1)) 'lbd_controller_refused_total{reason="garbage"}' 1
forged=$(munge -s "slurm-lb node session" | tr -d '\n')
hello=$(printf '%s' "$forged" | perl -e 'local $/; my $t = <STDIN>; my $b = "\x93\x03\x02\xda" . pack("n", length $t) . $t; print unpack("H*", pack("N", length $b) . $b)')
is "$(talk $port "$hello" | sed 's/^.* //')" closed "a credential without our nonce is refused"
ok "it is counted" within 30 metric_above $((port + 1)) 'lbd_controller_refused_total{reason="credential"}' 0
ok "the controller still answers" lbctl --socket="$head" rank

# --- who may what
if [ "$(id -u)" = 0 ]; then
  as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
  talk "$node" 0000000796010301070002 7 600 >"$tap_tmp/told" & # as slurmstepd: tasks of one that is gone are forgotten
  teller=$!
  ok "root tells of tasks" within 20 grep -qx 00000003920121 "$tap_tmp/told"
  ok "they are counted" get_is 2 "$node" status node tasks
  is "$(talk "$node" 0000000796010300070002 7)" 00000003920121 "root tells of their end"
  ok "and counted no more" get_is 0 "$node" status node tasks
  is "$(talk "$node" 0000000796010301080003 7)" 00000003920121 "tasks whose teller is gone"
  ok "are forgotten" within 20 get_is 0 "$node" status node tasks
  kill $teller
  wait $teller 2>/dev/null || true
  cp "$LB_BUILD/bin/.libs/lbctl" "$tap_tmp/lbctl" 2>/dev/null || cp "$LB_BUILD/bin/lbctl" "$tap_tmp/lbctl"
  like "$(as_nobody "$tap_tmp/lbctl" --socket="$node" status 2>&1)" 'permission denied' "a user may give no commands"
else
  skip "who may tell of tasks" "needs root"
fi

# --- metrics
page=$(http $((port + 1)) "GET /metrics HTTP/1.1")
like "$page" 'lbd_host_cpus [0-9.]+' "/metrics shows the host"
like "$page" 'lbd_database_rows_total [1-9]' "/metrics shows the database"
like "$(http $((port + 1)) "GET /metrics HTTP/1.1" "Accept: application/openmetrics-text; version=1.0.0")" '# EOF' "OpenMetrics when it is asked for"
like "$(http $((port + 1)) "GET /etc/passwd HTTP/1.1")" '^HTTP/1.1 404' "nothing else is there"
like "$(http $((port + 1)) "DELETE /metrics HTTP/1.1")" '^HTTP/1.1 405' "it is read only"
if command -v promtool >/dev/null; then
  for p in 1 2; do
    http $((port + p)) "GET /metrics HTTP/1.0" | sed '1,/^\r$/d' >"$tap_tmp/page"
    ok "promtool finds the page of lbd $p right" promtool check metrics <"$tap_tmp/page"
  done
else
  skip "promtool" "prometheus is not installed"
fi
perl -MIO::Socket::INET -e '
  my @s = map { my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]); print $s "GET /met" if $s; $s } 1 .. 20;
  sleep 60' $((port + 1)) &
slow=$!
end_slow() { kill "$slow" 2>/dev/null; }
at_end end_slow
ok "twenty clients that send half a header keep nobody out" within 20 metric_above $((port + 1)) lbd_host_cpus 0
end_slow || true

# --- configuration
is "$(get "$head" "policy show" index task)" 1.5 "policy.conf is in force"
printf 'index {\n task = -4\n}\n' >"$tap_tmp/policy.conf"
kill -HUP $pid_head
ok "a bad file is refused" within 30 get_is 1 "$head" status policy_conf reload_failures
is "$(get "$head" "policy show" index task)" 1.5 "the old one stays in force"
like "$(cat "$tap_tmp/head.log")" 'policy.conf:2: task = -4: .*old configuration stays' "file, line and reason are logged"
not_ok "lbctl says so, too" lbctl policy check "$tap_tmp/policy.conf"
printf 'probe { load_interval = 500ms }\nindex { task = 2.5 }\n' >"$tap_tmp/policy.conf"
ok "lbctl finds the next one right" lbctl policy check "$tap_tmp/policy.conf"
kill -HUP $pid_head
ok "a good file comes into force" within 30 get_is 2.5 "$head" "policy show" index task

# --- the controller is killed
some_acknowledged() { [ "$(get "$node" status uplink acknowledged)" -gt 3 ]; }
within 60 some_acknowledged || true
acknowledged=$(get "$node" status uplink acknowledged)
kill -STOP $pid_node
kill -KILL $pid_head
within 10 head_is_gone
if command -v sqlite3 >/dev/null; then
  mkdir "$tap_tmp/copy"
  cp "$tap_tmp"/state/lbd.db* "$tap_tmp/copy"
  on_disk=$(sqlite3 "$tap_tmp/copy/lbd.db" "select count(*) from report_raw join host on host.id = key & 1048575 where name = 'n1'")
  ok "each of $acknowledged acknowledged reports is on disk ($on_disk)" \
    test "$acknowledged" -gt 3 -a "$on_disk" -ge "$acknowledged"
else
  skip "acknowledged reports are on disk" "sqlite3 is not installed"
fi
start_head
ok "it comes up again, the socket of the dead one notwithstanding" within 20 lbctl --socket="$head" status
is "$(get "$head" hosts hosts)" 2 "it knows the hosts at once"
kill -CONT $pid_node
ok "the node connects again" within 60 get_is true "$node" status uplink connected
ok "what it kept meanwhile is acknowledged" all_acknowledged 30
kill -KILL $pid_head
within 10 head_is_gone
ok "without a controller the node notices" within 20 get_is false "$node" status uplink connected
is "$(get "$node" rank hosts)" 2 "and still answers with the last ranking"
is "$(get "$node" status uplink dropped)" 0 "nothing has been dropped"

# --- beginning and end
not_ok "a second lbd at a socket does not start" "$LB_BUILD/sbin/lbd" --host=x --socket="$node" --state="$tap_tmp/x" \
  --config="$tap_tmp/node.conf" --listen=127.0.0.1:0 --metrics=off
like "$(cat "$tap_tmp/out")" 'another lbd listens' "and says why"
not_ok "a configuration that is not there" "$LB_BUILD/sbin/lbd" --host=x --socket="$tap_tmp/x.sock" --config="$tap_tmp/none"
like "$(cat "$tap_tmp/out")" "$tap_tmp/none" "is named"
st=0
lbctl --socket="$tap_tmp/none" rank >/dev/null 2>"$tap_tmp/out" || st=$?
is $st 3 "lbctl's status without an lbd"
like "$(cat "$tap_tmp/out")" 'is lbd running' "and its words"
st=0
lbctl frobnicate >/dev/null 2>&1 || st=$?
is $st 2 "lbctl's status for a word it does not know"
if grep -q fsanitize "$LB_BUILD/config.log" 2>/dev/null && grep -q 'enable-sanitizers' "$LB_BUILD/config.log"; then
  skip "memory" "built with sanitizers"
else
  ok "the node's lbd takes less than 16 MiB" test "$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid_node/status)" -lt 16384
fi
is "$(sed -n 's/^SigIgn:.*\(.\)...$/\1/p' /proc/$pid_node/status)" 1 "SIGPIPE is ignored"
kill -TERM $pid_node
st=0
wait $pid_node || st=$?
is $st 0 "SIGTERM ends it well"
not_ok "its socket is gone" test -e "$node"
done_testing
