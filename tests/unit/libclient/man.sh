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
if [ -e "$top_builddir/.libs/liblb.so" ]; then
    nm -D --defined-only "$top_builddir/.libs/liblb.so" | sed -n 's/.* T \([a-z_]*\).*/\1/p' | sort -u >"$dir/library"
    diff "$dir/header" "$dir/library" || fail "header and library"
fi
[ $status = 0 ] && echo "ok - lb(3) and lb.h"
exit $status
