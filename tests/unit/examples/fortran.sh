#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Fortran module compiles with its examples, whose results are the serial ones: alone and, where MPI has a compiler for
# Fortran, on three ranks.
set -u
command -v gfortran >/dev/null || { echo "gfortran is not installed"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
lib=$(cd "$top_builddir/.libs" && pwd)
case $(nm -D "$lib/liblb.so") in *__asan*) echo "not with sanitizers"; exit 77 ;; esac

# compile COMPILER PROGRAM SOURCE
compile() {
    "$1" -Wall -O -J "$dir" -o "$dir/$2" "$top_srcdir/libclient/fortran/slurm_lb.f90" "$3" -L"$lib" -llb -Wl,-rpath,"$lib"
}
compile gfortran roots "$top_srcdir/examples/roots.f90" || exit 1
compile gfortran pack "$top_srcdir/tests/unit/examples/pack.f90" || exit 1
[ "$("$dir/roots")" = "identical=T" ] || exit 1
[ "$("$dir/pack")" = "lists of rank 0 are right, passes=6" ] || exit 1
if ! command -v mpifort >/dev/null || ! command -v mpirun >/dev/null; then
    echo "mpifort or mpirun is missing: on one rank only"
    exit 0
fi
compile mpifort relax "$top_srcdir/examples/relax.f90" || exit 1
. "$top_srcdir/tests/lib/mpi.sh"
[ ! -x "$top_builddir/lb-balancer" ] || export LB_BALANCER="$top_builddir/lb-balancer"
for kind in stepped pipelined; do
    timeout 120 mpirun -np 3 "$dir/relax" $kind 60 40 30 >"$dir/out" || { cat "$dir/out"; exit 1; }
    grep -q "^$kind .* identical=T" "$dir/out" || { cat "$dir/out"; exit 1; }
done
timeout 120 mpirun -np 3 "$dir/pack" >"$dir/out" || { cat "$dir/out"; exit 1; }
[ "$(grep -c "are right, passes=6" "$dir/out")" = 3 ] || { cat "$dir/out"; exit 1; }
compile mpifort split "$top_srcdir/tests/unit/examples/split.f90" || exit 1
timeout 120 mpirun -np 4 "$dir/split" >"$dir/out" || { cat "$dir/out"; exit 1; }
[ "$(grep -c "^split of 4: ranks=2 complete=T" "$dir/out")" = 2 ] || { cat "$dir/out"; exit 1; }
