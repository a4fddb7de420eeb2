# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# For tests/fault/*.t, after need_cluster: jobs in the background on hosts one of which is slow, and the balancer with faults.

loop=$LB_BUILD/bench/cpuloop
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
planned() { [ -s "$shared/done" ]; }

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

complete() {
  cat "$tap_tmp/job"
  grep -q 'missing=0 duplicated=0 corrupt=0' "$tap_tmp/job"
}

# An example with a serial form: what ${program[@]} runs from here on, and its serial result.
examples=$LB_BUILD/examples
kind() { # NAME OPTION...
  program=("$examples/$1" "${@:2}")
  serial=$("$examples/$1" --serial "${@:2}" | grep '^checksum=')
}
same() {
  cat "$tap_tmp/job"
  grep -qxF "$serial" "$tap_tmp/job"
}

# Wait until CMD succeeds, a minute at most.
await() { # CMD...
  local i
  for ((i = 0; i < 1200; i++)); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.05
  done
  echo "waited in vain for: $*"
  return 1
}

on_host() { cluster on "$1" pgrep -x "$2"; }

# A job under a plan: it ends well and complete, and the plan was carried out.
one() { # TEXT POLICY PLAN-LINE...
  local text=$1 policy=$2
  shift 2
  plan "$@"
  job --lb="$policy" -N4 -n4 -- "$loop" --iterations 240 --ms 2 --passes 2 --row-bytes 20000
  ok "$text: ends well" job_end
  ok "$text: complete" complete
  ok "$text: it did happen" planned
}
