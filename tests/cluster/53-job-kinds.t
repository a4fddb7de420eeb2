#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Jobs of every kind on the page of metrics: two steps of a job at once, arrays, heterogeneous jobs, odd bytes in the environment; and a scrape
# while the database is locked by somebody else.
# beside others: waits for daemons and jobs, whatever the speed of hosts
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop lb-balancer sbin/lbd bin/lbctl
command -v python3 >/dev/null || skip_all "python3 is not installed"
need_cluster 2
dir=$(cluster dir)
loop="$LB_BUILD/bench/cpuloop --iterations 100000"
page() { cluster on "$1" curl -s --max-time 5 http://127.0.0.1:6826/metrics; }
shown() { { page n1; page n2; } | sed -n 's/^lb_job_info{jobid="\([0-9]*\)",stepid="\([0-9]*\)".*/\1.\2/p' | sort -u; }
shown_are() { [ "$(shown | tr '\n' ' ')" = "$1 " ]; }
shown_count() { [ "$(shown | wc -l)" = "$1" ]; }
script() { # NAME LINES...: a batch script
  { echo '#!/bin/sh'; printf '%s\n' "${@:2}"; } >"$dir/shared/$1"
  chmod 755 "$dir/shared/$1"
}
submit() { cluster user sbatch --parsable -o /dev/null "$@"; }
quiet() { cluster head scancel -u lbtest; within 60 eval '[ -z "$(cluster head squeue -h)" ]'; }
ok "lbd is there" within 30 eval 'page n1 | grep ^lbd_build_info >/dev/null'

script steps "srun --mpi=pmix --lb -N1 -n2 --overcommit --overlap -w n1 $loop &" "srun --mpi=pmix --lb -N1 -n2 --overcommit --overlap -w n2 $loop &" wait
id=$(submit -N2 "$dir/shared/steps")
ok "two steps of one job, each beside its balancer" within 60 shown_are "$id.0 $id.1"
ok "the job is cancelled" quiet

script array "srun --mpi=pmix --lb -n2 --overcommit $loop"
submit -N1 --array=0-1 "$dir/shared/array" >/dev/null
ok "the tasks of an array are jobs of their own" within 60 shown_count 2
ok "which are cancelled" quiet

script hetrun "srun --mpi=pmix --lb -n2 --overcommit $loop"
id=$(submit -N1 -n1 : -N1 -n1 "$dir/shared/hetrun")
ok "a heterogeneous job shows itself" within 60 shown_are "$id.0"
ok "and is cancelled" quiet

# What a user puts into the environment for an account: Slurm gives its own to the step, and the page stays right.
script odd "SLURM_JOB_ACCOUNT=\$(printf 'a\"b\\\\\\\\\\377\\nc') srun --mpi=pmix --lb -n2 --overcommit $loop"
submit -N1 -w n1 "$dir/shared/odd" >/dev/null
ok "a job with odd bytes in its environment is shown" within 60 shown_count 1
if command -v promtool >/dev/null; then
  page n1 >"$tap_tmp/page"
  ok "and the page is right" promtool check metrics <"$tap_tmp/page"
  sed -n 's/^lb_job_info/# &/p' "$tap_tmp/page"
else
  skip "and the page is right" "no promtool"
fi

# lbd locks its database as long as it runs: somebody else comes first here.
db=$dir/host/head/state/lbd.db
cluster lbd head stop
python3 - "$db" "$tap_tmp/locked" <<'P' &
import os, sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute('BEGIN EXCLUSIVE')
open(sys.argv[2], 'w').close()
while os.path.exists(sys.argv[2]):
    time.sleep(0.1)
P
locker=$!
ok "another process locks the database" within 60 test -e "$tap_tmp/locked"
cluster lbd head start
errors() { page head >"$tap_tmp/page" && grep -q '^lbd_database_errors_total{op="open"} [1-9]' "$tap_tmp/page"; }
ok "the page is there all the same, and says so" within 60 errors
ok "the job's figures reach the controller" within 60 eval 'cluster head "$LB_BUILD/bin/lbctl" --json top | grep "\"jobid\":" >/dev/null'
rm "$tap_tmp/locked"
wait $locker
ok "the job ends" quiet
stored() { cluster head "$LB_BUILD/bin/lbctl" --json status | grep '"open":true' >/dev/null; }
ok "then the database opens" within 60 stored
done_testing
