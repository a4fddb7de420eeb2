#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The protocol of moves under the model checker: tests/model/moves.pml says what is modelled and what is checked.
# Each case is searched whole; a planted fault must be found, or the search shows nothing.
. "$(dirname "$0")/../lib/tap.sh"
command -v spin >/dev/null || skip_all "spin is not installed"
command -v "${CC:-gcc}" >/dev/null || skip_all "no C compiler"

model=$top/tests/model/moves.pml

# Build the verifier of a case, and search.  Its output in $tap_tmp/pan.out.
search() { # CFLAGS PANFLAGS DEFINE...
  local cflags=$1 flags=$2
  shift 2
  rm -rf "$tap_tmp/pan"
  mkdir "$tap_tmp/pan"
  # shellcheck disable=SC2086
  (cd "$tap_tmp/pan" && spin -a "$@" "$model" && "${CC:-gcc}" -w -O2 -DNOCLAIM -DCOLLAPSE -DMEMLIM=1500 $cflags -o pan pan.c && timeout 200 ./pan -m100000 -w22 $flags) \
    >"$tap_tmp/pan.out" 2>&1 || { tail -n 20 "$tap_tmp/pan.out"; return 1; }
}

# The whole space was searched, each line of the model was reached, and nothing is wrong.
holds() { # CFLAGS PANFLAGS DEFINE...
  search "$@" || return
  cat "$tap_tmp/pan.out"
  grep -q 'errors: 0$' "$tap_tmp/pan.out" && ! grep -qi 'max search depth\|Search not completed' "$tap_tmp/pan.out" &&
    ! grep -A 1 '^unreached in' "$tap_tmp/pan.out" | grep -q 'pml:'
}

found() { # REGEX CFLAGS PANFLAGS DEFINE...
  local what=$1
  shift
  search "$@" || return
  cat "$tap_tmp/pan.out"
  grep -q "$what" "$tap_tmp/pan.out"
}

states() { sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$tap_tmp/pan.out"; }
ends=-DSAFETY cycles=-DNP

case_holds() { # TEXT CFLAGS PANFLAGS DEFINE...
  local text=$1
  shift
  ok "$text" holds "$@"
  diag "$(states) states"
}
case_holds "three ranks, two passes, two moves: each iteration once, nobody waits for ever" $ends "" -DRANKS=3 -DPASSES=2 -DMOVES=2
case_holds "three ranks, one pass, three moves" $ends "" -DRANKS=3 -DPASSES=1 -DMOVES=3
case_holds "two ranks, three passes, three moves: there and back again" $ends "" -DRANKS=2 -DPASSES=3 -DMOVES=3
case_holds "one rank closes the loop early" $ends "" -DRANKS=3 -DPASSES=2 -DMOVES=2 -DCLOSES
case_holds "no run goes on for ever" $cycles -l -DRANKS=3 -DPASSES=1 -DMOVES=2 -DCLOSES
case_holds "nor through two passes" $cycles -l -DRANKS=2 -DPASSES=2 -DMOVES=2

for p in 1 2 3 4; do ok "planted fault $p is found" found 'assertion violated' $ends "" -DRANKS=3 -DPASSES=2 -DMOVES=2 -DPLANTED=$p; done
ok "planted fault 5 is found" found 'invalid end state (' $ends "" -DRANKS=3 -DPASSES=2 -DMOVES=2 -DPLANTED=5
ok "planted fault 6 is found" found 'non-progress cycle (' $cycles -l -DRANKS=2 -DPASSES=2 -DMOVES=2 -DPLANTED=6
done_testing
