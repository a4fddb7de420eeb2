# SPDX-License-Identifier: BSD-3-Clause
# Searches of a model by spin, for the tests beside it; they set $model, the file.
. "$(dirname "$0")/../lib/tap.sh"
command -v spin >/dev/null || skip_all "spin is not installed"
command -v "${CC:-gcc}" >/dev/null || skip_all "no C compiler"

optimize=-O1 # what is searched whole; a fault is found before such a compilation has ended

# Build the verifier of a case, and search, for 200 s of processor time at most: beside other tests that may be long.
# Its output in $tap_tmp/pan.out.
search() { # CFLAGS PANFLAGS DEFINE...
  local cflags=$1 flags=$2
  shift 2
  rm -rf "$tap_tmp/pan"
  mkdir "$tap_tmp/pan"
  # shellcheck disable=SC2086
  (cd "$tap_tmp/pan" && spin -a "$@" "$model" && "${CC:-gcc}" -w "$optimize" -DCOLLAPSE -DMEMLIM=1500 $cflags -o pan pan.c && { ulimit -t 200; ./pan -m1000000 -w22 $flags; }) \
    >"$tap_tmp/pan.out" 2>&1 || { tail -n 20 "$tap_tmp/pan.out"; return 1; }
}

# The whole space was searched, each line of the model was reached (but the ends of what goes on for ever), and nothing is wrong.
holds() { # CFLAGS PANFLAGS DEFINE...
  search "$@" || return
  cat "$tap_tmp/pan.out"
  grep -q 'errors: 0$' "$tap_tmp/pan.out" && ! grep -qi 'max search depth\|Search not completed' "$tap_tmp/pan.out" &&
    ! sed -n '/^unreached in/,/states)/p' "$tap_tmp/pan.out" | grep 'pml:' | grep -v '"-end-"' >/dev/null
}

wrong='assertion violated' stuck='invalid end state (' # what a search says of a fault
either="$wrong\|$stuck"

found() { # REGEX CFLAGS PANFLAGS DEFINE...
  local what=$1 optimize=-O0
  shift
  search "$@" || return
  cat "$tap_tmp/pan.out"
  grep -q "$what" "$tap_tmp/pan.out"
}

states() { sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$tap_tmp/pan.out"; }
ends="-DNOCLAIM -DSAFETY" cycles="-DNOCLAIM -DNP" # what is looked for: assertions and dead ends; runs that go on for ever
fair="-DNFAIR=3"                                  # a formula, when every process that can go on does at some time

case_holds() { # TEXT CFLAGS PANFLAGS DEFINE...
  local text=$1
  shift
  ok "$text" holds "$@"
  diag "$(states) states"
}

# One of millions of states.  It says the same until its model is changed: a run that has so long (LB_TEST_SHORT) leaves it out.
left_out=0
case_long() { # as case_holds
  if [ -n "${LB_TEST_SHORT:-}" ]; then left_out=$((left_out + 1)); else case_holds "$@"; fi
}
done_searching() {
  [ $left_out = 0 ] || skip "$left_out searches of millions of states" "./run test model makes them"
  done_testing
}

case_finds() { # PLANTED-FAULT REGEX CFLAGS PANFLAGS DEFINE...
  ok "planted fault $1 is found" found "$2" "$3" "$4" -DPLANTED="$1" "${@:5}"
}
