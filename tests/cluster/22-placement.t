#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Placement on real hosts: tasks by speed inside an allocation, the best idle hosts for a new job, whoever says otherwise, and
# what steps inside inherit.
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl slurm_plugin/.libs/lb.so
export LB_CLUSTER_LBD=no
need_cluster 4
dir=$(cluster dir)
shared=$dir/shared
cat >"$shared/balancer" <<'X'
#!/usr/bin/perl
$SIG{TERM} = sub { exit 0 };
sleep 60 while 1;
X
chmod 755 "$shared/balancer"
cluster plugin "$LB_BUILD/slurm_plugin/.libs/lb.so" "balancer=$shared/balancer" deadline_ms=100
# n1 and n2 are slow, n3 and n4 fast, by more than any noise
cluster speed n1 .15
cluster speed n2 .15
cluster speed n3 .6
cluster speed n4 .6
printf 'probe { load_interval = 1s }\npartition second { placement = off }\nindex { task = 0 }\n' >"$dir/policy.conf"
cluster lbd all start >/dev/null
slow_of() { cluster on "$1" "$LB_BUILD/bin/lbctl" --json rank | perl -MJSON::PP -e '
  my %s = map { $_->{host} => $_->{core_speed} } @{decode_json(join "", <STDIN>)->{hosts}};
  exit !(keys %s == 4 && $s{n1} < .35 * $s{n3} && $s{n2} < .35 * $s{n3} && $s{n1} < .35 * $s{n4} && $s{n2} < .35 * $s{n4}
         && $s{n3} < 1.5 * $s{n4} && $s{n4} < 1.5 * $s{n3})'; }
ok "the hosts' speeds are known" within 90 slow_of head
diag "$(cluster head "$LB_BUILD/bin/lbctl" rank)"

# the counts of tasks on n1 to n4
counts() { sort "$tap_tmp/hosts" | uniq -c | awk '{ n[$2] = $1 } END { print n["n1"] + 0, n["n2"] + 0, n["n3"] + 0, n["n4"] + 0 }'; }
in_job() { # CMD of srun with its options; the host of each task
  cluster user salloc -Q -N4 -n16 "${salloc[@]}" "$@" hostname >"$tap_tmp/hosts" 2>"$tap_tmp/err"
}
salloc=()
spread() { # CONDITION on n1 to n4, CMD...
  local condition=$1 n1 n2 n3 n4
  shift
  in_job "$@" || return 1
  read -r n1 n2 n3 n4 < <(counts)
  ((condition))
}
# n3 and n4 share six tasks as they were measured last, which is not quite alike; 3.2 or 2.4 may still be 3, 2.2 may not
by_speed() { echo "n1 == 1 && n2 == 1 && n3 + n4 == 6 && $(cluster head "$LB_BUILD/bin/lbctl" --json rank | jq -r '
  [.hosts[] | {(.host): .core_speed}] | add | 6 * .n3 / (.n3 + .n4) | "n3 >= \(. - .75 | ceil) && n3 <= \(. + .75 | floor)"')"; }
spread_by_speed() { # CMD...
  local condition
  condition=$(by_speed) && spread "$condition" "$@"
}
diag "$(by_speed)"
evenly='n1 == 2 && n2 == 2 && n3 == 2 && n4 == 2'

# --- inside an allocation
ok "tasks follow the hosts' speed, each host keeps one" within 30 spread_by_speed srun --lb -n8
in_job srun --lb -n8 -l
is "$(sort -n "$tap_tmp/hosts" | sed 's/^ *[0-9]*: //' | uniq | tr '\n' ' ')" "n1 n2 n3 n4 " "ranks go through the hosts in their order"
ok "no more than its CPUs" within 30 spread 'n3 == 4 && n4 == 4 && n1 == 2 && n2 == 2' srun --lb -n12
ok "with two CPUs for a task two fit" within 30 spread 'n3 == 2 && n4 == 2 && n1 == 1 && n2 == 1' srun --lb -n6 -c2
ok "key hosts: the fast ones alone" within 30 spread 'n1 == 0 && n2 == 0 && n3 == 2 && n4 == 2' srun --lb=hosts -n4
ok "key hosts with -N: so many of them" within 30 spread 'n1 == 0 && n2 == 0 && n3 + n4 == 6 && n3 >= 2 && n4 >= 2' srun --lb=hosts -N2 -n6
ok "without --lb as Slurm does" spread "$evenly" srun -n8
ok "with --lb=off likewise" spread "$evenly" srun --lb=off -n8
for own in "-m cyclic" "--ntasks-per-node=2" "--overcommit -m block" "-w n1,n2,n3,n4 -m cyclic"; do
  # shellcheck disable=SC2086
  ok "with $own too: the user's layout" spread "$evenly" srun --lb -n8 $own
done
ok "the user's hosts" spread 'n3 + n4 == 0' srun --lb=hosts -n2 -w n1,n2
printf '%s\n' n4 n1 n1 >"$shared/own"
ok "the user's own host file" spread 'n1 == 2 && n4 == 1' env SLURM_HOSTFILE="$shared/own" srun --lb=hosts -n3
salloc=(--lb=hosts)
ok "salloc --lb: steps inherit it" within 30 spread 'n1 == 0 && n2 == 0 && n3 == 2 && n4 == 2' srun -n4
salloc=(--lb)
ok "salloc --lb without a policy" within 30 spread_by_speed srun -n8
salloc=(-p second)
ok "a partition without placement" spread "$evenly" srun --lb -n8
salloc=()
printf '#!/bin/bash\nsrun -n8 hostname\n' >"$shared/script"
batch() {
  local n1 n2 n3 n4 condition
  rm -f "$shared/batch.out"
  condition=$(by_speed) || return 1
  cluster user sbatch --wait --lb -N4 -n16 -o "$shared/batch.out" "$shared/script" >/dev/null
  grep '^n[1-4]$' "$shared/batch.out" >"$tap_tmp/hosts"
  read -r n1 n2 n3 n4 < <(counts)
  ((condition))
}
ok "sbatch --lb: steps inherit it" within 60 batch
# shellcheck disable=SC2016
in_job srun --lb -n8 bash -c '[ "$SLURM_PROCID" != 0 ] || { env | grep -E "^SLURM_(HOSTFILE|DISTRIBUTION|ARBITRARY_NODELIST|LB_PLACED)="; srun --overlap -n1 -Q bash -c "echo inner"; } #'
is "$(cat "$tap_tmp/hosts")" inner "a step within such a step is laid out as ever, and tasks see nothing of it"

# --- a new job
fresh() { # CONDITION, CMD...
  local condition=$1 n1 n2 n3 n4
  shift
  cluster user timeout 60 "$@" hostname >"$tap_tmp/hosts" 2>"$tap_tmp/err" || return 1
  read -r n1 n2 n3 n4 < <(counts)
  ((condition))
}
fast='n1 == 0 && n2 == 0 && n3 == 1 && n4 == 1'
ok "key hosts: a new job gets the fast hosts" within 30 fresh "$fast" srun --lb=hosts -N2 -n2
# the hosts of a job that has just ended may still be completing it
ok "without the key it gets Slurm's" within 30 fresh 'n1 == 1 && n2 == 1' srun --lb -N2 -n2
ok "a partition without placement: Slurm's" within 30 fresh 'n1 == 1 && n2 == 1' srun --lb=hosts -p second -N2 -n2
ok "what limits the hosts is Slurm's to judge" within 30 fresh 'n1 == 1 && n2 == 1' srun --lb=hosts --mem=100 -N2 -n2
ok "more than there is on idle hosts is Slurm's to judge" within 30 fresh 'n1 + n2 + n3 + n4 == 4' srun --lb=hosts -N4 -n4
cluster user srun -w n4 -n4 -J busy sleep 300 >/dev/null 2>&1 &
busy=$!
# shellcheck disable=SC2016
ok "(n4 is busy)" within 30 sh -c '"$0" head sinfo -h -n n4 -o %T | grep allocated >/dev/null' "$top/tests/cluster/cluster"
ok "a busy host is not waited for" within 30 fresh 'n3 == 1 && n4 == 0 && n1 + n2 == 1' srun --lb=hosts -N2 -n2
cluster head scancel -n busy
wait $busy || true
cluster head scontrol update nodename=n3 state=drain reason=test
ok "nor is a drained one taken" within 30 fresh 'n3 == 0 && n4 == 1 && n1 + n2 == 1' srun --lb=hosts -N2 -n2
cluster head scontrol update nodename=n3 state=resume

# --- faults
cluster lbd all kill >/dev/null
ok "lbd dead: as Slurm does" spread "$evenly" srun --lb -n8
ok "lbd dead: a new job, too" within 30 fresh 'n1 == 1 && n2 == 1' srun --lb=hosts -N2 -n2
cluster lbd all restart >/dev/null
ok "lbd is back" within 90 spread_by_speed srun --lb -n8
# shellcheck disable=SC2046
kill -STOP $(cluster lbd head status | cut -d' ' -f3-)
ok "lbd of the head stopped: a new job as Slurm does" within 30 fresh 'n1 == 1 && n2 == 1' srun --lb=hosts -N2 -n2
# shellcheck disable=SC2046
kill -CONT $(cluster lbd head status | cut -d' ' -f3-)
ok "no host is drained or down" hosts_are_well
done_testing
