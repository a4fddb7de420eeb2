#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The programs of docs/tutorial.md compile without a warning and print what the plain ones print, with any number of ranks, with a
# balancer and without.  tutorial.sh [PAGE]
set -u
top_builddir=$(cd "${top_builddir:-$PWD}" && pwd)
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
page=${1:-$top_srcdir/docs/tutorial.md}
for p in mpicc mpirun; do command -v $p >/dev/null || { echo "SKIP: $p is not installed"; exit 77; }; done
if nm "$top_builddir/.libs/liblb.so" 2>/dev/null | grep -q __asan_init; then
  echo "SKIP: a sanitizer's library has to be in the program, too"
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_base_warn_component_unused=0
export LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
unset LB_POLICY LB_HOST_SPEED LB_BALANCER_DIR
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# Of its own: in the one that all share, another mpirun may take away what one has just made.
export OMPI_MCA_orte_tmpdir_base=$dir
failures=0 ran=0

complain() { # WHAT
  echo "not ok - $1"
  sed 's/^/#   /' "$dir/err"
  failures=$((failures + 1))
}

# Programs are blocks that begin ```c NAME.c
awk -v dir="$dir" '/^```c [a-z-]+\.c$/ { f = dir "/" $2; next } /^```/ { f = "" } f { print > f }' "$page"
: >"$dir/err"

declare -A printed
run() { # PROGRAM NP HOW
  local name=$1 np=$2 how=$3 got kind
  case $name in rod*) kind=rod ;; *) kind=points ;; esac
  got=$(timeout 120 mpirun -np "$np" "$dir/$name" 2>"$dir/err" </dev/null) || { complain "$name, $np ranks, $how: it fails"; return; }
  [[ $got =~ ^sum=[0-9.]+$ ]] || { complain "$name, $np ranks, $how: it prints '$got'"; return; }
  ran=$((ran + 1))
  # a sum of doubles depends on its order a little
  [ -n "${printed[$kind]:-}" ] || printed[$kind]=$got
  if [ "${got%????}" != "${printed[$kind]%????}" ] || { [ $kind = points ] && [ "$got" != "${printed[$kind]}" ]; }; then
    complain "$name, $np ranks, $how: $got, others ${printed[$kind]}"
  fi
}

for f in "$dir"/*.c; do
  name=$(basename "$f" .c)
  mpicc -std=gnu11 -O2 -Wall -Wextra -Werror -I"$top_srcdir/libclient" -o "$dir/$name" "$f" -L"$top_builddir/.libs" -llb -lm 2>"$dir/err" ||
    { complain "$name does not compile"; continue; }
  for np in ${TUTORIAL_RANKS:-1 4}; do
    LB_POLICY=off run "$name" $np "without a balancer"
    grep -q 'lb\.h' "$f" && LB_BALANCER=$top_builddir/lb-balancer LB_POLICY=auto run "$name" $np "with a balancer"
  done
done
[ "$(ls "$dir"/*.c 2>/dev/null | wc -l)" -ge 5 ] && [ $ran -ge 14 ] || { echo "not ok - only $ran runs of the programs of $page"; failures=$((failures + 1)); }
[ $failures = 0 ] && echo "ok - $ran runs"

# A page whose second program computes something else is found out.
if [ $# = 0 ]; then
  awk '/^```c rod/ { exit } /^```c loop/ { loop = 1 } loop { sub(/steps < MOST/, "steps < MOST - 1") } { print }' "$page" >"$dir/planted.md"
  TUTORIAL_RANKS=1 "$0" "$dir/planted.md" 2>/dev/null | grep -q '^not ok - plain, 1 ranks, without a balancer: sum=.*, others sum=' ||
    { echo "not ok - a page that is wrong is not found out"; failures=$((failures + 1)); }
fi
exit $((failures > 0))
