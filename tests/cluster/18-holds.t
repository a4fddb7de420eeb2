#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What lbd holds does not grow with the jobs that it has seen: descriptors, threads, processes (zombies too) and files,
# but those of decisions, which have a limit of their own.
# beside others: waits for jobs and daemons
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl lb-balancer slurm_plugin/.libs/lb.so bench/cpuloop
export LB_CLUSTER_LBD=no
need_cluster 2
. "$top/tests/lib/jobs.sh"
printf 'probe { load_interval = 1s }\n' >"$dir/policy.conf"
cluster lbd all start >/dev/null
# HOST: the least that its lbd has within 3 s; a question that is answered just now does not count
held() {
  local pid i
  pid=$(pid_of "$1")
  for i in 1 2 3 4 5 6; do
    echo "$(ls "/proc/$pid/fd" | wc -l) $(ls "/proc/$pid/task" | wc -l) $(ps -o pid= --ppid "$pid" | wc -l) \
$(find "$dir/host/$1/state" "$dir/host/$1/run" -type f -not -path '*/decisions/*' | wc -l)"
    sleep 0.5
  done | awk -v host="$1" '{ for (i = 1; i <= 4; i++) if (NR == 1 || $i < least[i]) least[i] = $i }
    END { printf "%s: descriptors %d, threads %d, processes %d, files %d\n", host, least[1], least[2], least[3], least[4] }'
}
all_held() { held head && held n1 && held n2; }
# N: balanced steps, and questions as lbctl has them
jobs() {
  local i
  for ((i = 0; i < $1; i++)); do
    n1_user srun --mpi=pmix --lb=hosts -N2 -n2 "$LB_BUILD/bench/cpuloop" --iterations 20 >"$tap_tmp/job" 2>&1 ||
      { cat "$tap_tmp/job"; return 1; }
    cluster on n1 "$LB_BUILD/bin/lbctl" rank >/dev/null && cluster head "$LB_BUILD/bin/lbctl" hosts >/dev/null || return 1
  done
}
same() { [ "$(all_held | tee "$tap_tmp/after")" = "$(cat "$tap_tmp/before")" ] || { cat "$tap_tmp/before" "$tap_tmp/after"; return 1; }; }

ok "the hosts are known" within 90 better
measured() { [ -e "$dir/host/n1/state/benchmark" ] && [ -e "$dir/host/n2/state/benchmark" ]; }
ok "and measured" within 60 measured
ok "ten jobs run" jobs 10
all_held >"$tap_tmp/before"
ok "forty more run" jobs 40
ok "lbd holds what it held before them" within 60 same
# planted: who asks and does not go away again; silent ones are shown out after 10 s, so that the next comes before that
perl -MSocket -e 'for (1 .. 20) { socket($s[$_], PF_UNIX, SOCK_STREAM, 0) && connect($s[$_], sockaddr_un($ARGV[0])) or die "$!\n"; sleep 3 }' \
  "$dir/host/n1/run/lbd.sock" &
holder=$!
sleep 1
descriptors() { sed -n 's/^n1: descriptors \([0-9]*\),.*/\1/p'; }
ok "and one descriptor more would be seen" [ "$(held n1 | descriptors)" -gt "$(descriptors <"$tap_tmp/before")" ]
kill $holder || true
done_testing
