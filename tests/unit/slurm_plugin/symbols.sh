#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What lb.so asks of its surroundings, and what it shows them, compared with two lists: a symbol that nobody has would cost
# the plugin at its loading, and name look-ups or MUNGE would cost a job seconds.
#   symbols.sh FILE            check a built lb.so
#   symbols.sh                 check the one of this build, and that the check can fail
set -u
here=${top_srcdir:?}/tests/unit/slurm_plugin
lib=${top_builddir:?}/slurm_plugin/.libs/lb.so
forbidden='^(munge_|getaddrinfo|gethostby|getnameinfo|getpw|getgr(nam|gid|ent|ouplist)|initgroups|dlopen|pthread_create|atexit|__cxa_atexit|abort|putenv|system|popen|setre?s?[ug]id)'
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

names() { sed 's/@.*//' | grep -v '^#' | LC_ALL=C sort -u; }

check() {
    local bad=0
    nm -D --undefined-only "$1" | awk '$1 == "U" { print $2 }' | names > "$tmp/undefined" || return 1
    nm -D --defined-only "$1" | awk '{ print $3 }' | names > "$tmp/exported" || return 1
    [ -s "$tmp/undefined" ] || { echo "$1: no symbols could be read"; return 1; }
    names < "$here/undefined.txt" > "$tmp/allowed"
    LC_ALL=C comm -23 "$tmp/undefined" "$tmp/allowed" > "$tmp/extra"
    [ ! -s "$tmp/extra" ] || { echo "$1 needs what undefined.txt does not allow:"; cat "$tmp/extra"; bad=1; }
    ! grep -E "$forbidden" "$tmp/undefined" > "$tmp/never" || { echo "$1 needs what it never may:"; cat "$tmp/never"; bad=1; }
    names < "$here/exported.txt" > "$tmp/wanted"
    diff "$tmp/wanted" "$tmp/exported" > "$tmp/diff" || { echo "$1 exports other symbols than exported.txt (>):"; cat "$tmp/diff"; bad=1; }
    readelf -d "$1" | grep -Eq '\(FLAGS(_1)?\).*NOW' || { echo "$1 is not linked with -z now"; bad=1; }
    return $bad
}

planted() { # C text, what the complaint must name
    printf '%s\n' "$1" > "$tmp/planted.c"
    ${CC:-cc} -shared -fPIC -o "$tmp/planted.so" "$tmp/planted.c" -Wl,-z,now || return 1
    if check "$tmp/planted.so" > "$tmp/out" || ! grep -q -- "$2" "$tmp/out"; then
        echo "the check does not see: $1"
        return 1
    fi
}

if [ $# -gt 0 ]; then
    check "$1"
    exit
fi
if nm -D "$lib" | grep -q '__asan\|__ubsan\|__gcov'; then
    echo "SKIP: sanitizers and coverage bring symbols of their own"
    exit 77
fi
failed=0
# the environment is changed in srun alone: in slurmstepd it is other people's
check_setenv() { ! grep -lE '(^|[^_a-z])(un)?setenv\(' "$1"/*.c | grep -v '/local\.c$'; }
check_setenv "$top_srcdir/slurm_plugin" || { echo "these files change the environment"; failed=1; }
mkdir "$tmp/planted" && echo 'x = setenv("A", "b", 1);' >"$tmp/planted/remote.c"
! check_setenv "$tmp/planted" >/dev/null || { echo "the check does not see a setenv"; failed=1; }
check "$lib" || failed=1
planted 'int no_such_function(void); int slurm_spank_init(void) { return no_such_function(); }' '^no_such_function' || failed=1
planted 'int getaddrinfo(); int slurm_spank_init(void) { return getaddrinfo(); }' 'never may' || failed=1
planted 'int close(int); int lbs_leaked(void) { return close(9); }' '^> lbs_leaked' || failed=1
exit $failed
