#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154
# The cluster itself: what it gives, and that it leaves nothing behind.
. "$(dirname "$0")/../lib/tap.sh"

export LB_CLUSTER_LBD=no LB_CLUSTER_PLUGIN=no
need_cluster 3
first=$LB_CLUSTER second=${LB_CLUSTER}b
dir=$(cluster dir)
hosts() { cluster head srun -N3 -n3 hostname | sort | tr '\n' ' '; }

# Computes for a second by the clock, and prints the CPU time that it got for it, in thousandths of the time that passed.
cat >"$dir/shared/spin.pl" <<'PERL'
use Time::HiRes qw(time);
my ($t0, $x) = (time, 0);
while (time - $t0 < 1) { $x += $_ for 1 .. 2000 }
my ($u, $s) = times;
printf "%d\n", 1000 * ($u + $s) / (time - $t0);
PERL
spin() { cluster on "$1" perl "$dir/shared/spin.pl"; }
at_most() { [ "$1" -le "$2" ]; }
at_least() { [ "$1" -ge "$2" ]; }

is "$(hosts)" "n1 n2 n3 " "a job runs on each host"
sees() { [ "$(cluster head sinfo -h -o %D -t idle,alloc,comp)" = 3 ]; }
ok "Slurm sees three hosts" within 10 sees

pid=$(cat "$dir/host/n1/init.pid")
like "$(cluster up 3)" "up already" "a second up says that there is nothing to do"
is "$(cat "$dir/host/n1/init.pid")" "$pid" "and does nothing"
not_ok "up with another number is refused" cluster up 2

ok "a host has its own /tmp" cluster on n1 sh -c 'echo x >/tmp/mine && test "$(ls /tmp/mine)" = /tmp/mine'
not_ok "which another does not see" cluster on n2 test -e /tmp/mine
ok "and its own /run/slurm-lb" cluster on n1 touch /run/slurm-lb/mine
not_ok "which another does not see" cluster on n2 test -e /run/slurm-lb/mine
ok "nor does the machine" test ! -e /tmp/mine -a ! -e /run/slurm-lb/mine
own_slurmd() { [ "$(cluster on n1 pgrep -c slurmd)" = 1 ]; }
ok "a host sees its own processes only" within 10 own_slurmd # one that is about to be slurmstepd is called so, too
is "$(cluster on n2 hostname)" n2 "and has its own name"
is "$(cluster on n2 sh -c 'exit 7' || echo $?)" 7 "the status of a command comes back"

is "$(cluster user srun -N1 id -un)" lbtest "an ordinary user runs jobs"
ok "and writes in his home, from any host" cluster user srun -N3 -n3 sh -c 'touch "$HOME/of.$(hostname)"'
is "$(cluster user -u lbother srun -N1 id -un)" lbother "so does the other one"
is "$(cluster head srun --uid=lbtest -N1 id -un)" lbtest "and root in their name"

# A quota is a limit from above: other work on this machine can only lower what is got.
cluster speed n1 0.2
at_most_got=$(spin n1)
ok "a host of .2 cores gets no more ($at_most_got thousandths)" at_most "$at_most_got" 270
cluster speed n1 0.05
at_most_got=$(spin n1)
ok "nor one of .05 ($at_most_got)" at_most "$at_most_got" 120
cluster speed n1 max
best=0
for _ in {1..20}; do
  got=$(spin n1)
  [ "$got" -le $best ] || best=$got
  [ $best -lt 300 ] || break
done
ok "without a limit it gets more ($best)" at_least $best 300
like "$(cluster status)" "n1 .* speed=max" "status tells the speed"
mkfifo "$tap_tmp/now"
was=$EPOCHREALTIME
cluster speed n1 0.3,0.2 --when "$tap_tmp/now" >"$tap_tmp/moments" &
exec 7>"$tap_tmp/now"
like "$(cluster status)" "n1 .* speed=max" "a speed that waits is not in force"
said() { [ "$(wc -l <"$tap_tmp/moments")" = "$1" ]; }
echo >&7
ok "it is set when it is told to" within 10 said 1
like "$(cluster status)" "n1 .* speed=0.3" "and is in force then"
echo >&7
ok "and the next one" within 10 said 2
like "$(cluster status)" "n1 .* speed=0.2" "is in force then"
echo >&7
ok "and the first one again" within 10 said 3
exec 7>&-
wait $!
is $? 0 "who tells it ends, and so it ends"
ok "it says each moment and speed" awk -v was="$was" -v now="$EPOCHREALTIME" '
  $1 < was || $1 > now || $2 != (NR % 2 ? .3 : .2) { bad = 1 } { was = $1 } END { exit bad || NR != 3 }' "$tap_tmp/moments"
cluster speed n1 max
not_ok "a speed that is none is refused" cluster speed n1 fast
not_ok "and one when there is nothing to wait for" cluster speed n1 0.5 --when "$tap_tmp/nothing"
not_ok "and one of nothing" cluster speed n1 0
not_ok "and an unknown host" cluster speed n9 0.5

allowed() { cluster on "$1" sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status; }
everywhere=$(allowed n1)
one=${everywhere%%[-,]*}
cluster processor n1 "$one"
is "$(allowed n1)" "$one" "a host may be kept on one processor"
is "$(cluster head srun -w n1 -N1 sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)" "$one" "and its jobs, by the daemon that was there"
is "$(allowed n2)" "$everywhere" "the others not"
cluster processor n1 all
is "$(allowed n1)" "$everywhere" "and on all of them again"
not_ok "a processor that there is not is refused" cluster processor n1 4096

# The machine's own value is left alone here.
export LB_SLICE_FILE=$tap_tmp/slice
echo 5000 >"$LB_SLICE_FILE"
ok "what a processor draws of a quota at a time may be less" cluster slice 500
is "$(cat "$LB_SLICE_FILE")" 500 "and is"
cluster slice 300
ok "it is set back" cluster slice back
is "$(cat "$LB_SLICE_FILE")" 5000 "to what it was"
not_ok "none at all is refused" cluster slice 0

ok "a load starts" cluster load n2 --cores 1.5
has_processes() { [[ $(cluster load n2 status) == *"processes=$1 "* ]]; }
ok "with two processes for one core and a half" within 10 has_processes 2
ok "a second call replaces it" cluster load n2 --cores 1 --period 0.1 --duty 0.5
ok "by its own" within 10 has_processes 1
uses_cpu() { [[ $(cluster load n2 status) =~ cpu_s=(0\.[1-9]|[1-9]) ]]; }
ok "it computes" within 30 uses_cpu
like "$(cluster load n1 status)" "processes=0 " "on that host only"
ok "off ends it" cluster load n2 off
like "$(cluster load n2 status)" "processes=0 " "at once"
ok "and may be said twice" cluster load n2 off
not_ok "a load of no cores is refused" cluster load n2 --cores 0
not_ok "and one with a period but no duty" cluster load n2 --cores 1 --period 2

if command -v mpicc >/dev/null; then
  cat >"$dir/shared/hello.c" <<'C'
#include <mpi.h>
#include <stdio.h>
static double row[300000];
int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    row[299999] = rank;
    MPI_Sendrecv_replace(row, 300000, MPI_DOUBLE, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    rank = (int)row[299999];
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%d ranks, sum %d\n", size, sum);
    MPI_Finalize();
    return 0;
}
C
  mpicc -o "$dir/shared/hello" "$dir/shared/hello.c"
  is "$(cluster head srun --mpi=pmix -N3 -n6 "$dir/shared/hello")" "6 ranks, sum 15" "an MPI program runs across the hosts"
  is "$(cluster user srun --mpi=pmix -N3 -n3 "$dir/shared/hello")" "3 ranks, sum 3" "and as an ordinary user"
else
  skip "an MPI program" "there is no mpicc"
fi

# A fence holds each rank until the last one has come, on whatever host: Open MPI relies on it.
if pkg-config --exists pmix 2>/dev/null; then
  cat >"$dir/shared/fence.c" <<'C'
#include <pmix.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    pmix_proc_t me;
    struct stat s;
    char name[200];
    if (PMIx_Init(&me, NULL, 0))
        return 2;
    if (argc > 2) { /* says that it is there, and waits to be let go */
        snprintf(name, sizeof(name), "%s.in.%u", argv[1], me.rank);
        fclose(fopen(name, "w"));
        while (stat(argv[2], &s))
            usleep(10000);
    }
    for (int i = 0; i < 20; i++) {
        if (me.rank == (unsigned)i % 3)
            usleep(20000);
        snprintf(name, sizeof(name), "%s.%d.%u", argv[1], i, me.rank);
        fclose(fopen(name, "w"));
        if (PMIx_Fence(NULL, 0, NULL, 0))
            return 3;
        for (int r = 0; r < 3; r++) {
            snprintf(name, sizeof(name), "%s.%d.%d", argv[1], i, r);
            if (stat(name, &s))
                printf("rank %u: fence %d over before rank %d came\n", me.rank, i, r);
        }
    }
    PMIx_Finalize(NULL, 0);
    return 0;
}
C
  # shellcheck disable=SC2046
  cc -o "$dir/shared/fence" "$dir/shared/fence.c" $(pkg-config --cflags --libs pmix)
  is "$(cluster head srun --mpi=pmix -N3 -n3 "$dir/shared/fence" "$dir/shared/came")" "" "a PMIx fence waits for the other hosts"

  # A slurmd that is silent for longer than Slurm's own 10 s of MessageTimeout, as all are while the machine stands still.
  ranks_in() { [ "$(find "$dir/shared" -name "$1.in.*" | wc -l)" = 3 ]; }
  silent() { # NAME: sets status, and what the job said is in the file of that name
    local job slurmd
    cluster head srun --mpi=pmix -N3 -n3 "$dir/shared/fence" "$dir/shared/$1" "$dir/shared/$1.go" >"$tap_tmp/$1" 2>&1 &
    job=$!
    ok "(three ranks are in)" within 30 ranks_in "$1"
    slurmd=$(cat "$dir/host/n1/pid/slurmd")
    cluster on n1 kill -STOP "$slurmd"
    touch "$dir/shared/$1.go"
    sleep 12
    cluster on n1 kill -CONT "$slurmd"
    status=0
    wait $job || status=$?
  }
  silent late
  is $status 0 "a slurmd is silent for 12 s, and the job goes on"
  is "$(cat "$tap_tmp/late")" "" "with nothing to say"
  ok "no host is lost by it" hosts_are_well

  # The planted failure: with Slurm's own patience it does not.
  sed -i 's/^MessageTimeout=.*/MessageTimeout=10/' "$dir/slurm.conf"
  cluster head scontrol reconfigure
  silent planted
  like "$(cat "$tap_tmp/planted")" "timed out" "with 10 s the others lose patience"
  sed -i 's/^MessageTimeout=.*/MessageTimeout=60/' "$dir/slurm.conf"
  cluster head scontrol reconfigure
  ok "(all is well again)" within 30 hosts_are_well
else
  skip "a PMIx fence" "there is no libpmix-dev"
fi

# Another cluster beside it.
at_end env LB_CLUSTER="$second" "$top/tests/cluster/cluster" down
ok "a second cluster comes up beside the first" cluster -i "$second" up 2
is "$(cluster -i "$second" head srun -N2 -n2 hostname | sort | tr '\n' ' ')" "n1 n2 " "and runs jobs"
is "$(hosts)" "n1 n2 n3 " "as the first one still does"
cluster slice 500
not_ok "slices are set by one of them at a time" cluster -i "$second" slice 300
is "$(cat "$LB_SLICE_FILE")" 500 "and are as the first has set them"
ok "it goes" cluster -i "$second" down
is "$(hosts) $(cat "$LB_SLICE_FILE")" "n1 n2 n3  500" "without harm to the first"

# A crash: a host's first process is killed, slurmctld too.
kill -KILL "$(cat "$dir/host/n2/init.pid")"
cluster head pkill -KILL slurmctld || true
ok "status sees that a host is dead" within 20 eval '! cluster status'
like "$(cluster up 3 2>&1)" "made anew" "up makes a half dead cluster anew"
is "$(hosts)" "n1 n2 n3 " "which works"

cluster load n1 --cores 1
cluster head srun -N3 -n3 sleep 1000 >/dev/null 2>&1 &
ok "(a job runs)" within 30 cluster on n3 pgrep -x sleep
kill -KILL "$(cat "$dir/host/n3/init.pid")"
mapfile -t before < <(find /sys/fs/cgroup -path "*/lbc.$first/*" -name cgroup.procs -exec cat {} + | sort -u)
ok "there are processes" test ${#before[@]} -gt 8
cluster slice 500
ok "down works with a dead host, a job and a load" cluster down
is "$(cat "$LB_SLICE_FILE")" 5000 "the machine's slices are as they were"
wait
is "$(ip netns list | grep -c "lbc\.$first\." || true)" 0 "no network namespace is left"
is "$(find /sys/fs/cgroup -type d -name "lbc.$first" | wc -l)" 0 "no cgroup"
is "$(grep -c "$dir" /proc/mounts || true)" 0 "no mount"
ok "no folder" test ! -e "$dir"
left=0
for pid in "${before[@]}"; do
  # Its number may be another's already.
  if grep -qF "lbc.$first/" "/proc/$pid/cgroup" 2>/dev/null; then left=$((left + 1)); fi
done
is $left 0 "no process"
ok "a second down is content" cluster down
not_ok "a command on it is refused" cluster head true
not_ok "a name that is none too" cluster -i ../x up
done_testing
