#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tree keeps its rules, and tests/style/check finds each kind of offence, planted in a small tree of real files.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
bad=0

fail() {
  echo "FAILED: $*"
  bad=1
}

"$here/check" || fail "the tree"

plain() { # a small tree without an offence
  rm -rf "$tmp/t"
  mkdir -p "$tmp/t/common" "$tmp/t/tests"
  cp "$top/.clang-format" "$tmp/t/"
  cp "$top/common/error.c" "$top/common/error.h" "$tmp/t/common/"
  cp "$top/tests/arrows/check" "$tmp/t/tests/check"
  chmod -R u+w "$tmp/t"
}

# planted KIND FILE: the tree is refused, and the complaint is of that kind and names the file.
planted() {
  if "$here/check" "$tmp/t" >"$tmp/out" 2>&1; then
    fail "$1 in $2 is not found"
  elif ! grep -q "^$1.*: .*$2" "$tmp/out"; then
    fail "$1 in $2 is not named in: $(cat "$tmp/out")"
  elif [ "$(grep -c . "$tmp/out")" -gt 3 ]; then
    fail "$1 in $2: more than that is complained of: $(cat "$tmp/out")"
  else
    echo "found: $1 in $2"
  fi
}

plain
"$here/check" "$tmp/t" >"$tmp/out" || fail "the small tree without an offence: $(cat "$tmp/out")"

if ! grep -q 'skipped:.* format' "$tmp/out"; then
  plain && printf 'int  lbx_odd( int a );\n' >>"$tmp/t/common/error.h"
  planted format common/error.h
fi
plain && for _ in $(seq 600); do echo "/* a line more */"; done >>"$tmp/t/common/error.c"
planted lines common/error.c
plain && sed -i 1d "$tmp/t/common/error.c"
planted licence common/error.c
plain && sed -i 2d "$tmp/t/tests/check"
planted licence tests/check
plain && printf 'blank at the end \n' >"$tmp/t/README.md"
planted blanks README.md
plain && printf 'no newline at the end' >"$tmp/t/README.md"
planted blanks README.md
plain && printf 'see /%s/somebody/x\n' home >"$tmp/t/README.md"
planted paths README.md
if ! grep -q 'skipped:.* shell' "$tmp/out"; then
  plain && printf 'x=(1 2)\necho "$x"\n' >>"$tmp/t/tests/check"
  planted shell tests/check
fi
plain && sed -i '/^set -euo/d' "$tmp/t/tests/check"
planted strict tests/check
mkdir "$tmp/none"
if "$here/check" "$tmp/none" >/dev/null; then fail "a tree without a file is content"; fi
[ $bad = 0 ] && echo "style: the check finds what it must"
exit $bad
