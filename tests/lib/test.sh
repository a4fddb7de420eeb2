#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./run test: what lanes came to is told, also of those that run beside others; one that fails, one that dies and one that is left
# running are planted.  Here lanes are empty, and a ./run of our own has them.
set -euo pipefail
unset LB_TEST_MINUTES LB_TEST_SHORT # of the run that this is part of
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
cat >"$tmp/run" <<END
#!/bin/bash
set -euo pipefail
top=$tmp build=$tmp build_jobs=1
. "$here/say.sh"
. "$here/lanes.sh"
END
cat >>"$tmp/run" <<'END'
packages_need() { :; }
build_main() { mkdir -p "$build/log"; }
build_sanitizers() { :; }
lane_check() { lane_pass; }
lane_valgrind() {
  lane_pass
  lane_skip "no reason"
  [ "$(nice)" = 19 ] && echo "in valgrind"
}
lane_clang() {
  case ${PLANT:-} in
    fails) lane_fail "a warning"; echo "  clang: a warning" ;;
    dies) kill -9 $$ ;;
    *) lane_pass ;;
  esac
}
lane_model() {
  echo $$ >"$top/model"
  echo "short=${LB_TEST_SHORT:-0}"
  [ "${PLANT:-}" != hangs ] || sleep 1000
  [ "${PLANT:-}" != "stands still" ] || sleep 1
  lane_pass
}
for lane in cluster fault dashboards package sanitizers distcheck; do eval "lane_$lane() { lane_pass; }"; done
lane_cluster() { # as a tap-run that was killed would leave what runs beside, whose session may be a moment in coming
  [ "${PLANT:-}" != "stands still" ] || until pkill -STOP -s "$LB_TEST_BESIDE"; do sleep 0.01; done
  lane_pass
}
shift
lanes_main "$@"
END
chmod +x "$tmp/run"

# lanes PLANT STATUS ENDS LINE [LANE...]: with that planted, the status, how the output ends, and a line that it has
lanes() {
  local st=0
  PLANT=$1 timeout 60 "$tmp/run" test "${@:5}" >"$tmp/out" 2>&1 || st=$?
  if [ $st = "$2" ] && [ "$(tail -n 1 "$tmp/out")" = "$3" ] && grep -qE "$4" "$tmp/out"; then
    echo "found: $4"
  else
    echo "FAILED: status $st of lanes where one $1: $(cat "$tmp/out")"
    bad=1
  fi
}
lanes "is well" 0 "10 passed, 0 failed, 1 skipped" "^in valgrind"
lanes "is well" 0 "10 passed, 0 failed, 1 skipped" "^skipped: valgrind: no reason"
lanes "is well" 0 "2 passed, 0 failed, 0 skipped" "^beside what follows: model" cluster model
lanes "is well" 0 "1 passed, 0 failed, 0 skipped" "^model +passed +1 passed" model
# Long searches are left out of a run that has so long, unless a model has just been changed.
lanes "is well" 0 "1 passed, 0 failed, 0 skipped" "^short=0" model
lanes "is well" 0 "2 passed, 0 failed, 0 skipped" "^short=0" cluster model
export LB_TEST_MINUTES=1
lanes "is well" 0 "2 passed, 0 failed, 0 skipped" "^short=1" cluster model
if command -v git >/dev/null; then
  mkdir -p "$tmp/tests/model"
  : >"$tmp/tests/model/new.pml"
  git -C "$tmp" init -q
  git -C "$tmp" add tests/model
  git -C "$tmp" -c user.name=x -c user.email=x@localhost commit -qm "tests: plant a model"
  lanes "is well" 0 "2 passed, 0 failed, 0 skipped" "^short=0" cluster model
  rm -rf "$tmp/.git"
fi
unset LB_TEST_MINUTES
lanes fails 1 "9 passed, 1 failed, 1 skipped" "^  clang: a warning"
lanes fails 1 "9 passed, 1 failed, 1 skipped" "^clang +FAILED"
lanes fails 1 "9 passed, 1 failed, 1 skipped" "^failed: clang: a warning"
lanes "stands still" 0 "2 passed, 0 failed, 0 skipped" "^model +passed +1 passed" cluster model
lanes dies 1 "8 passed, 2 failed, 1 skipped" "^model: did not come to an end"
lanes dies 1 "8 passed, 2 failed, 1 skipped" "^failed: model: did not come to an end"
export LB_TEST_MINUTES=0
lanes "is well" 0 "0 passed, 0 failed, 2 skipped" "^skipped: fault: 0 minutes" cluster fault
LB_TEST_MINUTES=1
lanes "is well" 0 "2 passed, 0 failed, 0 skipped" "^fault +passed" cluster fault
unset LB_TEST_MINUTES

rm -f "$tmp/model"
PLANT=hangs "$tmp/run" test model cluster >"$tmp/out" 2>&1 &
run=$!
until [ -s "$tmp/model" ]; do sleep 0.05; done
kill $run
wait $run || true
for _ in $(seq 100); do
  pgrep -s "$(cat "$tmp/model")" >/dev/null || break
  sleep 0.05
done
if pgrep -s "$(cat "$tmp/model")"; then
  echo "FAILED: lanes that run beside others are left when ./run test is interrupted"
  pkill -s "$(cat "$tmp/model")"
  bad=1
fi

# --- what failed is told, however much a test says after it
mkdir -p "$tmp/suite"
printf '%s\n' 'PASS: good' 'FAIL: script.sh' 'FAIL: program' >"$tmp/make.log"
{ echo "not ok - planted in a script" && echo "#   why" && seq 100; } >"$tmp/suite/script.sh.log"
{ echo "/x/test.c:12:F:case:planted:0: in a program" && seq 100; } >"$tmp/suite/program.log"
out=$(top=$tmp build=$tmp && . "$here/say.sh" && . "$here/lanes.sh" && lane_count_check "$tmp/make.log" "$tmp/suite" 1 &&
  echo "$lane_passed passed, $lane_failed failed" && printf '%s\n' "${lane_lines[@]}")
for text in '^failed: .*: script.sh$' '^    not ok - planted in a script$' '^    #   why$' '^    /x/test.c:12:F:.*in a program$' '^1 passed, 2 failed$'; do
  grep -q -- "$text" <<<"$out" || { echo "FAILED: of failed tests is not told: $text"; bad=1; }
done

# --- of a make that hangs, which of its tests did not end
mkdir -p "$tmp/hung"
printf 'check:\n\tmkdir -p tests\n\techo PASS: tests/ends\n\t: >tests/ends.trs\n\techo said | tee tests/ends.log tests/hangs.log\n\tsleep 60\n' \
  >"$tmp/hung/Makefile"
out=$(top=$tmp build=$tmp build_jobs=1 LB_LANE_SECONDS=2 && mkdir -p "$tmp/log" && . "$here/say.sh" && . "$here/lanes.sh" && lane_begin check &&
  lane_make_check check "$tmp/hung" && printf '%s\n' "${lane_lines[@]}")
for text in '^failed: check: still running after 2 s$' '^failed: check: tests/hangs did not end$' '^    said$'; do
  grep -q -- "$text" <<<"$out" || { echo "FAILED: of a make that hangs is not told: $text in: $out"; bad=1; }
done
out=$(. "$here/lanes.sh" && LB_TEST_MINUTES=15 && lanes_began=$((SECONDS - 720)) && lane_limit && lanes_began=$((SECONDS - 60)) && lane_limit)
case $out in 89[0-9]$'\n'1500 | 900$'\n'1500) ;; *) echo "FAILED: fifteen minutes leave a make: $out"; bad=1 ;; esac
! grep -q 'tests/ends did not' <<<"$out" || { echo "FAILED: what has ended did not: $out"; bad=1; }

# --- of valgrind, too: the line at the end, and the details with the lane
mkdir -p "$tmp/tests"
printf '#!/bin/sh\necho "ok good"\necho "not ok tests/unit/planted: status 99"\necho "    ==1== Invalid read"\nexit 1\n' >"$tmp/tests/valgrind"
chmod +x "$tmp/tests/valgrind"
out=$(top=$tmp build=$tmp build_jobs=1 && mkdir -p "$tmp/log" && . "$here/say.sh" && . "$here/lanes.sh" && valgrind() { :; } && build_main() { :; } &&
  step() { :; } && lane_begin valgrind && lane_valgrind && printf '%s\n' "${lane_lines[@]}")
for text in '^failed: valgrind: tests/unit/planted: status 99$' '==1== Invalid read$'; do
  grep -q -- "$text" <<<"$out" || { echo "FAILED: of valgrind is not told: $text in: $out"; bad=1; }
done

# --- and said again at the end, with what was left out
mkdir -p "$tmp/tests/planted" "$tmp/tests/lib"
ln -s "$here/tap-run" "$tmp/tests/lib/tap-run"
printf '#!/bin/sh\necho "ok 1 - good"\necho 1..1\n' >"$tmp/tests/planted/good.t"
printf '#!/bin/sh\necho "not ok 1 - bad"\necho 1..1\n' >"$tmp/tests/planted/bad.t"
printf '#!/bin/sh\necho "1..0 # SKIP no reason"\n' >"$tmp/tests/planted/none.t"
printf '#!/bin/sh\necho "ok 1 - one # SKIP of two"\necho "ok 2 - two"\necho 1..2\n' >"$tmp/tests/planted/some.t"
printf '#!/bin/sh\nexit 3\n' >"$tmp/tests/planted/ends.t"
chmod +x "$tmp"/tests/planted/*.t
out=$(top=$tmp build=$tmp && . "$here/say.sh" && . "$here/lanes.sh" && build_main() { mkdir -p "$build/log"; } && lane_begin planted &&
  lane_tap planted >/dev/null && printf '%s\n' "${lane_lines[@]}")
for text in '^failed: planted: planted/bad.t: 1 - bad$' '^failed: planted: planted/ends.t: .*no plan' '^skipped: planted: planted/none.t: no reason$' \
  '^skipped: planted: one # SKIP of two$'; do
  grep -q -- "$text" <<<"$out" || { echo "FAILED: at the end is not told: $text in: $out"; bad=1; }
done
[ "$(wc -l <<<"$out")" = 5 ] || { echo "FAILED: at the end is told: $out"; bad=1; }

# --- compiling only: a warning is seen as it is by libtool, and nothing is linked
printf 'int main(void)\n{\n    return 0;\n}\n' >"$tmp/good.c"
printf 'int main(void)\n{\n    int unused;\n    return 0;\n}\n' >"$tmp/warned.c"
only=("$here/compile-only" --tag=CC --mode=compile "${CC:-cc}" -Wall -Werror)
if ! "${only[@]}" -c "$tmp/good.c" -o "$tmp/good.o" || [ ! -s "$tmp/good.o" ]; then
  echo "FAILED: compile-only does not compile"
  bad=1
fi
if "${only[@]}" -c "$tmp/warned.c" -o "$tmp/warned.o" 2>"$tmp/out" || ! grep -q 'unused' "$tmp/out"; then
  echo "FAILED: compile-only does not see a warning: $(cat "$tmp/out")"
  bad=1
fi
if ! "$here/compile-only" --tag=CC --mode=link false "$tmp/good.o" -o "$tmp/program" || [ ! -e "$tmp/program" ] || [ -s "$tmp/program" ]; then
  echo "FAILED: compile-only links"
  bad=1
fi

# --- a test with the machine to itself: what runs beside stands still for as long as it runs, and no longer
setsid sh -c 'while :; do echo >>"$0"; sleep 0.02; done' "$tmp/beside" &
beside=$!
mkdir "$tmp/tap"
for t in to-itself as-others; do
  cat >"$tmp/tap/$t.t" <<END
#!/bin/bash
# $t: WHY
sleep 0.2
before=\$(wc -l <"$tmp/beside")
sleep 0.5
echo "$t \$((\$(wc -l <"$tmp/beside") - before))" >>"$tmp/grown"
echo "ok 1"
echo "1..1"
END
  chmod +x "$tmp/tap/$t.t"
done
sed -i 's/^# to-itself/# with the machine to itself/' "$tmp/tap/to-itself.t"
until [ -s "$tmp/beside" ]; do sleep 0.05; done
LB_TEST_BESIDE=$beside "$here/tap-run" "$tmp/log" "$tmp/tap/to-itself.t" "$tmp/tap/as-others.t" "$tmp/tap/to-itself.t" >"$tmp/out"
before=$(wc -l <"$tmp/beside")
for _ in $(seq 100); do
  [ "$(wc -l <"$tmp/beside")" = "$before" ] || break
  sleep 0.05
done
if [ "$(wc -l <"$tmp/beside")" = "$before" ] || ! awk '($1 == "to-itself") != ($2 == 0) { exit 1 } END { exit NR != 3 }' "$tmp/grown"; then
  echo "FAILED: what ran beside made $(tr '\n' ' ' <"$tmp/grown")turns meanwhile, and $(($(wc -l <"$tmp/beside") - before)) afterwards"
  cat "$tmp/out"
  bad=1
fi
pkill -s $beside

# --- waiting: a look that takes most of the time is not the end of it, and what never comes to be is waited for as long as is said
. "$here/look.sh"
looks=0
stands_still() { # the first time for longer than is waited; then it is there after a few more
  looks=$((looks + 1))
  if [ $looks = 1 ]; then sleep 1.3; fi
  [ $looks -ge 5 ]
}
never() { looks=$((looks + 1)) && false; }
look_until 1 0.05 stands_still || { echo "FAILED: gave up after $looks looks, most of whose time was one of them"; bad=1; }
looks=0
if look_until 1 0.1 never || [ $looks -lt 10 ] || [ $looks -gt 12 ]; then
  echo "FAILED: $looks looks within a second at what never comes to be"
  bad=1
fi
exit $bad
