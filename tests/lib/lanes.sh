# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# ./run test: the lanes, what each came to, and the sum of them as the very last line.

lanes_table="\
check       gcc without a warning, make check: units, virtual time, fuzz corpora, the tree's rules
valgrind    the quick unit tests under valgrind: no error, no leak
clang       the whole tree by clang without a warning
model       tests/model: the protocols of moves and of steps, every interleaving of small cases, by spin
cluster     tests/cluster: a real Slurm on this machine (root)
fault       tests/fault: what breaks, and what must not (root)
dashboards  rules, alerts and dashboards on a real Prometheus, drawn in a browser
package     Debian packages are built, a cluster of the packaged files balances a job, docs/admin.md step by step (root)
sanitizers  make check with the address and undefined-behaviour sanitizers
distcheck   the distribution builds, tests, installs and uninstalls
tree        the tree's rules and arrows alone (part of check; runs only when named)"

# Those that mostly wait, and those that only compute, whatever the time it takes: these run beside the first of those, on what
# they leave of the processors.
lanes_waiting=" cluster fault dashboards package "
lanes_computing=" valgrind clang model "

lanes_names() { awk '{ print $1 }' <<<"$lanes_table"; }

# What the lane that runs has come to, and the lines about it that are said again at the end.
lane_name='' lane_passed=0 lane_failed=0 lane_skipped=0 lane_lines=()

lane_begin() { lane_name=$1 lane_passed=0 lane_failed=0 lane_skipped=0 lane_lines=(); } # LANE
lane_pass() { lane_passed=$((lane_passed + 1)); }
lane_fail() { # WHAT
  lane_failed=$((lane_failed + 1))
  lane_lines+=("failed: $lane_name: $1")
}
lane_skip() { # REASON
  lane_skipped=$((lane_skipped + 1))
  lane_lines+=("skipped: $lane_name: $1")
}

# Read what automake's test driver wrote: LOG BUILDDIR STATUS
lane_count_check() {
  local log=$1 d=$2 st=$3 result name of seen=0
  while IFS=': ' read -r result name; do
    seen=1
    of=$d/$name.log # as automake names it for a test without a suffix that it knows
    [ -e "$of" ] || of=$d/${name%.sh}.log
    case $result in
      PASS | XFAIL) lane_pass ;;
      SKIP) lane_skip "$name: $(tail -n 1 "$of" 2>/dev/null | cut -c1-150)" ;;
      FAIL | XPASS | ERROR)
        lane_fail "$name"
        printf '  %s: %s\n' "$result" "$name"
        mkdir -p "$build/log/failed"
        cp "$of" "$build/log/failed/$(basename "$d").${name//\//.}.log" || true
        # What failed within a program of Check or a script, wherever it says so, and how the test ended.
        { grep -E -A 3 '^[^ :]+:[0-9]+:[FE]:|^not ok ' "$of" | head -n 20 || true; tail -n 25 "$of" || true; } | sed 's/^/    /'
        ;;
    esac
  done < <(grep -E '^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): ' "$log" | grep -v '^ERROR: .*exit' || true)
  # A make that failed without a failed test has failed all the same; so has one that ran none.
  if [ $seen = 0 ] || { [ "$st" != 0 ] && [ $lane_failed = 0 ]; }; then
    lane_fail "make, status $st"
    tail -n 30 "$log" | sed 's/^/    /'
  fi
}

# A make that hangs fails, and the other lanes still run; a healthy one takes a quarter of it at most.
lane_seconds=${LB_LANE_SECONDS:-1500}

# Whoever gives a run of all lanes so long (LB_TEST_MINUTES) is told what was left out, not that it did not end: no lane begins later,
# and a make has twelve minutes more.
lanes_began=0
lanes_left() { echo $((LB_TEST_MINUTES * 60 - (SECONDS - lanes_began))); } # seconds
lanes_time_left() { [ -z "${LB_TEST_MINUTES:-}" ] || [ "$(lanes_left)" -gt 0 ]; }
lane_limit() { # how long a make may take, in seconds
  local left=$lane_seconds
  [ -z "${LB_TEST_MINUTES:-}" ] || left=$(($(lanes_left) + 720))
  echo $((left < lane_seconds ? left : lane_seconds))
}

# Waits in tests are for tests that hang, not for a machine that is busy; but one that hangs is to be named before its lane is ended.
export CK_TIMEOUT_MULTIPLIER=${CK_TIMEOUT_MULTIPLIER:-3}

# The tests of a make that was ended which had begun and not come to an end: automake writes NAME.trs last.
lane_unfinished() { # BUILDDIR
  local log
  while IFS= read -r log; do
    [ ! -e "$1/${log%.log}.trs" ] || continue
    lane_fail "${log%.log} did not end"
    printf '  %s did not end; the last of what it had said:\n' "${log%.log}"
    tail -n 5 "$1/$log" | sed 's/^/    /'
  done < <(cd "$1" && find tests docs -name '*.log' 2>/dev/null | sort)
}

lane_make_check() { # NAME DIR [VARIABLE=VALUE...]
  local log=$build/log/$1.check.log st=0 t0=$SECONDS limit
  limit=$(lane_limit)
  printf '%s: make check\n' "$1"
  # Built first, since tests wait, too: two more of them at a time than there are processors (one more leaves a sixth of them idle).
  timeout -k 20 "$limit" sh -c 'make -k -j"$0" check TESTS= "$@" && exec make -k -j$(($0 + 2)) check "$@"' \
    "$build_jobs" -C "$2" "${@:3}" >"$log" 2>&1 </dev/null || st=$?
  if [ $st = 124 ] || [ $st = 137 ]; then
    lane_fail "still running after $limit s"
    printf '  still running after %d s\n' "$limit"
    lane_unfinished "$2"
  fi
  lane_count_check "$log" "$2" $st
  printf '%s: make check: %d passed, %d failed, %d skipped (%d s), log: %s\n' "$1" $lane_passed $lane_failed $lane_skipped \
    $((SECONDS - t0)) "$log"
}

lane_check() {
  if build_main; then lane_make_check check "$build"; else lane_fail "the build"; fi
}

lane_valgrind() {
  local log=$build/log/valgrind.log st=0 result rest
  command -v valgrind >/dev/null || { lane_skip "valgrind is not installed"; return; }
  build_main && step "valgrind: make the tests" "$build/log/valgrind.make.log" make -C "$build" -j"$build_jobs" check TESTS= ||
    { lane_fail "the build"; return; }
  "$top/tests/valgrind" -j "$build_jobs" -b "$build" >"$log" 2>&1 || st=$?
  while read -r result rest; do
    case $result in
      ok) lane_pass ;;
      not) lane_fail "${rest#ok }" ;;
      skipped) lane_skip "$rest" ;;
    esac
  done < <(grep -E '^(ok|not ok|skipped)' "$log")
  if [ $lane_failed != 0 ]; then grep -E '^(not ok|    )' "$log" | sed 's/^/  /'; fi
  if [ $st != 0 ] && [ $st != 77 ] && [ $lane_failed = 0 ]; then lane_fail "status $st"; fi
}

lane_clang() {
  command -v clang >/dev/null || { lane_skip "clang is not installed"; return; }
  # Its warnings are the same without optimization, and without links.
  local build_what=(check TESTS= LIBTOOL="$top/tests/lib/compile-only")
  if build_tree clang "$build/test/clang" --enable-werror CC=clang CXX=clang++ CFLAGS=-O0 CXXFLAGS=-O0; then
    lane_pass
  else
    lane_fail "the build"
  fi
}

build_sanitizers() { build_tree sanitizers "$build/test/sanitizers" --enable-werror --enable-sanitizers; }

lane_sanitizers() {
  if build_sanitizers; then
    # What scripts run once more has been run in the lane check, without sanitizers.
    LB_TEST_SHORT=${LB_TEST_MINUTES:-} LB_TEST_FEW=1 lane_make_check sanitizers "$build/test/sanitizers" TREE_TESTS=
  else
    lane_fail "the build"
  fi
}

lane_tap() { # FOLDER
  local tests=() t out=$build/log/$1.tap.log
  for t in "$top/tests/$1"/*.t; do
    if [ -x "$t" ]; then tests+=("$t"); fi
  done
  [ ${#tests[@]} != 0 ] || { lane_skip "tests/$1 has no tests"; return; }
  build_main || { lane_fail "the build"; return; }
  printf '%s:\n' "$1"
  "$top/tests/lib/tap-run" "$build/log" "${tests[@]}" 2>&1 | tee "$out" || true
  read -r lane_passed _ lane_failed _ lane_skipped _ < <(tail -n 1 "$out" | tr -d ,)
  mapfile -t lane_lines < <(awk -v lane="$1" '
    /^  [^ ]*\.t: / { test = $1; sub(/:$/, "", test) }
    /^  [^ ]*\.t: .* [1-9][0-9]* failed/ && !/ 0 failed/ { line = $0; sub(/^ */, "", line); print "failed: " lane ": " line }
    /^    not ok / { sub(/^ *not ok /, ""); print "failed: " lane ": " test ": " $0 }
    /^    skipped: / { sub(/^ *skipped: /, ""); print "skipped: " lane ": " $0 }
    match($0, /[1-9][0-9]* skipped: .* \([0-9]* s\)$/) && /^  [^ ]*\.t: / && !/[1-9][0-9]* failed/ {
      why = substr($0, RSTART); sub(/^[0-9]* skipped: /, "", why); sub(/ \([0-9]* s\)$/, "", why)
      print "skipped: " lane ": " test ": " why
    }' "$out")
}
lane_model() { lane_tap model; }
lane_cluster() { lane_tap cluster; }
lane_fault() { lane_tap fault; }
lane_dashboards() { lane_tap dashboards; }

lane_package() {
  packages_need build package
  if command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null; then
    package_build || { lane_fail "the packages"; return; }
    lane_tap package
  else
    lane_skip "debhelper is not installed"
  fi
}

lane_tree() {
  local t
  for t in arrows style; do
    if step "tree: $t" "$build/log/tree.$t.log" "$top/tests/$t/test.sh"; then lane_pass; else lane_fail "$t"; fi
  done
}

# What git has and the distribution has not; out of a clone nothing is known.
lane_left_out() {
  local tarball
  [ -e "$top/.git" ] && command -v git >/dev/null || return 0
  tarball=$(find "$build" -maxdepth 1 -name 'slurm-lb-*.tar.gz')
  comm -23 <(git -C "$top" ls-files | sort) <(tar -tzf "$tarball" | sed 's|^[^/]*/||' | sort)
}

lane_distcheck() {
  local left_out
  build_main || { lane_fail "the build"; return; }
  # What the tests find in the tree they have found in the lane check; here it is asked whether the distribution is whole.
  if step "distcheck" "$build/log/distcheck.log" timeout -k 20 "$(lane_limit)" env LB_TEST_BRIEF=1 \
    make -C "$build" -j$((build_jobs + 1)) distcheck; then lane_pass; else lane_fail distcheck; fi
  left_out=$(lane_left_out)
  if [ -z "$left_out" ]; then lane_pass; else
    lane_fail "not in the distribution: $(tr '\n' ' ' <<<"$left_out")"
    printf '  not in the distribution: %s\n' $left_out
  fi
}

# What a lane came to, as a line of the table: LANE PASSED FAILED SKIPPED SECONDS
lanes_verdict() {
  local st=passed colour=''
  if [ "$3" != 0 ]; then st=FAILED colour=$say_red; elif [ "$2" = 0 ]; then st=skipped colour=$say_yellow; fi
  table+=("$colour$(printf '%-11s %-8s %4d passed %3d failed %3d skipped  %4d s' "$1" $st "${@:2}")${colour:+$say_plain}")
  all_passed=$((all_passed + $2)) all_failed=$((all_failed + $3)) all_skipped=$((all_skipped + $4))
}

lanes_run() { # LANE
  local t0=$SECONDS
  lane_begin "$1"
  if lanes_time_left; then "lane_$1"; else lane_skip "$LB_TEST_MINUTES minutes (LB_TEST_MINUTES) were over before it"; fi
  lanes_verdict "$1" $lane_passed $lane_failed $lane_skipped $((SECONDS - t0))
  lines+=("${lane_lines[@]}")
}

beside_pid='' # of those that run beside others

# Start them: in a session of their own, which has the lowest priority, also where the kernel groups processes
# by their session (autogroup).
lanes_beside_start() { # LANE...
  note "beside what follows: $*"
  mkdir -p "$build/log"
  # shellcheck disable=SC2016
  setsid sh -c '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec nice -n 19 "$@"' sh "$top/run" test --beside "$@" \
    >"$build/log/beside.log" 2>&1 </dev/null &
  beside_pid=$!
  export LB_TEST_BESIDE=$beside_pid
  trap lanes_beside_end EXIT
  trap 'exit 130' INT TERM HUP
}

# With all of its session, whose groups are several; again, as one that was being forked is not seen at once.
lanes_beside_end() {
  [ -n "$beside_pid" ] || return 0
  kill "$beside_pid" 2>/dev/null || true # which may have no session of its own yet
  for _ in $(seq 50); do
    pkill -s "$beside_pid" || return 0
    pkill -CONT -s "$beside_pid" || true # one that stands still ends, too
    sleep 0.1
  done
}

# Wait for them; what they said, and what they came to: a line "=LANE PASSED FAILED SKIPPED SECONDS", and with a "=" before them the
# lines that are said again.
lanes_beside_join() {
  local lane line
  [ -n "$beside_pid" ] || return 0
  pkill -CONT -s "$beside_pid" || true # had a tap-run been killed while they stood still
  wait "$beside_pid" || true
  beside_pid=
  unset LB_TEST_BESIDE
  grep -v '^=' "$build/log/beside.log" || true
  for lane in "${beside[@]}"; do
    if line=$(grep -m 1 "^=$lane [0-9 ]*$" "$build/log/beside.log"); then
      # shellcheck disable=SC2086
      lanes_verdict ${line#=}
    else
      note "$lane: did not come to an end"
      lanes_verdict "$lane" 0 1 0 0
      lines+=("failed: $lane: did not come to an end")
    fi
  done
  while IFS= read -r line; do lines+=("${line#=}"); done < <(grep '^=[a-z]*: ' "$build/log/beside.log" || true)
}

# Searches of millions of states are left out of a run that has so long, but for who has just changed what is searched.
lanes_models_are_new() { [ -n "$(git -C "$top" log -1 --since='1 day ago' --format=%h -- 'tests/model/*.pml' 2>/dev/null)" ]; }

# The process that runs them: with what the lane sanitizers needs built, when there is time for it.
lanes_beside_main() { # LANE...
  local lane t0
  # However little of the processors is left, and however long they stand still.
  export LB_TEST_SECONDS=${LB_TEST_SECONDS:-$((2 * lane_seconds))}
  [ -z "${LB_TEST_MINUTES:-}" ] || lanes_models_are_new || export LB_TEST_SHORT=1
  for lane in "$@"; do
    t0=$SECONDS
    lane_begin "$lane"
    if [ "$lane" = sanitizers ]; then
      # Whether it can be built the lane itself says.
      build_sanitizers && make -k -C "$build/test/sanitizers" -j"$build_jobs" check TESTS= >"$build/log/beside.sanitizers.log" 2>&1 || true
      continue
    fi
    "lane_$lane"
    printf '=%s %d %d %d %d\n' "$lane" $lane_passed $lane_failed $lane_skipped $((SECONDS - t0))
    [ ${#lane_lines[@]} = 0 ] || printf '=%s\n' "${lane_lines[@]}"
  done
}

lanes_main() { # [LANE...]
  local lane all_passed=0 all_failed=0 all_skipped=0 table=() lines=() beside=() waiting=''
  lanes_began=$SECONDS
  case ${1:-} in
    --list) printf '%s\n' "$lanes_table"; return 0 ;;
    --beside) shift; lanes_beside_main "$@"; return 0 ;;
    -*) fail 2 "test: '$1'? --list, or names of lanes" ;;
  esac
  for lane in "$@"; do
    grep -qx -- "$lane" <<<"$(lanes_names)" || fail 2 "no lane '$lane'; there are: $(lanes_names | tr '\n' ' ')"
  done
  # shellcheck disable=SC2046
  [ $# -gt 0 ] || set -- $(lanes_names | grep -vx tree)
  packages_need build test cluster
  for lane in "$@"; do
    case $lanes_waiting in *" $lane "*) waiting=1 ;; esac
  done
  for lane in "$@"; do
    case $lanes_computing in *" $lane "*) [ -z "$waiting" ] || beside+=("$lane") ;; esac
  done
  for lane in "$@"; do
    case " ${beside[*]} " in *" $lane "*) continue ;; esac
    case $lanes_waiting in
      *" $lane "*)
        if [ ${#beside[@]} != 0 ] && [ -n "$waiting" ] && build_main; then
          waiting=
          lanes_beside_start "${beside[@]}" $(printf '%s\n' "$@" | grep -x sanitizers || true)
        fi
        ;;
      *) lanes_beside_join ;;
    esac
    lanes_run "$lane"
  done
  lanes_beside_join
  printf '\n'
  printf '%s\n' "${table[@]}"
  printf 'all of it %47d s\n' $((SECONDS - lanes_began))
  # What failed last: of a long output the end is what is kept.
  [ ${#lines[@]} = 0 ] || { printf '%s\n' "${lines[@]}" | grep -v '^failed: ' || true; }
  [ ${#lines[@]} = 0 ] || { printf '%s\n' "${lines[@]}" | grep '^failed: ' || true; }
  [ $all_failed = 0 ] || printf 'logs: %s\n' "$build/log"
  printf '%d passed, %d failed, %d skipped\n' $all_passed $all_failed $all_skipped
  [ $all_failed = 0 ]
}
