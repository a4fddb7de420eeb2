#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lb(3) says what is true: its example compiles as C and C++, its prototypes are lb.h's, and lb.h's are the library's symbols.
set -u
top_srcdir=${top_srcdir:-.} top_builddir=${top_builddir:-.}
page=$top_srcdir/docs/man/lb.3
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
status=0

fail() {
    echo "not ok - $1"
    status=1
}

sed -n '/example begins/,/example ends/{/example/d;p}' "$page" >"$dir/example.c"
[ "$(wc -l <"$dir/example.c")" -gt 20 ] || fail "the example was not found"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$top_srcdir/libclient" $(pkg-config --cflags ompi-c) "$dir/example.c" ||
    fail "the example as C"
echo '#include <lb.h>
int main() { return lb_rank(nullptr); }' >"$dir/header.cc"
if command -v "${CXX:-c++}" >/dev/null; then
    ${CXX:-c++} -Wall -Wextra -Werror -fsyntax-only -I"$top_srcdir/libclient" "$dir/header.cc" || fail "lb.h as C++"
fi

# The functions that the header declares, the page names in its synopsis, the map exports, the library has.
grep -E '^[a-z].*\blb_[a-z_]+\(' "$top_srcdir/libclient/lb.h" | grep -o 'lb_[a-z_]*(' | tr -d '(' | sort -u >"$dir/header"
sed -n '/^.SH SYNOPSIS/,/^.SH DESCRIPTION/p' "$page" | grep -o '\\fBlb_[a-z_]*' | sed 's/\\fB//' | sort -u >"$dir/page"
grep -o 'lb_[a-z_]*;' "$top_srcdir/libclient/lb.map" | tr -d ';' | sort -u >"$dir/map"
[ "$(wc -l <"$dir/header")" -ge 16 ] || fail "the header's functions were not found"
diff "$dir/header" "$dir/page" || fail "header and page"
diff "$dir/header" "$dir/map" || fail "header and map"

# It says of each what it does, and of each member of its structures; and each has a page of its own.
while read -r f; do
    sed -n '/^.SH DESCRIPTION/,/^.SH EXAMPLE/p' "$page" | grep -qE "^\.BR .*\b$f\b.*\(\)" || fail "nothing is said of $f"
    [ "$(cat "$top_builddir/libclient/man/$f.3")" = ".so man3/lb.3" ] || fail "$f has no page"
done <"$dir/header"
[ "$(ls "$top_builddir/libclient/man" | wc -l)" = "$(wc -l <"$dir/header")" ] || fail "there are pages of what is no function"
sed -nE '/^struct lb_(pack|stats) \{/,/^\};/p' "$top_srcdir/libclient/lb.h" | sed -E 's:/\*.*::' |
    grep -oE '\(\*[a-z]+\)|[a-z_]+(, [a-z_]+)*;' | tr -d '(*); ' | tr ',' '\n' | grep -v '^$' >"$dir/members"
[ "$(wc -l <"$dir/members")" = 19 ] || fail "$(wc -l <"$dir/members") members were found"
while read -r m; do
    grep -q "\\\\fI\(stats\\\\->\)\?$m\\\\fR" "$page" || fail "nothing is said of the member $m"
done <"$dir/members"
if [ -e "$top_builddir/.libs/liblb.so" ]; then
    nm -D --defined-only "$top_builddir/.libs/liblb.so" | sed -n 's/.* T \([a-z_]*\).*/\1/p' | sort -u >"$dir/library"
    diff "$dir/header" "$dir/library" || fail "header and library"
fi
[ $status = 0 ] && echo "ok - lb(3) and lb.h"
exit $status
