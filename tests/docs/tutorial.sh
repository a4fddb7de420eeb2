#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The programs of docs/tutorial.md compile without a warning and print what the plain ones print, and what the page shows, with any
# number of ranks, with a balancer and without.  tutorial.sh [PAGE]
set -u
top_builddir=$(cd "${top_builddir:-$PWD}" && pwd)
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
page=${1:-$top_srcdir/docs/tutorial.md}
for p in mpicc mpirun; do command -v $p >/dev/null || { echo "SKIP: $p is not installed"; exit 77; }; done
if nm "$top_builddir/.libs/liblb.so" 2>/dev/null | grep -q __asan_init; then
  echo "SKIP: a sanitizer's library has to be in the program, too"
  exit 77
fi
. "$top_srcdir/tests/lib/mpi.sh"
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
  local name=$1 np=$2 how=$3 got kind moved
  case $name in rod* | sor* | cells*) kind=${name%-plain} ;; *) kind=points ;; esac
  got=$(timeout 120 mpirun -np "$np" "$dir/$name" 2>"$dir/err" </dev/null) || { complain "$name, $np ranks, $how: it fails"; return; }
  [[ $got =~ ^sum=[0-9.]+$ ]] || { complain "$name, $np ranks, $how: it prints '$got'"; return; }
  ran=$((ran + 1))
  moved=$(sed -n 's/^lb: loops=.* moves=\([0-9]*\) .*/\1/p' "$dir/err")
  moves[$kind]=$((${moves[$kind]:-0} + ${moved:-0}))
  # the rod's sum is made of those of the ranks, and depends on its order a little; the others are the same to the last digit
  [ -n "${printed[$kind]:-}" ] || printed[$kind]=$got
  if [ "${got%????}" != "${printed[$kind]%????}" ] || { [ "$kind" != rod ] && [ "$got" != "${printed[$kind]}" ]; }; then
    complain "$name, $np ranks, $how: $got, others ${printed[$kind]}"
  fi
}
declare -A moves=()
compile() { # PROGRAM
  mpicc -std=gnu11 -O2 -Wall -Wextra -Werror -I"$top_srcdir/libclient" -o "$dir/$1" "$dir/$1.c" -L"$top_builddir/.libs" -llb -lm 2>"$dir/err"
}
export LB_BALANCER=$top_builddir/lb-balancer

# LB_TEST_BRIEF: two ranks, and nothing planted.
ranks=${TUTORIAL_RANKS:-1 2 3 4} least=56
[ -z "${LB_TEST_BRIEF:-}" ] || ranks=${TUTORIAL_RANKS:-2} least=14
programs=0 due=0
for f in "$dir"/*-plain.c "$dir/plain.c" "$dir"/*.c; do # the plain ones first: the others are to print the same
  name=$(basename "$f" .c)
  [ -e "$f" ] && [ ! -e "$dir/$name" ] || continue
  programs=$((programs + 1))
  compile "$name" || { complain "$name does not compile"; continue; }
  for np in $ranks; do
    due=$((due + 1))
    LB_POLICY=off run "$name" "$np" "without a balancer"
    grep -q 'lb\.h' "$f" || continue
    due=$((due + 1))
    LB_POLICY=auto,report run "$name" "$np" "with a balancer"
  done
done
[ $programs -ge 9 ] && [ $due -ge $least ] && [ $ran = $due ] || { echo "not ok - only $ran of $due runs of the $programs programs of $page"; failures=$((failures + 1)); }
# Else the functions that pack cells would not have been run.
[ "${moves[cells]:-0}" -gt 0 ] || { echo "not ok - no cells have moved"; failures=$((failures + 1)); }

# What the page shows is what was printed: a line "$ mpirun ... ./NAME", and below it the sum.
shown=0
while read -r name sum; do
  case $name in rod* | sor* | cells*) kind=${name%-plain} ;; *) kind=points ;; esac
  shown=$((shown + 1))
  [ "$sum" = "${printed[$kind]:-}" ] || { echo "not ok - the page shows $sum of $name, which prints ${printed[$kind]:-nothing}"; failures=$((failures + 1)); }
done < <(awk '/^    \$ mpirun/ { name = $NF; sub(/.*\//, "", name); next } /^    sum=/ && name != "" { print name, $1 } { name = "" }' "$page")
[ $shown -ge 6 ] || { echo "not ok - the page shows $shown results"; failures=$((failures + 1)); }

# The change that the page proposes to see lb_error at work, and the lines that it shows of it.
lost() {
  local change line found=0 try ended=0
  change=$(sed -n 's/^others: write `\(.*\)`\.$/\1/p' "$page")
  [ -n "$change" ] && [ -e "$dir/cells.c" ] || { echo "not ok - the page proposes no change"; failures=$((failures + 1)); return; }
  sed "s/pass < PASSES;/$change;/" "$dir/cells.c" >"$dir/lost.c"
  grep -qF "$change;" "$dir/lost.c" && compile lost || { complain "the change does not compile"; return; }
  for try in 1 2 3; do # on a machine so busy that a balancer does not answer, there is none
    LB_POLICY=auto timeout 120 mpirun -np 2 "$dir/lost" >"$dir/out" 2>"$dir/err" </dev/null || { ended=$?; break; }
  done
  [ $ended = 1 ] || complain "the changed cells end with $ended after $try tries, as if all were well"
  ! grep -q '^sum=' "$dir/out" || complain "the changed cells print a sum"
  while IFS= read -r line; do
    found=$((found + 1))
    sed 's/rank [01]:/rank N:/' "$dir/err" | grep -qxF -- "$(sed 's/rank [01]:/rank N:/' <<<"$line")" || complain "the changed cells do not print: $line"
  done < <(sed -nE 's/^    ((lb: )?rank [0-9]+: .*)/\1/p' "$page")
  [ $found = 2 ] || { echo "not ok - the page shows $found lines of the changed cells"; failures=$((failures + 1)); }
}
lost
[ $failures = 0 ] && echo "ok - $ran runs, $shown results"

# A page that is wrong is found out: where a balanced program computes something else, in what it shows, and where lb_error is not asked.
planted() { # PROGRAMS SED-SCRIPT COMPLAINT: a page of these programs and no others, one of them changed
  awk -v keep=" $1 " '/^```c / { name = $2; sub(/\.c$/, "", name); block = 1; out = index(keep, " " name " ") == 0 }
    !(block && out) { print } /^```$/ { block = out = 0 }' "$page" >"$dir/kept.md"
  sed "$2" "$dir/kept.md" >"$dir/planted.md"
  ! cmp -s "$dir/kept.md" "$dir/planted.md" || { echo "not ok - nothing was planted by $2"; failures=$((failures + 1)); }
  TUTORIAL_RANKS=1 "$0" "$dir/planted.md" >"$dir/said" 2>/dev/null
  grep -q "^not ok - $3" "$dir/said" || { echo "not ok - a page with $2 is not found out"; failures=$((failures + 1)); }
}
if [ $# = 0 ] && [ -z "${LB_TEST_BRIEF:-}" ]; then
  planted 'plain loop' '/^```c loop/,/^```$/s/steps < MOST/steps < MOST - 1/' 'loop, 1 ranks, without a balancer: sum=.*, others sum='
  planted 'sor-plain sor' '/^```c sor\.c/,/^```$/s/1\.5/1.500000001/' 'sor, 1 ranks, with a balancer: sum=.*, others sum='
  planted 'cells-plain cells' '/^```c cells\.c/,/^```$/s/hop < HOPS/hop < HOPS - 1/' 'cells, 1 ranks, with a balancer: sum=.*, others sum='
  # one rank alone has nothing to pack
  grep -q '^not ok - no cells have moved' "$dir/said" || { echo "not ok - cells that stay are not found out"; failures=$((failures + 1)); }
  planted 'cells-plain cells' 's/if (lb_error(ctx) != 0)/if (0)/' 'the changed cells end with 0 after 3 tries, as if'
  planted 'plain' 's/^    sum=3/    sum=4/' 'the page shows sum=4.* of plain, which prints sum=3'
fi
exit $((failures > 0))
