#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A Fortran program on a real cluster of unequal hosts: a stepped and a pipelined loop through the module slurm_lb, with the
# serial results.
# beside others: results, and what depends on speed is asked for three times
. "$(dirname "$0")/../lib/tap.sh"
need_build lb-balancer slurm_plugin/.libs/lb.so .libs/liblb.so
for c in gfortran mpifort; do
  command -v $c >/dev/null || skip_all "$c is not installed (Debian: gfortran, libopenmpi-dev)"
done
export LB_CLUSTER_LBD=no
need_cluster 4
for i in 1 2 3; do cluster speed n$i .4 >/dev/null; done
cluster speed n4 .133 >/dev/null

shared=$(cluster dir)/shared/fortran
mkdir -p "$shared"
chmod 755 "$shared"
libs=$(cd "$LB_BUILD/.libs" && pwd)
ok "the module compiles with the example" mpifort -O2 -J "$shared" -o "$shared/relax" "$top/libclient/fortran/slurm_lb.f90" \
  "$top/examples/relax.f90" -L"$libs" -llb -Wl,-rpath,"$libs"

# 600 steps take half a second of a fast machine even when balanced: fewer are over before a move would pay
relax() { # LB KIND: its line
  local opts=()
  [ "$1" = no ] || opts=("--lb=$1")
  cluster user timeout -k 5 120 env SLURM_PMIX_DIRECT_CONN=false srun --mpi=pmix -N4 -n4 "${opts[@]}" "$shared/relax" "$2" 400 1500 600 </dev/null 2>&1
}
for kind in stepped pipelined; do
  like "$(relax no $kind)" "^$kind balanced=0 moved_rows=0 identical=T" "$kind without a balancer"
  # whether rows move depends on what the machine does: in one run of three they must, the result is right in each
  for _ in 1 2 3; do
    said=$(relax auto $kind)
    like "$said" "^$kind balanced=1 .* identical=T" "$kind with one"
    if grep -q 'moved_rows=[1-9]' <<<"$said"; then break; fi
  done
  like "$said" 'moved_rows=[1-9]' "rows of the $kind loop have moved"
done
ok "a loop over communicators compiles" mpifort -O2 -J "$shared" -o "$shared/split" "$top/libclient/fortran/slurm_lb.f90" \
  "$top/tests/unit/examples/split.f90" -L"$libs" -llb -Wl,-rpath,"$libs"
said=$(cluster user timeout -k 5 120 env SLURM_PMIX_DIRECT_CONN=false srun --mpi=pmix -N4 -n4 --lb=auto "$shared/split" </dev/null 2>&1)
is "$(grep -c '^split of 4: ranks=2 complete=T' <<<"$said")" 2 "each of two communicators runs its own loop, whole"
done_testing
