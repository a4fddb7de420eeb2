#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Slurm plugin on a real cluster: its option, what a job sees of it, the balancer's life, and every fault round it.
# Environment: LB_BUILD, the build folder; LB_CLUSTER_TOOL, the cluster script.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${LB_BUILD:-$top/build}
tool=${LB_CLUSTER_TOOL:-$top/tests/cluster/cluster}
so=$build/slurm_plugin/.libs/lb.so

count=0
failed=0
skip_all() { echo "1..0 # SKIP $*"; exit 0; }
report() { # RESULT TEXT
  count=$((count + 1))
  if [ "$1" = 0 ]; then echo "ok $count - $2"; else
    echo "not ok $count - $2"
    head -n 20 "$tmp/out" 2>/dev/null | sed 's/^/# out: /'
    head -n 20 "$tmp/err" 2>/dev/null | sed 's/^/# err: /'
    failed=1
  fi
}
ok() { # TEXT COMMAND...
  local text=$1
  shift
  if "$@"; then report 0 "$text"; else report 1 "$text"; fi
}

[ "$(id -u)" = 0 ] || skip_all "a cluster needs root"
[ -x "$tool" ] || skip_all "$tool is missing"
[ -e "$so" ] || skip_all "$so is not built"

tmp=$(mktemp -d) || exit 1
instance=p$$ # no one else has it
cl() { "$tool" -i "$instance" "$@"; }
finish() {
  [ -z "${served:-}" ] || kill "$served" 2>/dev/null
  cl down >"$tmp/down" 2>&1 || cat "$tmp/down"
  rm -rf "$tmp"
}
trap finish EXIT
LB_BUILD=$build LB_CLUSTER_LBD=no LB_CLUSTER_PLUGIN=no cl up 2 >"$tmp/up" 2>&1 || { cat "$tmp/up"; echo "Bail out! no cluster"; exit 1; }
shared=$(cl dir)/shared

# The plugin's line.  A balancer that no rank ever joins, and which ends as lb-balancer does.
cp "$so" "$shared/lb.so"
cat >"$shared/balancer" <<'X'
#!/usr/bin/perl
my $dir = $ARGV[1];
$SIG{TERM} = sub { unlink "$dir/balancer.sock"; rmdir $dir; exit 3 };
mkdir $dir, 0700 or exit 1;
open my $f, ">", "$dir/balancer.sock" or exit 1;
close $f;
sleep 60 while 1;
X
sed 's/^$SIG{TERM}.*/$SIG{TERM} = "IGNORE";/' "$shared/balancer" >"$shared/stubborn"
chmod 755 "$shared/balancer" "$shared/stubborn"
plugin() { cl plugin "$shared/lb.so" "balancer=$shared/balancer" "socket=$shared/lbd.sock" "$@"; }

# New files each time: an srun left over from before would write into ours, at its own offset.
fresh() { rm -f "$tmp/out" "$tmp/err"; }
srun_() { client srun "$@"; }
client() { fresh; cl user "$@" >"$tmp/out" 2>"$tmp/err"; status=$?; }
in_out() { grep -q -- "$1" "$tmp/out"; }
in_err() { grep -q -- "$1" "$tmp/err"; }
not() { ! "$@"; }
next_job() { cl head scontrol show config | sed -n 's/^NEXT_JOB_ID *= //p'; }
balancers() { # of this cluster: others may be on the machine
  local p found=1
  for p in $(pgrep -f -- '--dir /tmp/slurm-lb\..*--nranks'); do
    if tr '\0' '\n' 2>/dev/null <"/proc/$p/environ" | grep -qx "SLURM_CLUSTER_NAME=$instance"; then
      echo "$p"
      found=0
    fi
  done
  return $found
}
within_2s() { # COMMAND...: becomes true within two seconds
  local i
  for i in $(seq 40); do ! "$@" || return 0; sleep 0.05; done
  "$@"
}
await() { # COMMAND...: becomes true; patience is not measured
  local i
  for i in $(seq "${tries:-600}"); do ! "$@" || return 0; sleep 0.05; done
  return 1
}
running() { balancers >/dev/null; }
no_balancer() { ! balancers >/dev/null; }
no_folder() { [ -z "$(for h in n1 n2; do cl on $h sh -c "ls -d /tmp/slurm-lb.* 2>/dev/null"; done)" ]; }

ours='^LB_\(POLICY\|HOST_SPEED\|BALANCER_DIR\)='

# --- the option
plugin
before=$(next_job)
srun_ --lb=help
ok "--lb=help succeeds" [ $status = 0 ]
ok "--lb=help lists the policies" in_out '^  auto '
ok "--lb=help lists the keys" in_out '^  period='
client sbatch --lb=help --wrap true
ok "sbatch --lb=help lists them too" in_out '^  auto '
for c in "srun true" "sbatch --wrap true" "salloc true"; do
  set -- $c
  for wrong in "outo:auto" "auto,perod=1s:period" "liu,report,trce=/x:trace"; do
    client "$1" "--lb=${wrong%:*}" "${@:2}"
    ok "$1 --lb=${wrong%:*} fails" [ $status != 0 ]
    ok "$1 --lb=${wrong%:*} is told of ${wrong##*:}" in_err "\"${wrong##*:}\""
  done
  client env SLURM_LB=statc "$@"
  ok "$1 with SLURM_LB=statc fails" [ $status != 0 ]
  ok "$1 with SLURM_LB=statc is told of static" in_err 'SLURM_LB.*"static"'
done
ok "nothing of these was submitted" [ "$(next_job)" = "$before" ]

# --- what reaches the tasks
srun_ -N2 --lb env
ok "--lb is policy auto, on both hosts" [ "$(grep -c '^LB_POLICY=auto$' "$tmp/out")" = 2 ]
ok "the balancer is on one host" [ "$(grep -c '^LB_BALANCER_DIR=/tmp/slurm-lb\.' "$tmp/out")" = 1 ]
# on a machine so busy that the balancer does not end within the hook's deadline the line goes to the log
try_20() { tries=20 "$@"; }
said_once() { srun_ -N2 --lb sh -c 'sleep 0.2; exit 3'; [ "$(grep -c 'did not call lb_init' "$tmp/err")" = 1 ]; }
ok "nobody joined: said once" try_20 await said_once
client env SLURM_LB=static,report srun env
ok "SLURM_LB holds without the option" in_out '^LB_POLICY=static,report$'
client env SLURM_LB=static srun --export=NONE /usr/bin/env
ok "SLURM_LB holds with --export=NONE" in_out '^LB_POLICY=static$'
client env SLURM_LB=static srun --lb=liu env
ok "the option comes before SLURM_LB" in_out '^LB_POLICY=liu$'
client env SLURM_LB=static srun --lb=off env
ok "--lb=off: no balancer" not in_out '^LB_BALANCER_DIR='
ok "--lb=off: said to the tasks" in_out '^LB_POLICY=off$'
srun_ env
ok "without the option nothing is set" not in_out "$ours"
client salloc --lb=liu -n1 srun env
ok "salloc --lb holds for its steps" in_out '^LB_POLICY=liu$'
cat >"$shared/script" <<'X'
#!/bin/bash
echo "batch LB_=$(env | grep -c -e ^LB_POLICY= -e ^LB_HOST_SPEED= -e ^LB_BALANCER_DIR=)"
srun -n1 env
srun -n1 bash -c 'srun --overlap -n1 --lb=off env | sed "s/^/inner /"'
X
rm -f "$shared/batch.out"
client sbatch --wait --lb=siegell -n2 -o "$shared/batch.out" "$shared/script"
cp "$shared/batch.out" "$tmp/out"
ok "sbatch --lb holds for its steps" in_out '^LB_POLICY=siegell$'
ok "a batch script has no balancer" in_out '^batch LB_=0$'
ok "a step within a step ran" in_out '^inner LB_POLICY=off$'
ok "a step within a step knows nothing of the outer balancer" not in_out '^inner LB_BALANCER_DIR='
plugin policy=liu
srun_ env
ok "the site's default holds" in_out '^LB_POLICY=liu$'
srun_ --lb=off env
ok "--lb=off comes before the site's default" not in_out '^LB_BALANCER_DIR='

# --- a task with and without the plugin
same='exec 2>&1; env | grep -v -e ^LB_ -e ^_= -e ^PMIX_ | sed "s/[0-9][0-9]*/N/g" | sort; grep -e ^Sig -e ^Shd -e ^Uid -e ^Gid -e ^Groups -e ^Cap -e ^NoNew /proc/self/status | grep -v SigQ; ulimit -a; umask'
cl plugin off
srun_ -w n1 bash -c "$same"
cp "$tmp/out" "$tmp/plain"
srun_ -w n1 ls -l /proc/self/fd
awk 'NF > 8 { print $1, $9, $11 }' "$tmp/out" | sed 's/[0-9]*\]$//; s#/proc/[0-9]*#/proc/N#' >"$tmp/plain.fd"
plugin
srun_ --lb -w n1 bash -c "$same"
diff "$tmp/plain" "$tmp/out" >"$tmp/diff"
cp "$tmp/diff" "$tmp/err"
ok "environment, signals, ids and limits are those without the plugin" [ ! -s "$tmp/diff" ]
ok "(there was something to compare)" grep -q ^SLURM_JOB_ID= "$tmp/plain"
srun_ --lb -w n1 ls -l /proc/self/fd
awk 'NF > 8 { print $1, $9, $11 }' "$tmp/out" | sed 's/[0-9]*\]$//; s#/proc/[0-9]*#/proc/N#' | diff "$tmp/plain.fd" - >"$tmp/err"
ok "descriptors are those without the plugin" [ ! -s "$tmp/err" ]
ok "(there was something to compare there)" [ "$(wc -l <"$tmp/plain.fd")" -ge 3 ]

# --- the balancer
below() { # PID: the processes that descend from it
  local child
  for child in $(pgrep -P "$1"); do
    echo "$child"
    below "$child"
  done
}
run_long() { # SRUN OPTIONS...: a step that stays, with its balancer ready; sets $balancer, $step_srun
  fresh
  cl user srun -J long "$@" sleep 300 >"$tmp/out" 2>"$tmp/err" &
  step_srun=$!
  await running && balancer=$(balancers) && await folder_ready
}
folder_ready() { cl on n1 sh -c 'ls /tmp/slurm-lb.*/balancer.sock' >/dev/null 2>&1; }
field() { sed -n "s/^$1:[ 	]*//p" "/proc/$balancer/status"; }
all_of() { # FIELD ID: real, effective, saved and file-system id
  [ "$(field "$1" | tr '\t' ' ')" = "$2 $2 $2 $2" ]
}
fds() { for f in /proc/"$balancer"/fd/*; do readlink "$f"; done | grep -v -e '^/dev/null$' -e "^$shared/"; }

uid=$(cl user id -u)
gid=$(cl user id -g)
srun_ -w n1 grep ^Groups: /proc/self/status
groups=$(sed 's/^Groups:[ \t]*//' "$tmp/out")
run_long --lb -w n1
ok "the balancer runs" [ -n "$balancer" ]
ok "all its user ids are the user's" all_of Uid "$uid"
ok "all its group ids are the user's" all_of Gid "$gid"
ok "its groups are the task's" [ "$(field Groups)" = "$groups" ]
ok "it has no capabilities" [ "$(field CapPrm)$(field CapEff)$(field CapAmb)" = 000000000000000000000000000000000000000000000000 ]
ok "it can get no new privileges" [ "$(field NoNewPrivs)" = 1 ]
ok "it has no descriptor of another's" [ -z "$(fds)" ]
ok "it is in a session of its own" [ "$(ps -o sid= -p "$balancer" | tr -d ' ')" = "$balancer" ]
ok "it may be killed when memory is short" [ "$(cat "/proc/$balancer/oom_score_adj")" -ge 0 ]
tr '\0' '\n' <"/proc/$balancer/environ" | sed 's/=.*//' | sort >"$tmp/out"
ok "its environment is its own" not grep -qvE '^(LB_POLICY|LBD_SOCKET|PATH|SLURM_(JOB_ID|STEP_ID|RESTART_COUNT|CLUSTER_NAME|JOB_ACCOUNT|JOB_PARTITION|JOB_USER|LB_PLACEMENT)|SLURMD_NODENAME)$' "$tmp/out"
cl head scancel -n long
wait "$step_srun"

lives_with_step() { # NAME: of the balancer that the plugin starts now
  run_long --lb -w n1
  ok "$1: all its user ids are the user's" all_of Uid "$uid"
  ok "$1: all its group ids are the user's" all_of Gid "$gid"
  ok "$1: it has /dev/null as 0, 1 and 2" [ "$(readlink /proc/"$balancer"/fd/[012] | sort -u)" = /dev/null ]
  cl head scancel -n long
  wait "$step_srun"
  ok "$1, scancel: it is gone within 2 s" within_2s no_balancer
  ok "$1, scancel: its folder too" within_2s no_folder
  ok "$1, scancel: a cancelled program is not blamed" not in_err 'lb\.h'

  run_long --lb -w n1
  disown "$step_srun"
  stepd=$(ps -o ppid= -p "$balancer" | tr -d ' ')
  ok "$1: (its step has a task)" await pgrep -P "$stepd" -x sleep
  tasks=$(pgrep -P "$stepd" -x sleep)
  # all stopped first: a child of srun's that outlives it ends the job, and the step then kills its balancer itself
  killed="$step_srun $(below "$step_srun" | tr '\n' ' ')"
  # shellcheck disable=SC2086
  kill -STOP $killed
  # shellcheck disable=SC2086
  kill -9 $killed
  kill -9 "$stepd"
  ok "$1, slurmstepd killed: it is gone within 2 s" within_2s no_balancer
  ok "$1, slurmstepd killed: its folder too" within_2s no_folder
  cl head scancel -n long
  # shellcheck disable=SC2086
  kill -9 $tasks # orphans of that slurmstepd

  srun_ --lb -N2 sh -c 'sleep 0.2; exit 3'
  ok "$1, end of the step: it is gone within 2 s" within_2s no_balancer
  ok "$1, end of the step: its folder too" within_2s no_folder
  ok "$1, end of the step: nobody joined, said once" try_20 await said_once
}
lives_with_step "a stub"
if [ -x "$build/lb-balancer" ]; then
  cp "$build/lb-balancer" "$shared/real"
  cl plugin "$shared/lb.so" "balancer=$shared/real" "socket=$shared/lbd.sock"
  lives_with_step lb-balancer
else
  report 0 "lb-balancer with its step # SKIP it is not built"
fi
cl plugin "$shared/lb.so" "balancer=$shared/stubborn" "socket=$shared/lbd.sock"
run_long --lb -w n1
cl head scancel -n long
wait "$step_srun"
ok "one that ignores SIGTERM is gone within 2 s" within_2s no_balancer
plugin
fresh
cl head srun -w n1 -J long --lb sleep 300 >"$tmp/out" 2>"$tmp/err" &
await running
balancer=$(balancers)
ok "root's step has root's balancer" all_of Uid 0
kill -9 "$balancer"
await no_balancer
cl head squeue -h -n long -t R -o %A >"$tmp/out"
ok "the balancer killed: the step stays" [ -s "$tmp/out" ]
cl head scancel -n long
wait

# --- faults: the same result and exit status
program='echo "task $SLURM_PROCID of $SLURM_NTASKS"; exit $((SLURM_PROCID + 3))'
cl plugin off
srun_ -N2 -n4 sh -c "$program"
sort "$tmp/out" >"$tmp/plain"
plain=$status
ok "(the plain program fails with 6)" [ $plain = 6 ]
same_result() {
  srun_ -N2 -n4 --lb sh -c "$program"
  [ $status = $plain ] && sort "$tmp/out" | diff -q - "$tmp/plain" >/dev/null
}
plugin
ok "no lbd: the same result" same_result
serve() { # PERL, with $c the connection: an lbd of ours
  rm -f "$shared/lbd.sock"
  perl -MIO::Socket::UNIX -e 'my $l = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 8) or die; chmod 0666, $ARGV[0];
    $SIG{PIPE} = "IGNORE"; my @kept; while (my $c = $l->accept) { '"$1"' }' "$shared/lbd.sock" &
  served=$!
  await test -S "$shared/lbd.sock"
}
unserve() { kill -9 "$served"; wait "$served" 2>/dev/null; served=; }
serve '$c->blocking(1); syswrite $c, "\0\0\0\5garbage\xff\xff" x 1000; close $c'
ok "lbd writes garbage: the same result" same_result
unserve
ok "lbd dead, its socket there: the same result" same_result
serve 'push @kept, $c'
ok "lbd answers nothing: the same result" same_result
kill -STOP "$served"
ok "lbd stopped: the same result" same_result
unserve
serve 'syswrite $c, "\xff\xff\xff\xff"; push @kept, $c'
ok "lbd announces 4 GiB: the same result" same_result
unserve
cl plugin "$shared/lb.so" "balancer=$shared/none"
ok "no lb-balancer: the same result" same_result
ok "no lb-balancer: said" in_err "$shared/none"
cl plugin "$shared/lb.so" "balancer=/bin/false"
ok "a balancer that fails: the same result" same_result
cl plugin "$shared/lb.so" "balancer=$shared/balancer" polcy=auto
ok "a wrong argument of the site: the same result" same_result
ok "a wrong argument of the site: named" in_err 'plugstack.conf.*polcy=auto'
ok "a wrong argument of the site: named with what there is" in_err 'policy='
ok "a wrong argument of the site: nothing is done" no_balancer
cl plugin "$shared/lb.so" disable
ok "disabled: the same result" same_result
plugin "killswitch=$shared/off"
: >"$shared/off"
srun_ --lb env
ok "the kill switch: nothing is done" not in_out "$ours"
ok "the kill switch: nothing is said" [ ! -s "$tmp/err" ]
rm -f "$shared/off"
srun_ --lb env
ok "the kill switch lifted" in_out '^LB_POLICY=auto$'

# --- with the cluster's own lbd
if [ -x "$build/sbin/lbd" ] || [ -x "$build/lbd/lbd" ]; then
  cl lbd all start >"$tmp/out" 2>&1
  cl plugin "$shared/lb.so" "balancer=$shared/balancer"
  measured() { grep -q 'measured n1' "$(cl dir)/log/lbd.n1.log" && grep -q 'measured n2' "$(cl dir)/log/lbd.n2.log"; }
  ok "lbd measures its host while no job runs" await measured
  told() { srun_ -N2 --lb env && [ "$(grep -cE '^LB_HOST_SPEED=[0-9.]+:[0-9.]+:[0-9.]+(:[0-9.e+]+)?$' "$tmp/out")" = 2 ]; }
  ok "lbd tells each host's speed" try_20 await told
  ok "lbd up: the same result" same_result
  cl lbd all stop >"$tmp/out" 2>&1
  ok "lbd ended: the same result" same_result
else
  report 0 "lbd tells each host's speed # SKIP it is not built"
fi

# --- afterwards
cl head sinfo -h -N -o '%N %T' | sort -u >"$tmp/out"
ok "no host is drained or down" not grep -qE 'drain|down|fail' "$tmp/out"
ok "both hosts are there" [ "$(wc -l <"$tmp/out")" = 2 ]
ok "no balancer is left" no_balancer
ok "no folder is left" no_folder
echo "1..$count"
exit $failed
