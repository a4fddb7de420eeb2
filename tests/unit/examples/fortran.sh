#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Fortran module compiles with an example, whose result is the serial one.
set -u
command -v gfortran >/dev/null || { echo "gfortran is not installed"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
lib=$(cd "$top_builddir/.libs" && pwd)
case $(nm -D "$lib/liblb.so") in *__asan*) echo "not with sanitizers"; exit 77 ;; esac
gfortran -Wall -J "$dir" -o "$dir/roots" "$top_srcdir/libclient/fortran/slurm_lb.f90" "$top_srcdir/examples/roots.f90" \
    -L"$lib" -llb -Wl,-rpath,"$lib" || exit 1
[ "$("$dir/roots")" = "identical=T" ]
