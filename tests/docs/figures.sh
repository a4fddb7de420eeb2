#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The figures of docs/internals are drawn from the numbers beside them, are well-formed, and each is shown on a page.
set -u
top=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
here=$top/docs/internals/figures
command -v python3 >/dev/null || { echo "SKIP: python3 is not installed"; exit 77; }
tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
bad=0

complain() { echo "not ok - $*"; bad=1; }

# same FOLDER: what is drawn from its numbers is what is in it
same() {
  local f
  rm -rf "$tmp/to" && mkdir "$tmp/to"
  python3 "$here/draw" "$1" "$tmp/to" || return 1
  for f in "$1"/*.csv; do cmp -s "${f%.csv}.svg" "$tmp/to/$(basename "${f%.csv}").svg" || return 1; done
}

same "$here" || complain "a figure is not what draw makes of its numbers"
n=0
for f in "$here"/*.svg; do
  n=$((n + 1))
  python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$f" || complain "$f is not well-formed"
  grep -q "figures/$(basename "$f")" "$top"/docs/internals/*.md || complain "$f is on no page"
done
[ $n -ge 7 ] || complain "only $n figures"
cp -r "$here" "$tmp/planted" && chmod -R u+w "$tmp/planted" && sed -i '$s/,[^,]*$/,0.77/' "$tmp/planted/19.csv"
! same "$tmp/planted" || complain "other numbers are not noticed"
[ $bad = 0 ] && echo "ok - $n figures"
exit $bad
