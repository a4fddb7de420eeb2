# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# For tests of jobs that run while something is wrong with lbd; sourced behind need_cluster 2, of which n2 is the better host and Slurm
# would take n1.  srun runs on n1: its lbd is a node's, and knows what the controller has told it.
#   jobs_run WHAT             two checks: a step is balanced and ends right, a new job goes to n2
#   step N [OPTION...], right, better     their parts
#   status HOST KEY           a value of lbctl status; status_is HOST KEY VALUE; status_above HOST KEY NUMBER
#   all_acknowledged          what the lbds of both hosts had to tell when this was asked is acknowledged within a minute
#   pid_of HOST               its lbd
dir=$(cluster dir)
status() { # HOST KEY
  cluster on "$1" "$LB_BUILD/bin/lbctl" --json status | perl -MJSON::PP -e '
    my $v = decode_json(join "", <STDIN>); $v = $v->{$_} for split /\./, $ARGV[0];
    print ref $v eq "JSON::PP::Boolean" ? ($v ? "true" : "false") : $v // "null"' "$2"
}
status_is() { [ "$(status "$1" "$2")" = "$3" ]; }
status_above() { [ "$(status "$1" "$2")" -gt "$3" ]; }
# As all_acknowledged of lbds.sh: not that nothing waits, and at least one.
all_acknowledged() {
  local host told
  for host in n1 n2; do
    told=$(($(status $host uplink.pending) + $(status $host uplink.acknowledged)))
    within 60 status_above $host uplink.acknowledged $((told > 0 ? told - 1 : 0)) || return 1
  done
}
id=$(awk -F: '$1 == "lbtest" { print $3 }' "$dir/passwd")
n1_user() { cluster on n1 setpriv --reuid "$id" --regid "$id" --clear-groups timeout 60 "$@"; }
pid_of() { cluster lbd "$1" status | cut -d' ' -f3; }

better() { [ "$(n1_user srun --lb=hosts -N1 -n1 hostname)" = n2 ]; }
step() { n1_user srun --mpi=pmix --lb=auto -N2 -n4 "$LB_BUILD/bench/cpuloop" --iterations "$@" >"$tap_tmp/step" 2>&1; }
right() { # whatever is wrong the step ends well; that a busy machine lets go of the balancer is another matter
  for _ in 1 2 3; do
    step 150 || { echo "status $?: $(cat "$tap_tmp/step")"; return 1; }
    cat "$tap_tmp/step"
    grep -q 'missing=0 duplicated=0 corrupt=0' "$tap_tmp/step" || return 1
    ! grep -q ' balanced_ranks=4 ' "$tap_tmp/step" || return 0
  done
  return 1
}
jobs_run() { # WHAT
  ok "$1: a step is balanced, each iteration once" right
  ok "$1: a new job goes to the better host" within 60 better
}
