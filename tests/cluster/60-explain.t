#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lbctl explain: what a step's balancer decided and why, while it runs and after; for its user and root alone, at the
# controller and beside the balancer; the summary that --lb=...,report prints; the trace.
. "$(dirname "$0")/../lib/tap.sh"
need_build bench/cpuloop lb-balancer sbin/lbd bin/lbctl
need_cluster 2

lbctl=$LB_BUILD/bin/lbctl
shared=$(cluster dir)/shared
cluster speed n1 .4
cluster speed n2 .1
wait_for() { look_until "$1" 0.2 "${@:2}"; } # SECONDS CMD...
connected() { cluster head "$lbctl" hosts | grep -c ' up ' | grep -x 2 >/dev/null; }
ok "both hosts are connected with the controller" wait_for 60 connected

running() { id=$(cluster head squeue -h -t running -o %i | sed -n 1p) && [ -n "$id" ]; }
told() { cluster user "$lbctl" explain "$id" >"$tap_tmp/explain" 2>&1 && grep -q 'moved [0-9]* iterations' "$tap_tmp/explain"; }
told_or_over() { told || ! kill -0 $job; }
for iterations in 2500 5000 10000 20000; do # a longer one when it was over before it was asked about
  cluster head rm -f "$shared/trace"
  cluster user timeout 120 srun --mpi=pmix --lb="auto,report,trace=$shared/trace" -N2 -n2 "$LB_BUILD/bench/cpuloop" --iterations $iterations \
    </dev/null >"$tap_tmp/job" 2>"$tap_tmp/job.err" &
  job=$!
  ok "the job runs" wait_for 30 running
  running || true
  wait_for 60 told_or_over || true
  if told && grep -q ', running' "$tap_tmp/explain"; then break; fi
  wait $job || true
done
ok "its user is told of moves while it runs, at the controller" grep 'moved [0-9]* iterations' "$tap_tmp/explain"
like "$(cat "$tap_tmp/explain")" "Job $id, step 0: policy auto, 2 ranks, running" "it is said to run"
wait $job
like "$(cat "$tap_tmp/job")" 'missing=0 duplicated=0' "the job ends well"

ended() { cluster user "$lbctl" explain "$id.0" >"$tap_tmp/explain" 2>&1 && grep -q ', ended\.' "$tap_tmp/explain"; }
ok "and to have ended when it has" wait_for 30 ended
explained=$(cat "$tap_tmp/explain")
like "$explained" 'shares by speed: the pass ends in .* instead of .* % sooner, more than the .* % asked for; the moves cost .* and bring' \
  "a move: what was projected, asked for, and paid"
like "$explained" 'rank 0 \(n1\): .* iterations/s .*in its last report.*, share .* %' "what was seen of the ranks"
like "$explained" 'stayed: ' "decisions not to move are told, too"
like "$explained" 'no move can help any more' "and the last one"

cluster user "$lbctl" --json explain "$id" >"$tap_tmp/json"
is "$(jq -r '[.decisions[].seq] | . == [range(length)]' "$tap_tmp/json")" true "as JSON: every one, in order"
is "$(jq -r '.final, .policy, .ranks' "$tap_tmp/json" | paste -sd' ')" "true auto 2" "of the step that was run"
is "$(jq -r '[.decisions[] | select(.kind == "plan" and .done)] | all(.gain >= .needed and .benefit_s > .cost_s and .moves > 0)' "$tap_tmp/json")" \
  true "a plan is carried out when it gains what is asked for, and more than it costs"
is "$(jq -r '[.decisions[] | select(.kind == "plan" and .reason == "below_threshold")] | all(.gain < .needed)' "$tap_tmp/json")" true \
  "and not when it gains less"
is "$(grep -c '"event":"decision"' "$shared/trace")" "$(jq -r '.decisions | length' "$tap_tmp/json")" "the trace has the same decisions"
is "$(jq -s '[.[] | select(.event == "move")] | length' "$shared/trace")" \
  "$(jq '[.decisions[].moves // 0] | add' "$tap_tmp/json")" "and the moves that they tell of"

beside=$(cluster on n1 "$lbctl" --json explain "$id")
is "$(jq -r '.decisions | length' <<<"$beside")" "$(jq -r '.decisions | length' "$tap_tmp/json")" "the lbd beside the balancer knows them, too"
not_ok "another user is told nothing" cluster user -u lbother "$lbctl" explain "$id"
like "$(cat "$tap_tmp/out")" "no decisions of $id are kept here, or it is another user" "and why"
ok "root is" cluster head "$lbctl" explain "$id"
not_ok "a job that was never" cluster head "$lbctl" explain 4000000
not_ok "what is no job" cluster head "$lbctl" explain ../../etc/passwd
like "$(cat "$tap_tmp/out")" "'../../etc/passwd' is no step: write JOBID or JOBID.STEP" "says how to write it"

# The summary, on the user's stderr, in one block.
block=$(sed -n '/^lb: policy auto, 2 ranks: /,$p' "$tap_tmp/job.err")
like "$block" 'with the first shares about .* s, so [0-9]+ % saved' "the summary says what was gained"
like "$block" 'lb: moved +[0-9]+ iterations, .* by [0-9]+ transfers?' "what was moved"
like "$block" "lb: overhead +[0-9.]+ % of the ranks' CPU time" "what it cost"
is "$(grep -cE '^lb: +[01]  n[12] +[#.]{24} ' <<<"$block")" 2 "and each rank's share as a bar"
is "$(awk '/^lb: +[01]  n/ { s += $7 } END { print s }' <<<"$block")" $iterations "of all iterations"

# A process that no slurmstepd started cannot put words into a balancer's mouth.
python3 - "$shared/forged" <<'P'
import struct, sys
text = b'{"policy":"auto","begun_s":1,"decisions":[{"seq":0}]}'
body = bytes([0x93, 1, 16, 0xd9, len(text)]) + text
open(sys.argv[1], 'wb').write(struct.pack('>I', len(body)) + body)
P
got=$(cluster on n1 python3 -c "
import socket
s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect('/run/slurm-lb/lbd.sock')
s.sendall(open('$shared/forged','rb').read()); print(s.recv(4000))" 2>&1)
like "$got" 'belongs to no step' "decisions from outside a step are refused"

# Its lbd hears nothing for a while: the balancer does not wait for it at the end of the job, and has said all when it is gone.
step() { # TEXT ITERATIONS: a step under way, whose user has been told of a move
  cluster head rm -f "$shared/trace"
  cluster user timeout 120 srun --mpi=pmix --lb="auto,trace=$shared/trace" -N2 -n2 "$LB_BUILD/bench/cpuloop" --iterations "$2" --hold="$shared/hold" \
    </dev/null >"$tap_tmp/job" 2>&1 &
  job=$!
  ok "$1: a step runs" wait_for 30 running
  running || true
  ok "$1: its user is told of moves" wait_for 60 told
}
ends() { # TEXT: it goes on to its end
  touch "$shared/hold"
  st=0
  wait $job || st=$?
  is $st 0 "$1: it ends"
  like "$(cat "$tap_tmp/job")" 'missing=0 duplicated=0' "$1: well"
}
step "lbd stands still" 1000
lbd=$(cluster lbd n1 status | cut -d' ' -f3)
kill -STOP "$lbd"
ends "lbd stands still"
kill -CONT "$lbd"
ok "lbd stands still: it is said to have ended" wait_for 30 ended
cluster user "$lbctl" --json explain "$id" >"$tap_tmp/json"
is "$(jq -r '[.decisions[].seq] | . == [range(length)]' "$tap_tmp/json")" true "lbd stands still: every decision once, in order"
is "$(grep -c '"event":"decision"' "$shared/trace")" "$(jq -r '.decisions | length' "$tap_tmp/json")" "lbd stands still: as in the trace"

# A balancer that is killed says nothing: what was heard is all, and the step's ranks go on without it.
rm -f "$shared/hold"
step "the balancer is killed" 1000
known() { cluster head "$lbctl" --json job "$id" | jq -e '.jobs[0].hosts | length == 2' >/dev/null; }
ok "the balancer is killed: the job is known" wait_for 30 known
cluster on n1 pkill -KILL -x lb-balancer
ok "the balancer is killed: it is said to have ended" wait_for 30 ended
over() { cluster head "$lbctl" --json job "$id" | jq -e '.jobs[0].ended > 1e9' >/dev/null; }
ok "the balancer is killed: in the database, too" wait_for 30 over
ends "the balancer is killed"

cluster lbd head kill
cluster lbd head start
again() { cluster user "$lbctl" explain "$id" >"$tap_tmp/explain" 2>&1 && grep -q ', ended\.' "$tap_tmp/explain"; }
ok "they are kept over lbd's death" wait_for 30 again
done_testing
