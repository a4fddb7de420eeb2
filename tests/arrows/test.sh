#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tree has no include that the table forbids, and the check finds those that are planted in a copy.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
bad=0

fail() {
  echo "FAILED: $*"
  bad=1
}

"$here/check" || fail "the tree"

# plant WORD FILE LINE: a copy with that line at the end of that file is refused, and the complaint has WORD in it.
plant() {
  local d=$tmp/$1
  rm -rf "$d"
  mkdir -p "$d"
  (cd "$here/../.." && tar -cf - --exclude='./build*' common policy wire lbd libclient slurm_plugin sim tests 2>/dev/null || true) | tar -xf - -C "$d"
  chmod -R u+w "$d"
  "$here/check" "$d" >"$tmp/out" || fail "a copy without a change: $(tail -n 3 "$tmp/out")"
  mkdir -p "$(dirname "$d/$2")"
  echo "$3" >>"$d/$2"
  if "$here/check" "$d" >"$tmp/out"; then
    fail "not found: $3 in $2"
  elif ! grep -qF -- "$2:" "$tmp/out" || ! grep -qF -- "$4" "$tmp/out"; then
    fail "$3 in $2 is not named in: $(cat "$tmp/out")"
  else
    echo "found: $3 in $2"
  fi
  rm -rf "$d"
}

plant up common/buf.c '#include "policy/balance.h"' 'common/ must not include "policy/balance.h"'
plant side policy/balance.c '#include "wire/rank.h"' 'policy/ must not include "wire/rank.h"'
plant part slurm_plugin/options.c '  #  include "policy/balance.h"' 'slurm_plugin/ must not include'
plant clock policy/balance.c '#include <time.h>' 'policy/ must not include <time.h>'
plant mpi libclient/loop.c '#include <mpi.h>' 'libclient/ must not include <mpi.h>'
plant same common/buf.c '#include "buf.h"' 'say it from the root'
plant dots common/buf.c '#include "common/../policy/balance.h"' 'no . and ..'
plant circle libclient/transfer.c '#include "libclient/incoming.h"' 'a circle: libclient/incoming leads back to libclient/transfer'
plant lists wire/hosts.h '#include "wire/local.h"' 'a circle: wire/local leads back to wire/hosts'
plant parts lbd/controller/hosts.h '#include "lbd/controller/sessions.h"' 'a circle: lbd/controller/sessions leads back to lbd/controller/hosts'
plant sums lbd/balancer/sums.h '#include "lbd/balancer/loops.h"' 'a circle: lbd/balancer/sums leads back to lbd/balancer/loops'
plant room elsewhere/x.c '#include "common/buf.h"' 'is in no room'

mkdir "$tmp/none"
if "$here/check" "$tmp/none" >/dev/null; then fail "a tree without a file is content"; fi
[ $bad = 0 ] && echo "arrows: the check finds what it must"
exit $bad
