#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The examples on a real cluster of unequal hosts: under srun, srun --lb and mpirun each gives what its plain serial form
# gives, for any number of iterations; every iteration of the benchmarks' loop is run once, its rows unharmed.
# beside others, long: results, and what depends on speed is asked for three times
. "$(dirname "$0")/../lib/tap.sh"
need_build tests/mpi/comm examples/matmul examples/primes examples/denoise examples/jacobi examples/sor examples/minimal examples/plain bench/cpuloop
need_cluster 4

examples=$LB_BUILD/examples
photo=/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg
# Unequal as below, but faster: what takes time here is to start 120 jobs.
for i in 1 2 3; do cluster speed n$i 1.2; done
cluster speed n4 .4

has_lb=
cluster head srun --lb=help >/dev/null 2>&1 && has_lb=yes

# How to start np ranks; $1 is one of these names.  Slurm 22.05's PMIx servers connect to one another directly, and now and
# then refuse an ordinary user's: "Munge decode failed: Unauthorized credential".  The job then hangs in MPI_Init, whatever
# it links: so not directly here.
launch() { # HOW NP PROGRAM OPTION...
  local how=$1 np=$2
  local -a srun=(timeout -k 5 120 env SLURM_PMIX_DIRECT_CONN=false srun --mpi=pmix)
  local -a mpirun=(mpirun --oversubscribe -np "$np")
  shift 2
  case $how in
    srun) cluster user "${srun[@]}" -N"$np" -n"$np" "$@" ;;
    srun--lb) cluster user "${srun[@]}" -N"$np" -n"$np" --lb "$@" ;;
    srun--lb-sync) cluster user "${srun[@]}" -N"$np" -n"$np" --lb=auto,sync=yes "$@" ;;
    srun--lb-keys) cluster user "${srun[@]}" -N"$np" -n"$np" --lb=auto,profit=0,stable=5s,grain=7 "$@" ;;
    srun--lb-more-ranks) cluster user "${srun[@]}" -N2 -n"$np" --overcommit --lb "$@" ;;
    mpirun) cluster user timeout -k 5 120 env LB_BALANCER="$LB_BUILD/lb-balancer" "${mpirun[@]}" "$@" ;;
    mpirun-static) cluster user timeout -k 5 120 env LB_POLICY=off "${mpirun[@]}" "$@" ;;
  esac
}

# The checksum line of a launch, in $tap_tmp/launched with what else it said.
checksum_of() { # HOW NP PROGRAM OPTION...
  launch "$@" </dev/null >"$tap_tmp/launched" 2>"$tap_tmp/launched.err" || { cat "$tap_tmp/launched.err"; return 1; }
  grep '^checksum=' "$tap_tmp/launched"
}

same() { # HOW NP PROGRAM OPTION...
  local how=$1 np=$2 program=$3 want got
  shift 3
  want=$("$examples/$program" --serial "$@" | grep '^checksum=')
  got=$(checksum_of "$how" "$np" "$examples/$program" "$@") || true
  is "$got" "$want" "$how -n$np $program $*"
}

hows="srun mpirun-static"
if [ -n "$has_lb" ] && [ -x "$LB_BUILD/lb-balancer" ]; then
  hows="$hows srun--lb mpirun"
else
  skip "srun --lb" "the plugin or lb-balancer is not built"
fi

for how in $hows; do
  few="0 1 3 4 5"
  [[ $how == srun* ]] || few="1 5"
  for n in $few 150; do same "$how" 4 matmul --n "$n"; done
  for n in $few; do same "$how" 4 primes --limit "$n" --block 1; done
  for n in $few 90; do same "$how" 4 jacobi --n "$n" --steps 30; done
  for n in 0 3 90; do same "$how" 4 sor --n "$n" --steps 20; done
  same "$how" 4 primes --limit 60000 --block 100
  if [ -r $photo ]; then
    for n in $few 90; do same "$how" 4 denoise --width 120 --search 3 --height "$n"; done
  else
    skip "$how denoise" "$photo is missing (Debian: python-matplotlib-data)"
  fi
  same "$how" 1 matmul --n 20
  same "$how" 3 primes --limit 5000 --block 50
done

for i in 1 2 3; do cluster speed n$i .4; done
cluster speed n4 .133
# Enough work that rows move: the result must be the same all the same, and rows must have moved.
if [[ $hows == *srun--lb* ]]; then
  moved() { # HOW: in one run of three, each with more to do; the result is right in each
    local limit
    for limit in 1500000 3000000 6000000; do
      same "$1" 4 primes --limit $limit --report
      if grep -q 'run .* moves=[1-9]' "$tap_tmp/launched"; then break; fi
      diag "nothing moved to the limit of $limit"
    done
    like "$(cat "$tap_tmp/launched")" 'run .* moves=[1-9]' "iterations moved in that run"
  }
  moved srun--lb
  # The hosts' quotas say how fast they are, until the machine itself is short of time: then all may be alike for a while.
  slow_has_less() { # WHAT PROGRAM OPTION...: in one run of three; the result is right in each
    local what=$1
    shift
    for _ in 1 2 3; do
      same srun--lb 4 "$@" --report
      # by its first shares or by moves: lbd may know the hosts well enough for none to be needed
      if grep -Eq 'host=n4 iterations=[0-9]+ share_ratio=0\.[01]' "$tap_tmp/launched"; then break; fi
      diag "n4 had as much: $(grep host=n4 "$tap_tmp/launched")"
    done
    like "$(cat "$tap_tmp/launched")" 'host=n4 iterations=[0-9]+ share_ratio=0\.[01]' "the slow host had $what"
  }
  slow_has_less "fewer rows" matmul --n 1100
  slow_has_less "a smaller block" jacobi --n 1500 --steps 400
  slow_has_less "a smaller block of the pipeline" sor --n 1500 --steps 100
  # ranks that wait for the balancer's answers
  moved srun--lb-sync
  same srun--lb-sync 4 jacobi --n 400 --steps 100
  same srun--lb-sync 4 sor --n 400 --steps 30
  # parameters that a person sets
  same srun--lb-keys 4 primes --limit 300000
  same srun--lb-keys 4 sor --n 400 --steps 30
  same srun--lb-more-ranks 5 primes --limit 100000 --block 20
  # the same programs as loops of steps
  for kind in stepped pipelined; do
    same srun--lb 4 matmul --n 400 --kind $kind --steps 20
    same srun--lb 4 primes --limit 500000 --kind $kind --steps 30
  done

  checks() { # WHAT CPULOOP-OPTION...: nothing missing, nothing twice, no row damaged
    local what=$1
    shift
    for _ in 1 2 3; do # that a busy machine lets go of the balancer is another matter
      launch srun--lb 4 "$LB_BUILD/bench/cpuloop" "$@" </dev/null >"$tap_tmp/launched" 2>"$tap_tmp/launched.err" || cat "$tap_tmp/launched.err"
      if grep -q 'balanced_ranks=4' "$tap_tmp/launched"; then break; fi
      like "$(cat "$tap_tmp/launched")" 'missing=0 duplicated=0 corrupt=0 ' "$what (not balanced: again)"
    done
    like "$(cat "$tap_tmp/launched")" 'missing=0 duplicated=0 corrupt=0 .*balanced_ranks=4' "$what"
  }
  for n in 0 1 3 4 5; do checks "each of $n iterations once" --iterations=$n --ms 5; done
  checks "each iteration once, with rows that move" --iterations=1500
  checks "each iteration once in each of 8 passes" --iterations=100 --passes=8
  checks "each iteration once, front-loaded" --iterations=1000 --ms=.5 --shape=front
  like "$(launch srun--lb 4 "$examples/minimal" 2>&1 </dev/null)" 'the root of 144 is 12' "the shortest program"
  # Rank 0 is on another host than task 0, where the step's balancer is; the other contexts have balancers of their own.
  launch srun--lb 4 env LB_BALANCER="$LB_BUILD/lb-balancer" "$LB_BUILD/tests/mpi/comm" </dev/null >"$tap_tmp/launched" 2>&1
  is "$(grep -c '^comm .* np=[34] iterations=500 balanced=1 error=0$' "$tap_tmp/launched")" 3 "ranks in another order, and contexts after the first"
  is "$(grep '^lb:' "$tap_tmp/launched")" "" "nothing is said of it"
  launch srun--lb 4 "$examples/plain" </dev/null >"$tap_tmp/launched" 2>&1
  like "$(cat "$tap_tmp/launched")" 'sum=499999500000' "a program that knows nothing of lb.h"
  like "$(cat "$tap_tmp/launched")" 'lb: the program did not call lb_init' "and that is said"
fi
done_testing
