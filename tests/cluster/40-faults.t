#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The whole chain on a real cluster, with its parts dying, stopping and being spoken to by strangers while a job runs: every
# iteration is run once, with its row intact, and the job ends as it would have.
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop lb-balancer sbin/lbd
need_cluster 4
# shellcheck source=/dev/null
. "$top/tests/fault/lib.sh"
fault_hosts

# The process of the balancer of the only job, as its host sees it; waits until it is there.
balancer_pid() {
  local i pid
  for ((i = 0; i < 100; i++)); do
    pid=$(cluster on n1 pgrep -x lb-balancer) && [ -n "$pid" ] && [ "$(wc -w <<<"$pid")" = 1 ] && { echo "$pid"; return; }
    sleep 0.05
  done
  return 1
}

sum() { # KEY: of the cpuloop line
  sed -n "s/^cpuloop .*$1=\([0-9.]*\).*/\1/p" "$tap_tmp/job"
}

# --- as it should be
for _ in 1 2 3; do # by its first shares or by moves: lbd may know the hosts well enough for none to be needed
  job --lb=auto -N4 -n4 -- "$loop" --iterations 2000
  ok "a job with --lb ends well" job_end
  ok "every iteration once, every row intact" complete
  if [ "$(sum moved_iterations)" -gt 0 ]; then break; fi
done
ok "iterations moved off the slow host" test "$(sum moved_iterations)" -gt 0
job --lb=auto -N4 -n4 -- "$loop" --iterations 1000 --passes 3
ok "three passes end well" job_end
ok "each of them complete" complete

# --- numbers that round badly
for n in 0 1 3 4 5; do
  job --lb=auto -N4 -n4 -- "$loop" --iterations $n
  ok "N = $n over 4 ranks ends well" job_end
  ok "N = $n is complete" complete
done
job --lb=auto -N1 -n1 -- "$loop" --iterations 100
ok "one rank alone ends well" job_end
ok "one rank alone is complete" complete

# --- whose process it is
held_job --lb=auto -N4 -n4 -- --iterations 1000
pid=$(balancer_pid) || pid=
folder() { cluster on n1 sh -c 'ls /tmp/slurm-lb.*/balancer.sock'; }
ok "(the balancer has its folder)" during folder
uid=$(cluster user id -u)
is "$(cluster on n1 sh -c "awk '/^Uid/ {print \$2, \$3, \$4, \$5}' /proc/$pid/status")" "$uid $uid $uid $uid" \
  "the balancer has the user's real, effective, saved and file ids"
is "$(cluster on n1 sh -c "awk '/^Gid/ {print \$2, \$3, \$4, \$5}' /proc/$pid/status")" "$uid $uid $uid $uid" "and group ids"
is "$(cluster on n1 sh -c "awk '/^Groups/ { for (i = 2; i <= NF; i++) print \$i }' /proc/$pid/status" | grep -vx "$uid" | sort)" \
  "$(cluster user id -G | tr ' ' '\n' | grep -vx "$uid" | sort)" "and the user's groups, no others"
is "$(cluster on n1 sh -c "awk '/^CapEff|^CapPrm/ {print \$2}' /proc/$pid/status | sort -u")" 0000000000000000 "and no capability"
# What may be open: the null device, and what a process makes for itself.
is "$(cluster on n1 sh -c "ls -l /proc/$pid/fd | sed -n 's/.* -> //p' | grep -vE '^(/dev/null|socket:|pipe:|anon_inode:)'" || true)" "" \
  "no file is open in it but the null device"
is "$(cluster on n1 sh -c "tr '\\0' '\\n' </proc/$pid/cmdline | grep -cE '[0-9a-f]{32}'" || true)" 0 "no secret is among its arguments"
ok "the job ends well" held_end
no_balancer() { ! on_host n1 lb-balancer; }
no_folder() { [ -z "$(cluster on n1 sh -c 'ls -d /tmp/slurm-lb.* 2>/dev/null')" ]; }
ok "the balancer is gone with the step" within 2 no_balancer
ok "and so is its folder" within 2 no_folder

# --- the balancer dies
trace=$(cluster dir)/shared/trace
moved() { grep -q '"move"' "$trace"; }
for signal in KILL STOP; do
  cluster head rm -f "$trace"
  held_job --lb="auto,trace=$trace" -N4 -n4 -- --iterations 1000
  pid=$(balancer_pid) || pid=
  ok "iterations have moved" during moved
  ok "SIG$signal reaches the balancer in the middle" cluster on n1 kill -$signal "$pid"
  ok "the job ends well after SIG$signal" held_end
  ok "complete after SIG$signal" complete
  ok "nothing is left of the balancer after SIG$signal" within 2 no_balancer
done

# --- strangers at the balancer's port
held_job --lb=auto -N4 -n4 -- --iterations 1000
pid=$(balancer_pid) || pid=
ports() { cluster on n1 sh -c "ss -Hltnp | sed -n 's/.*:\([0-9]*\) .*lb-balancer.*/\1/p'"; }
listens() { [ -n "$(ports)" ]; }
during listens || true
port=$(ports | sed -n 1p)
like "$port" '^[0-9]+$' "the balancer listens"
address=$(cluster on n1 sh -c "ip -4 -o addr show eth0 | sed 's/.*inet \([0-9.]*\).*/\1/'")
got=$(cluster on n2 timeout 10 bash -c "exec 3<>/dev/tcp/$address/$port; head -c 3000 /dev/zero >&3; wc -c <&3" 2>/dev/null || true)
ok "a stranger is told 40 bytes at the most, and cut off" test "${got:-0}" -le 40

# another user of the cluster, on the balancer's own host
other=$(cluster user -u lbother id -u)
as_other() { cluster on n1 setpriv --reuid "$other" --regid "$other" --clear-groups -- "$@"; }
is "$(as_other id -u)" "$other" "(another user is on that host)"
ok "(the balancer has its folder)" during folder
# shellcheck disable=SC2016
not_ok "another user cannot look into its folder" as_other sh -c 'ls /tmp/slurm-lb.*/'
not_ok "nor write there" as_other sh -c 'cd /tmp/slurm-lb.* && touch here'
not_ok "nor read its environment" as_other cat "/proc/$pid/environ"
not_ok "nor its memory" as_other head -c 1 "/proc/$pid/maps"
not_ok "nor signal it" as_other sh -c "kill -TERM $pid"
got=$(as_other timeout 10 bash -c "exec 3<>/dev/tcp/$address/$port; head -c 3000 /dev/urandom >&3; wc -c <&3" 2>/dev/null || true)
ok "at its port another user is told 40 bytes at the most, and cut off" test "${got:-0}" -le 40
ok "the job ends well beside a stranger" held_end
ok "complete beside a stranger" complete

# --- lbd
for state in stop kill; do
  ok "lbd: $state on all hosts" cluster lbd all $state
  job --lb=auto -N4 -n4 -- "$loop" --iterations 1000
  ok "a job ends well without lbd ($state)" job_end
  ok "complete without lbd ($state)" complete
  cluster lbd all start >/dev/null 2>&1 || true
done

# --- a rank dies: the job ends as any MPI job does, and leaves nothing
held_job --lb=auto -K -N4 -n4 -- --iterations 1000
ok "a balancer is there" during on_host n1 lb-balancer
ok "a rank is there" during on_host n3 cpuloop
ok "it is killed" cluster on n3 pkill -KILL -x cpuloop
not_ok "a job whose rank was killed fails" job_end
is "$(grep -cE '^(124|137)$' "$tap_tmp/status" || true)" 0 "and does not hang"
ok "its balancer is gone" within 5 no_balancer

ok "no host was drained by any of it" hosts_are_well
done_testing
