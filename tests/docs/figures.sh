#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The figures of docs/internals are drawn from the numbers beside them, are well-formed, and each is shown on a page, beside the rows
# of its runs as runs.txt has them; that of balance is drawn from docs/figures.md.
set -u
top=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
pages=$top/docs/internals
here=$pages/figures
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

# said FOLDER PAGES: what its runs.txt says is what the pages say
said() {
  local f
  rm -rf "$tmp/filled" && mkdir "$tmp/filled" && cp "$2"/*.md "$tmp/filled/" && chmod u+w "$tmp/filled/"* || return 1
  python3 "$here/draw" --pages "$1" "$tmp/filled" || return 1
  for f in "$2"/*.md; do cmp -s "$f" "$tmp/filled/$(basename "$f")" || return 1; done
}

# balance PAGE: what its section says is what docs/pictures/balance.svg shows
balance() {
  python3 "$here/draw" --balance "$1" "$tmp/balance.svg" && cmp -s "$top/docs/pictures/balance.svg" "$tmp/balance.svg"
}

same "$here" || complain "a figure is not what draw makes of its numbers"
said "$here" "$pages" || complain "a row of a page is not what runs.txt says: docs/internals/figures/draw --pages docs/internals/figures docs/internals"
balance "$top/docs/figures.md" || complain "docs/pictures/balance.svg is not what docs/figures.md says: docs/internals/figures/draw --balance docs/figures.md docs/pictures/balance.svg"
n=0
for f in "$here"/*.svg "$top/docs/pictures/balance.svg"; do
  n=$((n + 1))
  name=$(basename "$f" .svg)
  python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$f" || complain "$f is not well-formed"
  [ "$name" != balance ] || continue # README.md and docs/figures.md link to it (tests/docs/check)
  page=$(grep -l "(figures/$name\.svg)" "$pages"/*.md) || complain "$f is on no page"
  [ -z "$page" ] || grep -q "^| $name | load " $page || complain "$page shows $name.svg and has no row of its runs"
done
[ $n -ge 7 ] || complain "only $n figures"

# planted FILE SED-SCRIPT CHECK...: with that change in a copy the check fails
planted() {
  [ ! -d "$tmp/planted" ] || chmod -R u+w "$tmp/planted"
  rm -rf "$tmp/planted" && mkdir "$tmp/planted" && cp -r "$pages"/*.md "$here" "$tmp/planted/" && chmod -R u+w "$tmp/planted"
  sed -i "$2" "$tmp/planted/$1"
  ! cmp -s "$pages/$1" "$tmp/planted/$1" || complain "nothing was planted in $1"
  ! "${@:3}" >"$tmp/out" 2>&1 || complain "$2 in $1 is not noticed"
}
planted figures/22a.csv '$s/^[^,]*,[^,]*,/&9/' same "$tmp/planted/figures"
planted figures/19.csv '$s/,[^,]*$/,0.77/' same "$tmp/planted/figures"
planted figures/24b.csv '$d' same "$tmp/planted/figures"
planted figures/runs.txt 's/load=always/load=half/' same "$tmp/planted/figures"
planted figures/runs.txt '/name=22a /s/ least=/ least=9/' said "$tmp/planted/figures" "$tmp/planted"
planted threshold.md '/^| 23 /s/ of /1 of /' said "$tmp/planted/figures" "$tmp/planted"
for change in '/^| A: /s/ 1.021 / 1.031 /' '/^| E | /d'; do
  sed "$change" "$top/docs/figures.md" >"$tmp/figures.md"
  ! cmp -s "$top/docs/figures.md" "$tmp/figures.md" || complain "nothing was planted in docs/figures.md"
  ! balance "$tmp/figures.md" >"$tmp/out" 2>&1 || complain "$change in docs/figures.md is not noticed"
done
[ $bad = 0 ] && echo "ok - $n figures"
exit $bad
