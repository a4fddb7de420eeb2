#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lb(3) says what is true: its example and fragments compile, its prototypes and structures are lb.h's, and lb.h's functions are the
# library's symbols.  man.sh [PAGE]
set -u
top_srcdir=${top_srcdir:-.} top_builddir=${top_builddir:-.}
page=${1:-$top_srcdir/docs/man/lb.3}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
status=0

fail() {
    echo "not ok - $1"
    status=1
}

plain() { # what a page shows of these lines
    sed -E 's/\\f[BIR]//g; s/\\-/-/g; /^\./d'
}
fragment() { # NAME
    sed -n "/^\.\\\\\" $1 begins/,/^\.\\\\\" $1 ends/p" "$page" | plain
}
compiles() { # FILE.c
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$top_srcdir/libclient" $(pkg-config --cflags ompi-c) "$1"
}

fragment example >"$dir/example.c"
[ "$(wc -l <"$dir/example.c")" -gt 20 ] || fail "the example was not found"
compiles "$dir/example.c" || fail "the example as C"
echo '#include <lb.h>
int main() { return lb_rank(nullptr); }' >"$dir/header.cc"
if command -v "${CXX:-c++}" >/dev/null; then
    ${CXX:-c++} -Wall -Wextra -Werror -fsyntax-only -I"$top_srcdir/libclient" "$dir/header.cc" || fail "lb.h as C++"
fi

# The fragments: each in a function whose parameters are what the fragment takes for granted.
[ "$(grep -c '^\.nf' "$page")" = "$(grep -cE '^\.(\\" [a-z]+ begins|SH SYNOPSIS)' "$page")" ] || fail "a block has no name to be compiled by"
for f in stepped pipelined fortran; do
    [ "$(fragment $f | wc -l)" -ge 5 ] || fail "the fragment $f was not found"
done
{
    echo '#include <lb.h>
void work(double *a, double *b, int64_t i);
#define swap(a, b) do { double *t = a; a = b; b = t; } while (0)
void run(lb_loop *l, double *a, double *b, int steps);
void run(lb_loop *l, double *a, double *b, int steps)
{
int step; int64_t first, last, i;'
    fragment stepped
    echo '}'
} >"$dir/stepped.c"
{
    echo '#include <lb.h>
void work(double *a, int64_t i, int64_t k);
void run(lb_loop *l, double *a, size_t row_bytes, int64_t elements, int steps);
void run(lb_loop *l, double *a, size_t row_bytes, int64_t elements, int steps)
{
int step; int64_t first, last, from, to, i, k;'
    fragment pipelined
    echo '}'
} >"$dir/pipelined.c"
for f in stepped pipelined; do
    compiles "$dir/$f.c" || fail "the fragment $f as C"
done
{
    echo 'subroutine run(l, a)
  use slurm_lb
  implicit none
  type(c_ptr), value :: l
  real(c_double) :: a(*)
  integer(c_int64_t) :: first, last, i'
    fragment fortran
    echo 'contains
  subroutine work(a, i)
    real(c_double) :: a(*)
    integer(c_int64_t) :: i
    a(i + 1) = 0
  end subroutine
end subroutine'
} >"$dir/fortran.f90"
fortran=$(command -v "${FC:-gfortran}") || fortran=
if [ -n "$fortran" ]; then
    "$fortran" -Wall -Werror -J "$dir" -fsyntax-only "$top_srcdir/libclient/fortran/slurm_lb.f90" "$dir/fortran.f90" ||
        fail "the fragment fortran as Fortran"
else
    echo "# SKIP: the fragment fortran: there is no gfortran"
fi

# What the synopsis declares is what the header does, to the last type: functions by the compiler, structures by their text.
sed -n '/^.SH SYNOPSIS/,/^.SH DESCRIPTION/p' "$page" | plain | grep -v '^cc ' >"$dir/synopsis"
structures() { # FILE
    sed -nE '/^struct lb_[a-z]+ \{/,/^\};/p' "$1" | sed -E 's:/\*.*\*/::' | tr -s ' \n' ' ' | sed 's/}; /};\n/g'
}
{
    echo '#include <lb.h>'
    sed -E '/^struct lb_[a-z]+ \{/,/^\};/d' "$dir/synopsis"
} >"$dir/prototypes.c"
compiles "$dir/prototypes.c" || fail "the prototypes of header and page"
structures "$top_srcdir/libclient/lb.h" >"$dir/structures"
[ "$(grep -cE '^struct lb_[a-z]+ \{ size_t struct_bytes; .* \};$' "$dir/structures")" = 2 ] || fail "the header's structures were not found"
structures "$dir/synopsis" | diff "$dir/structures" - || fail "the structures of header and page"

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
    sed -n '/^.SH DESCRIPTION/,/^.SH EXAMPLE/p' "$page" | grep -q "\\\\fI\(stats\\\\->\)\?$m\\\\fR" || fail "nothing is said of the member $m"
done <"$dir/members"
if [ -e "$top_builddir/.libs/liblb.so" ]; then
    nm -D --defined-only "$top_builddir/.libs/liblb.so" | sed -n 's/.* T \([a-z_]*\).*/\1/p' | sort -u >"$dir/library"
    diff "$dir/header" "$dir/library" || fail "header and library"
fi
[ $status = 0 ] && echo "ok - lb(3) and lb.h"

# A page that says something else is found out.
planted() { # SED-SCRIPT COMPLAINT
    sed "$1" "$page" >"$dir/planted.3"
    ! cmp -s "$page" "$dir/planted.3" || fail "nothing was planted by $1"
    top_srcdir=$top_srcdir top_builddir=$top_builddir "$0" "$dir/planted.3" 2>/dev/null | grep -q "^not ok - $2\$" ||
        fail "a page with $1 is not found out"
}
if [ $# = 0 ]; then
    planted '/example begins/,/example ends/s/lb_loop_close/lb_loop_end/' 'the example as C'
    planted 's/^    lb_loop_exchange(l);/    lb_loop_swap(l);/' 'the fragment stepped as C'
    planted 's/&from, &to))/\&from))/' 'the fragment pipelined as C'
    [ -z "$fortran" ] || planted 's/^do while (lb_loop_next(l, first, last))/do while (lb_loop_next(l, first))/' 'the fragment fortran as Fortran'
    planted '/^\.\\" stepped begins/d' 'a block has no name to be compiled by'
    planted '/lb_loop_owner\\fR(/s/int64_t/int/' 'the prototypes of header and page'
    planted 's/^    double wait_s;/    int64_t wait_s;/' 'the structures of header and page'
    planted 's/, const void \*from, size_t bytes)/, void *from, size_t bytes)/' 'the structures of header and page'
    planted '/^    double cpu_s;/d' 'the structures of header and page'
    planted '/^\.SH DESCRIPTION/,$s/\\fIcpu_s\\fR/CPU seconds/' 'nothing is said of the member cpu_s'
fi
exit $status
