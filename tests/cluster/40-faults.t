#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The whole chain on a real cluster, with its parts dying, stopping and being spoken to by strangers while a job runs: every
# iteration is run once, with its row intact, and the job ends as it would have.
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop lb-balancer sbin/lbd
need_cluster 4
for i in 1 2 3; do cluster speed n$i 0.4 >/dev/null; done
cluster speed n4 0.133 >/dev/null

loop=$LB_BUILD/bench/cpuloop

# A job in the background; its output in $tap_tmp/job.
job() { # SRUN-OPTIONS... -- PROGRAM-OPTIONS...
  local opts=()
  while [ "$1" != -- ]; do opts+=("$1"); shift; done
  shift
  rm -f "$tap_tmp/status"
  {
    st=0
    cluster user timeout 100 srun "${opts[@]}" "$loop" "$@" </dev/null >"$tap_tmp/job" 2>&1 || st=$?
    echo $st >"$tap_tmp/status.new"
    mv "$tap_tmp/status.new" "$tap_tmp/status"
  } &
}

# Its exit status; from any shell, unlike wait.
job_end() {
  until [ -e "$tap_tmp/status" ]; do sleep 0.05; done
  cat "$tap_tmp/job"
  return "$(cat "$tap_tmp/status")"
}

# The process of the balancer of the only job, as its host sees it; waits until it is there.
balancer_pid() {
  local i pid
  for ((i = 0; i < 100; i++)); do
    pid=$(cluster on n1 pgrep -x lb-balancer) && [ -n "$pid" ] && [ "$(wc -w <<<"$pid")" = 1 ] && { echo "$pid"; return; }
    sleep 0.05
  done
  return 1
}

complete() { grep -q 'missing=0 duplicated=0 corrupt=0' "$tap_tmp/job"; }
sum() { # KEY: of the cpuloop line
  sed -n "s/^cpuloop .*$1=\([0-9.]*\).*/\1/p" "$tap_tmp/job"
}

# --- as it should be
job --lb=auto -N4 -n4 -- --iterations 2000
ok "a job with --lb ends well" job_end
ok "every iteration once, every row intact" complete
ok "iterations moved off the slow host" test "$(sum moved_iterations)" -gt 0
job --lb=auto -N4 -n4 -- --iterations 1000 --passes 3
ok "three passes end well" job_end
ok "each of them complete" complete

# --- numbers that round badly
for n in 0 1 3 4 5; do
  job --lb=auto -N4 -n4 -- --iterations $n
  ok "N = $n over 4 ranks ends well" job_end
  ok "N = $n is complete" complete
done
job --lb=auto -N1 -n1 -- --iterations 100
ok "one rank alone ends well" job_end
ok "one rank alone is complete" complete

# --- whose process it is
job --lb=auto -N4 -n4 -- --iterations 3000
pid=$(balancer_pid) || pid=
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
ok "the job ends well" job_end
not_ok "the balancer is gone with the step" cluster on n1 pgrep -x lb-balancer
is "$(cluster on n1 sh -c 'ls -d /tmp/slurm-lb.* 2>/dev/null' || true)" "" "and so is its folder"

# --- the balancer dies
for signal in KILL STOP; do
  job --lb=auto -N4 -n4 -- --iterations 3000
  pid=$(balancer_pid) || pid=
  sleep 1
  ok "SIG$signal reaches the balancer in the middle" cluster on n1 kill -$signal "$pid"
  ok "the job ends well after SIG$signal" job_end
  ok "complete after SIG$signal" complete
  not_ok "nothing is left of the balancer after SIG$signal" timeout 2 cluster on n1 sh -c 'while pgrep -x lb-balancer; do sleep 0.1; done; exit 1'
done

# --- strangers at the balancer's port
job --lb=auto -N4 -n4 -- --iterations 3000
pid=$(balancer_pid) || pid=
sleep 0.5
port=$(cluster on n1 sh -c "ss -Hltnp | sed -n 's/.*:\([0-9]*\) .*lb-balancer.*/\1/p'" | head -n 1)
like "$port" '^[0-9]+$' "the balancer listens"
address=$(cluster on n1 sh -c "ip -4 -o addr show eth0 | sed 's/.*inet \([0-9.]*\).*/\1/'")
got=$(cluster on n2 timeout 10 bash -c "exec 3<>/dev/tcp/$address/$port; head -c 3000 /dev/zero >&3; wc -c <&3" 2>/dev/null || true)
ok "a stranger is told 40 bytes at the most, and cut off" test "${got:-0}" -le 40

# another user of the cluster, on the balancer's own host
other=$(cluster user -u lbother id -u)
as_other() { cluster on n1 setpriv --reuid "$other" --regid "$other" --clear-groups -- "$@"; }
is "$(as_other id -u)" "$other" "(another user is on that host)"
ok "(the balancer has its folder)" cluster on n1 sh -c 'ls /tmp/slurm-lb.*/balancer.sock'
# shellcheck disable=SC2016
not_ok "another user cannot look into its folder" as_other sh -c 'ls /tmp/slurm-lb.*/'
not_ok "nor write there" as_other sh -c 'cd /tmp/slurm-lb.* && touch here'
not_ok "nor read its environment" as_other cat "/proc/$pid/environ"
not_ok "nor its memory" as_other head -c 1 "/proc/$pid/maps"
not_ok "nor signal it" as_other sh -c "kill -TERM $pid"
got=$(as_other timeout 10 bash -c "exec 3<>/dev/tcp/$address/$port; head -c 3000 /dev/urandom >&3; wc -c <&3" 2>/dev/null || true)
ok "at its port another user is told 40 bytes at the most, and cut off" test "${got:-0}" -le 40
ok "the job ends well beside a stranger" job_end
ok "complete beside a stranger" complete

# --- lbd
for state in stop kill; do
  ok "lbd: $state on all hosts" cluster lbd all $state
  job --lb=auto -N4 -n4 -- --iterations 1000
  ok "a job ends well without lbd ($state)" job_end
  ok "complete without lbd ($state)" complete
  cluster lbd all start >/dev/null 2>&1 || true
done

# --- a rank dies: the job ends as any MPI job does, and leaves nothing
job --lb=auto -K -N4 -n4 -- --iterations 3000
balancer_pid >/dev/null || true
sleep 0.5
cluster on n3 pkill -KILL -x cpuloop || true
not_ok "a job whose rank was killed fails" job_end
not_ok "its balancer is gone" timeout 5 cluster on n1 sh -c 'while pgrep -x lb-balancer; do sleep 0.1; done; exit 1'

ok "no host was drained by any of it" hosts_are_well
done_testing
