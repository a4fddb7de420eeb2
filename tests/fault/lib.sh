# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# For tests/fault/*.t and others, after need_cluster: jobs in the background on hosts one of which is slow, the balancer with
# faults, and harm that is done to a job while it runs, however fast the machine: to one that is held until it is released, or to
# one that is begun again, longer, until it was not over before.

loop=$LB_BUILD/bench/cpuloop
length=240 # iterations of the shortest job under a plan
seconds=${LB_FAULT_SECONDS:-120} # a job that runs for so long hangs

fault_hosts() {
  local i
  for i in 1 2 3; do cluster speed n$i 0.4 >/dev/null; done
  cluster speed n4 0.133 >/dev/null
}

# From now on jobs have the balancer with faults; see tests/fault/plan.c.
fault_balancer() {
  shared=$(cluster dir)/shared/faults
  mkdir -p "$shared"
  chmod 1777 "$shared"
  cp "$LB_BUILD/tests/fault/lb-balancer" "$shared/"
  cluster plugin "$LB_BUILD/slurm_plugin/.libs/lb.so" "balancer=$shared/lb-balancer"
}

plan() { # LINE...
  printf '%s\n' "$@" >"$shared/plan"
  rm -f "$shared/done"
}
planned() { # each of it has been done
  local what when
  while read -r what when _; do grep -qx "$what $when" "$shared/done" || return 1; done <"$shared/plan"
}

# A job in the background; its output in $tap_tmp/job.
job() { # SRUN-OPTIONS... -- COMMAND...
  local opts=()
  while [ "$1" != -- ]; do opts+=("$1"); shift; done
  shift
  rm -f "$tap_tmp/status"
  {
    st=0
    cluster user timeout -k 5 "$seconds" srun "${opts[@]}" "$@" </dev/null >"$tap_tmp/job" 2>&1 || st=$?
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

job_runs() { [ ! -e "$tap_tmp/status" ]; }

# A loop that begins further passes until it is released: what is done to it meanwhile is done to a job that runs.
held_job() { # SRUN-OPTIONS... -- CPULOOP-OPTIONS...
  local opts=()
  while [ "$1" != -- ]; do opts+=("$1"); shift; done
  shift
  hold=$(cluster dir)/shared/hold
  rm -f "$hold"
  job "${opts[@]}" -- "$loop" --hold="$hold" "$@"
}
release() { touch "$hold"; }
held_end() { release && job_end; }

# The number of the only job; one before it may not be quite over for Slurm.
job_id() { cluster head squeue -h -t running,suspended -o %A; }

complete() {
  cat "$tap_tmp/job"
  grep -q 'missing=0 duplicated=0 corrupt=0' "$tap_tmp/job"
}

# An example with a serial form: what ${program[@]} runs from here on, and its serial result.
examples=$LB_BUILD/examples
legs=0 # so many in each step of a pipelined loop, between which rows change hands; 0: as many as it finds good
kind() { # NAME OPTION...
  program=(env "LB_TEST_LEGS=$legs" "$examples/$1" "${@:2}")
  serial=$("$examples/$1" --serial "${@:2}" | grep '^checksum=')
}
same() {
  cat "$tap_tmp/job"
  grep -qxF "$serial" "$tap_tmp/job"
}

# Wait until CMD succeeds, a minute at most.
quietly() { "$@" >/dev/null 2>&1; }
await() { # CMD...
  look_until 60 0.05 quietly "$@" || { echo "waited in vain for: $*"; return 1; }
}

# Wait until CMD succeeds, a minute at most, and not longer than the job runs.
during() { # CMD...
  local seen=''
  look_until 60 0.05 during_look "$@" || { echo "waited in vain for: $*"; return 1; }
  [ -n "$seen" ] || { echo "the job was over before this: $*"; return 1; }
}
during_look() { if quietly "$@"; then seen=1; else ! job_runs; fi; }

# struck BEGIN HARM: BEGIN 1 starts a job, HARM does things to it by `part`, one after the other with &&, and the job must still
# run afterwards; else the same with BEGIN 2, 4 and 8, which start jobs so many times as long.  The parts are results of the test.
parts=()
part() { # TEXT CMD...
  parts+=("$1")
  ("${@:2}") </dev/null >"$tap_tmp/out" 2>&1
}
is_over() { # its ranks go before the job does
  local i
  for ((i = 0; i < 60; i++)); do
    job_runs || return 0
    sleep 0.05
  done
  return 1
}
struck() { # BEGIN HARM
  local times st=1 i
  for times in 1 2 4 8; do
    parts=()
    "$1" $times
    if "$2" && part "all of it in the middle of the job" job_runs; then st=0; break; fi
    if [ $times = 8 ] || ! is_over; then break; fi
    diag "over too soon, for: ${parts[-1]}"
    ok "a job that was over too soon ends well" job_end
  done
  for ((i = 0; i < ${#parts[@]}; i++)); do tap_result $((st != 0 && i == ${#parts[@]} - 1)) "${parts[i]}"; done
  [ $st = 0 ] || sed 's/^/#   /' "$tap_tmp/out"
}

on_host() { cluster on "$1" pgrep -x "$2"; }

# What a job under a plan is to show: that it was carried out.  A test may ask for more.
happened() { planned; }

# A job under a plan: it ends well and complete, and what was planned happened: in a longer one when a short one gave no occasion.
one() { # TEXT POLICY PLAN-LINE...
  local text=$1 policy=$2 n
  shift 2
  for n in $length $((length * 2)) $((length * 4)); do
    plan "$@"
    job --lb="$policy" -N4 -n4 -- "$loop" --iterations $n --ms 2 --passes 2 --row-bytes 20000
    ok "$text: ends well" job_end
    ok "$text: complete" complete
    if happened; then break; fi
    diag "no occasion in $n iterations; there was: $(tr '\n' ' ' <"$shared/done")"
  done
  ok "$text: it did happen" happened
}

# The same with an example that has a serial form; under $lb.
under() { # TEXT NAME STEPS PLAN-LINE...
  local text=$1 name=$2 steps
  for steps in $3 $(($3 * 2)) $(($3 * 4)); do
    plan "${@:4}"
    kind "$name" --n 1000 --steps "$steps"
    job --lb="${lb:-auto}" -N4 -n4 -- "${program[@]}"
    ok "$text: ends well" job_end
    ok "$text: the serial result" same
    if happened; then break; fi
    diag "no occasion in $steps steps; there was: $(tr '\n' ' ' <"$shared/done")"
  done
  ok "$text: it did happen" happened
}
