#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Placements asked for at the same moment: what was just placed counts at once, so they spread.
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
dir=$(cluster dir)
shared=$dir/shared
printf '#!/bin/sh\nexec sleep 60\n' >"$shared/balancer"
chmod 755 "$shared/balancer"
cluster plugin "$LB_BUILD/slurm_plugin/.libs/lb.so" "balancer=$shared/balancer" deadline_ms=100
for h in n1 n2 n3 n4; do cluster speed $h .3; done
# the load is looked at once an hour: that they spread comes from what was placed, not from what was seen
printf 'probe { load_interval = 3600s }\n' >"$dir/policy.conf"
cluster lbd all start >/dev/null
known() { cluster head "$LB_BUILD/bin/lbctl" --json rank | perl -MJSON::PP -e '
  my @h = @{decode_json(join "", <STDIN>)->{hosts}}; exit !(@h == 4 && !grep { $_->{core_speed} < .1 } @h)'; }
ok "four hosts of the same speed are known" within 90 known
diag "$(cluster head "$LB_BUILD/bin/lbctl" rank)"

# Steps stay until all have been placed; what is looked at is where lbd has sent them, since on a busy machine some may be
# left to Slurm: their 100 ms are over.
cat >"$shared/step" <<'X'
#!/bin/bash
for ((i = 0; i < 1200; i++)); do
  [ ! -e "$1/go" ] || exit 0
  sleep .1
done
exit 1
X
cat >"$shared/burst" <<'X'
#!/bin/bash
seen=$1 n=$2
shift 2
for ((k = 1; k <= n; k++)); do srun -v "$@" "${0%/*}/step" "$seen" 2>"$seen/log.$k" & done
for ((i = 0; i < 600; i++)); do
  [ "$(grep -lE 'lb: .* (gets|lays out)' "$seen"/log.* | wc -l)" -lt $n ] || break
  sleep .1
done
touch "$seen/go"
wait
X
chmod 755 "$shared/step" "$shared/burst"
new_folder() { rm -rf "$shared/seen" && mkdir -m 1777 "$shared/seen"; }
# the tasks that lbd has sent to each host, as "n1 n2 n3 n4"
placed() { cat "$shared"/seen/log.* | sed -n 's/^.*lb: \(n[1-4]\) gets \([0-9]*\) tasks.*/\1 \2/p' |
  awk '{ n[$1] += $2 } END { print n["n1"] + 0, n["n2"] + 0, n["n3"] + 0, n["n4"] + 0 }'; }
burst() { # N OPTION...: steps in one job
  new_folder
  cluster user timeout 200 salloc -Q -N4 -n16 "$shared/burst" "$shared/seen" "$@" >"$tap_tmp/err" 2>&1
}
enough() { # LEAST OPTION...: a burst of which so many were sent by lbd; on a busy machine it takes several
  local least=$1 i sum
  shift
  for i in 1 2 3 4 5; do
    "$@"
    read -r sum < <(placed | awk '{ print $1 + $2 + $3 + $4 }')
    [ "$sum" -lt "$least" ] || break
    diag "only $sum were placed in time"
  done
  got=$(placed)
}
fresh() { new_folder && cluster user timeout 200 "$shared/burst" "$shared/seen" "$@" >"$tap_tmp/err" 2>&1; }
# Steps whose 100 ms were over before lbd's answer came were left to Slurm, and lbd had counted them: so many are missing.
spread() { # N LEAST N1 N2 N3 N4: of N steps so many at least, no host has more than its part of all, or two more than another
  local n=$1 least=$2 sum=0 low=99 high=0 v
  shift 2
  for v in "$@"; do sum=$((sum + v)) low=$((v < low ? v : low)) high=$((v > high ? v : high)); done
  [ "$#" = 4 ] && [ $sum -ge "$least" ] && [ $high -le $(((n + 3) / 4)) ] && [ $((high - low)) -le $((1 + n - sum)) ]
}
enough 5 burst 10 --exact --lb=hosts -n1
# shellcheck disable=SC2086
ok "ten steps that begin at once spread over the hosts: $got" spread 10 5 $got
# more at once than there are processors: some wait for one, on a busy machine many are left to Slurm
enough 6 burst 20 --exact --lb=hosts -n1
# shellcheck disable=SC2086
ok "so do those of twenty that lbd has placed: $got" spread 20 6 $got
enough 2 burst 3 --lb=hosts -n1
# shellcheck disable=SC2086
ok "three that take whole hosts go to hosts of their own: $got" spread 3 2 $got

# --- when they have ended, nothing is left of them
in_job() { cluster user salloc -Q -N4 -n16 "$@" hostname | sort | uniq -c | awk '{ print $1 }' | sort | tr '\n' ' '; }
is "$(in_job srun --lb=hosts -n16)" "4 4 4 4 " "the next step has all of it"

# --- new jobs: of four that begin at once none goes where another went
enough 3 fresh 4 --lb=hosts -c4 -n1
# shellcheck disable=SC2086
ok "four jobs that begin at once go to hosts of their own: $got" spread 4 3 $got

# --- two login hosts: steps of one job, which fit on any host, in turn from the head and from n1; each waits until the other's lbd
# knows of the one before
new_folder
# shellcheck disable=SC2016
cluster user timeout 200 salloc -Q -N4 -n16 sh -c 'echo $SLURM_JOB_ID >"$0/job"; until [ -e "$0/over" ]; do sleep .2; done' "$shared/seen" >/dev/null 2>&1 &
ok "(a job is there)" within 60 test -s "$shared/seen/job"
id=$(awk -F: '$1 == "lbtest" { print $3 }' "$dir/passwd")
from() { # HOST K: the K-th step
  cluster on "$1" setpriv --reuid "$id" --regid "$id" --clear-groups env SLURM_JOB_ID="$(cat "$shared/seen/job")" SLURM_JOB_NODELIST=n1,n2,n3,n4 \
    SLURM_JOB_NUM_NODES=4 SLURM_JOB_CPUS_PER_NODE='4(x4)' srun -v -N1 -n1 --exact --lb=hosts "$shared/step" "$shared/seen" 2>"$shared/seen/log.$2"
}
is_placed() { grep -qE 'lb: .* (gets|lays out)' "$shared/seen/log.$1"; }
knows() { # HOST N: so many claims, here and elsewhere
  cluster on "$1" "$LB_BUILD/bin/lbctl" --json status | perl -MJSON::PP -e '
    my $c = decode_json(join "", <STDIN>)->{claims}; exit !($c->{here} + $c->{elsewhere} == $ARGV[0])' "$2"
}
known_claims=0
for k in 1 2 3 4; do
  if ((k % 2)); then from head $k & else from n1 $k & fi
  ok "step $k is placed" within 60 is_placed $k
  known_claims=$((known_claims + $(grep -c 'lb: .* gets' "$shared/seen/log.$k" || true)))
  ok "both lbds know of it" eval "within 30 knows head $known_claims && within 30 knows n1 $known_claims"
done
got=$(placed)
# shellcheck disable=SC2086
ok "from two login hosts they spread alike: $got" spread 4 2 $got
touch "$shared/seen/go"
ok "when they have ended both forget them" eval "within 60 knows head 0 && within 60 knows n1 0"
touch "$shared/seen/over"
wait

# --- without an lbd they run as ever
cluster lbd head kill >/dev/null
new_folder
ok "lbd dead: they run as ever" cluster user timeout 200 salloc -Q -N4 -n16 "$shared/burst" "$shared/seen" 4 --exact --lb=hosts -n1
is "$(placed)" "0 0 0 0" "and where Slurm wants them"
ok "no host is drained or down" hosts_are_well
done_testing
