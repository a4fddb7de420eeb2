# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# For tests in TAP: source it first.  The test's cluster is its own and is always brought down at the end.
#
#   . "$(dirname "$0")/../lib/tap.sh"
#   need_cluster 4                    a cluster of four hosts, or the whole test is skipped with the reason
#   ok "a job runs" cluster head srun -N4 true
#   not_ok "..." CMD...; is "$got" "$wanted" "..."; like "$got" 'regex' "..."; skip "..." "reason"; diag TEXT
#   ok "..." within 30 CMD...         it succeeds at last; hosts_are_well: none is drained or down
#   at_end CMD...                     run at the end too, whatever happens (the last one first)
#   done_testing                      always the last line: without it the test has failed
#
# $tap_tmp is a folder for files, removed at the end; $top the tree; $LB_BUILD the build.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$top/tests/lib/look.sh"
export LB_BUILD=${LB_BUILD:-$top/build}
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
tap_n=0 tap_failed=0 tap_done='' tap_cluster='' tap_ends=() tap_last=$SECONDS
tap_tmp=$(mktemp -d)
chmod 755 "$tap_tmp"

tap_exit() {
  local st=$? i
  trap - EXIT INT TERM HUP
  set +e
  for ((i = ${#tap_ends[@]} - 1; i >= 0; i--)); do eval "${tap_ends[i]}"; done
  if [ -n "$tap_cluster" ]; then
    if ! cluster down >"$tap_tmp/down" 2>&1; then
      sed 's/^/# /' "$tap_tmp/down"
      st=1
    fi
  fi
  rm -rf "$tap_tmp"
  [ -n "$tap_done" ] || { echo "# the test ended before its end (status $st)"; [ $st != 0 ] || st=1; }
  exit $st
}
trap tap_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

cluster() { "$top/tests/cluster/cluster" "$@"; }

at_end() { tap_ends+=("$(printf '%q ' "$@")"); }

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

skip_all() { # REASON
  [ $tap_n = 0 ] || { diag "skip_all after the first test"; exit 1; }
  echo "1..0 # SKIP $*"
  tap_done=1
  exit 0
}

tap_result() { # 0|1 TEXT
  tap_n=$((tap_n + 1))
  if [ "$1" = 0 ]; then
    echo "ok $tap_n - $2"
  else
    echo "not ok $tap_n - $2"
    tap_failed=$((tap_failed + 1))
  fi
  # where a test's time goes
  [ $((SECONDS - tap_last)) -lt 3 ] || diag "$((SECONDS - tap_last)) s"
  tap_last=$SECONDS
}

# Run CMD; what it wrote is shown when the test fails, and stays in $tap_tmp/out.
ok() { # TEXT CMD...
  local text=$1 st=0
  shift
  ("$@") </dev/null >"$tap_tmp/out" 2>&1 || st=$?
  tap_result $((st != 0)) "$text"
  [ $st = 0 ] || { diag "status $st of: $*"; tail -n 20 "$tap_tmp/out" | sed 's/^/#   /'; }
}

not_ok() { # TEXT CMD...
  local text=$1 st=0
  shift
  ("$@") </dev/null >"$tap_tmp/out" 2>&1 || st=$?
  tap_result $((st == 0)) "$text"
  [ $st != 0 ] || { diag "should have failed: $*"; tail -n 20 "$tap_tmp/out" | sed 's/^/#   /'; }
}

is() { # GOT WANTED TEXT
  if [ "$1" = "$2" ]; then tap_result 0 "$3"; else
    tap_result 1 "$3"
    diag "got:    $1"
    diag "wanted: $2"
  fi
}

like() { # GOT REGEX TEXT
  if [[ $1 =~ $2 ]]; then tap_result 0 "$3"; else
    tap_result 1 "$3"
    diag "got:              $1"
    diag "does not match:   $2"
  fi
}

within() { # SECONDS CMD...: again until it succeeds; of what it wrote the last is left
  look_until "$1" 0.2 tap_look "${@:2}" || { cat "$tap_tmp/within"; return 1; }
}
tap_look() { "$@" >"$tap_tmp/within" 2>&1; }

# No host of the cluster is drained, down or failing; one that still completes a step is well.
hosts_are_well() { [ -z "$(cluster head sinfo -h -N -t drain,down,fail -o '%N %T' | tee /dev/stderr)" ]; }

skip() { # TEXT REASON
  tap_n=$((tap_n + 1))
  echo "ok $tap_n - $1 # SKIP $2"
}

need_build() { # PROGRAM...
  local p
  for p in "$@"; do [ -x "$LB_BUILD/$p" ] || skip_all "$p is not built"; done
}

# A cluster of N hosts under a name that no one else has.
need_cluster() { # N
  local st=0
  export LB_CLUSTER=t$$
  cluster up "$1" >"$tap_tmp/up" 2>&1 || st=$?
  if [ $st = 77 ]; then skip_all "$(sed 's/^cluster: //' "$tap_tmp/up" | tail -n 1)"; fi
  tap_cluster=1
  [ $st = 0 ] || { diag "$(cat "$tap_tmp/up")"; exit 1; }
}

done_testing() {
  echo "1..$tap_n"
  tap_done=1
  [ $tap_failed = 0 ] || exit 1
  exit 0
}
