#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job's figures on the page of the lbd beside its balancer: there while it runs, under its own number, gone after three scrapes.
# beside others: waits for daemons and jobs, whatever the speed of hosts
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop lb-balancer sbin/lbd bin/lbctl
need_cluster 2

page() { cluster on "$1" curl -s --max-time 5 http://127.0.0.1:6826/metrics; }
jobs() { page n1 >"$tap_tmp/page"; grep '^lb_job' "$tap_tmp/page"; }
wait_for() { look_until "$1" 0.1 "${@:2}"; } # SECONDS CMD...

ok "lbd shows its page" wait_for 10 eval 'page n1 >/dev/null'
is "$(jobs || true)" "" "no job, no series of jobs"

hold=$(cluster dir)/shared/hold
cluster user timeout 120 srun --lb=auto -N2 -n2 "$LB_BUILD/bench/cpuloop" --iterations 3000 --hold="$hold" </dev/null >"$tap_tmp/job" 2>&1 &
shown() { jobs >/dev/null; grep -q '^lb_job_info' "$tap_tmp/page"; }
ok "a job shows itself while it runs" wait_for 60 shown
id=$(cluster head squeue -h -o %i)
like "$(grep '^lb_job_info' "$tap_tmp/page")" "jobid=\"$id\",stepid=\"0\",username=\"lbtest\"" "by its own number and user"
is "$(grep -c '^lb_job_share_ratio' "$tap_tmp/page")" 2 "with a share for each host"
# It may have shown itself before its loop was open: nobody owned anything then.
shares() { jobs >/dev/null; awk '/^lb_job_share_ratio/ { s += $2 } END { printf "%.3f", s }' "$tap_tmp/page"; }
are_all() { [ "$(shares)" = 1.000 ]; }
ok "which are all of it, once its loop is open" wait_for 60 are_all
is "$(page n2 | grep -c '^lb_job' || true)" 0 "and only beside its balancer"
if command -v promtool >/dev/null; then
  ok "promtool finds nothing wrong with the page" promtool check metrics <"$tap_tmp/page"
else
  skip "promtool finds nothing wrong with the page" "no promtool"
fi
touch "$hold"
wait
# The controller has heard of its end from the lbd beside its balancer.
of_head() { page head >"$tap_tmp/head"; grep -q '^lbd_jobs_finished_total{policy="auto"} 1$' "$tap_tmp/head"; }
ok "the controller counts it as finished" wait_for 30 of_head
like "$(cat "$tap_tmp/head")" 'lbd_job_final_load_balance_ratio_count\{policy="auto"\} 1' "with its balance at the end"
kept() { before=$(cluster head "$LB_BUILD/bin/lbctl" --json job "$id" | jq '.jobs[0] | select(.ended != null) | .load_balance_before') && [ -n "$before" ]; }
ok "it is kept" wait_for 60 kept
kept
ok "with its balance by its first shares: $before" jq -ne "$before | type == \"number\" and . > 0 and . <= 1"
not_ok "(which one that is not known would not be)" jq -ne 'null | type == "number" and . > 0'
like "$(cluster head "$LB_BUILD/bin/lbctl" job "$id")" 'balance with the first shares [0-9]+ %' "and lbctl says so"
like "$(cat "$tap_tmp/head")" 'lbd_saved_core_seconds_total\{policy="auto"\} [0-9]' "and what was saved"
like "$(cat "$tap_tmp/job")" 'missing=0 duplicated=0' "the job ends well"

# A process that no slurmstepd started says that it is a job.
python3 - "$tap_tmp/forged" <<'P'
import struct, sys
text = b'{"policy":"auto","hosts":[]}'
body = bytes([0x93, 1, 5, 0xda]) + struct.pack('>H', len(text)) + text
open(sys.argv[1], 'wb').write(struct.pack('>I', len(body)) + body)
P
cp "$tap_tmp/forged" "$(cluster dir)/shared/forged"
got=$(cluster on n1 python3 -c "
import socket
s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect('/run/slurm-lb/lbd.sock')
s.sendall(open('$(cluster dir)/shared/forged','rb').read()); print(s.recv(4000))" 2>&1)
refused() { page n1 | grep '^lbd_job_messages_refused_total{reason="stranger"} 1$' >/dev/null; }
like "$got" 'belongs to no step' "figures from outside a step are refused"

ok "and counted" wait_for 10 refused
leave() { page n1 >/dev/null; ! jobs >/dev/null; }
ok "three scrapes later they are gone" wait_for 30 leave

# What became of the wish for a layout, in numbers.
of_head_has() { page head >"$tap_tmp/head"; grep -q "^$1" "$tap_tmp/head"; }
# On a machine that is busy with other tests the answer may come too late, which must be counted as that: then another job.
njobs=0
was_kept() { of_head_has 'lbd_placements_kept_total{policy="liu"} 1$'; }
was_late() { of_head_has "lbd_placement_failures_total{policy=\"liu\",reason=\"deadline\"} $1\$"; }
looked_for() { of_head_has "lbd_placements_total{policy=\"liu\"} $njobs\$"; }
job_is_kept() {
  while ((njobs < 6)); do
    cluster user timeout 60 salloc -Q -N2 -n2 srun --mpi=pmix --lb=liu -n2 "$LB_BUILD/bench/cpuloop" --iterations 200 || return 1
    njobs=$((njobs + 1))
    wait_for 30 looked_for || return 1
    if was_kept; then return 0; fi
    grep '^lbd_placement' "$tap_tmp/head"
    was_late "$njobs" || return 1
  done
  return 1
}
job_is_kept >"$tap_tmp/kept" 2>&1 || true
ok "of some jobs on all hosts of their allocation Slurm's layout was as good" was_kept
ok "all others of them were too late" was_late $((njobs - 1))
ok "one was looked for in each of $njobs" looked_for
sed -n 's/^lbd_placement/# &/p' "$tap_tmp/kept"
cluster lbd head stop
ok "a job while the lbd of srun's host is away" cluster user timeout 60 srun --lb=siegell,hosts -N2 -n2 "$LB_BUILD/bench/cpuloop" --iterations 200
cluster lbd head start
ok "is counted by the reason when that is back" wait_for 60 of_head_has 'lbd_placement_failures_total{policy="siegell",reason="no_lbd"} 1$'
like "$(cat "$tap_tmp/head")" 'lbd_placement_failures_total\{policy="siegell",reason="stale_ranking"\} 0' "and by no other"
done_testing
