#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The documents are true, and tests/docs/check finds each kind of untruth, planted in a copy of the tree.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
bad=0

fail() {
  echo "FAILED: $*"
  bad=1
}

"$here/check" || fail "the tree"
[ -z "${LB_TEST_BRIEF:-}" ] || exit $bad

plain() { # a copy of what the documents speak of
  if [ -d "$tmp/t" ]; then chmod -R u+w "$tmp/t" && rm -rf "$tmp/t"; fi
  mkdir "$tmp/t"
  tar -C "$top" -cf - --exclude=.git --exclude=./build --exclude='./build-aux' --exclude='./autom4te.cache' --exclude='./_*' --exclude='./slurm-lb-*' . |
    tar -C "$tmp/t" -xf -
  chmod -R u+w "$tmp/t"
}

# planted KIND WORD: the copy is refused, and the complaint is of that kind and names the word.
planted() {
  if "$here/check" "$tmp/t" "$1" >"$tmp/out" 2>&1; then
    fail "$1 $2 is not found"
  elif ! grep -q "^$1: .*$2" "$tmp/out"; then
    fail "$1 $2 is not named in: $(cat "$tmp/out")"
  else
    echo "found: $1 $2"
  fi
}

plain
"$here/check" "$tmp/t" >"$tmp/out" || fail "the copy without an untruth: $(cat "$tmp/out")"

t=$tmp/t
with() { # FILE SED-SCRIPT-OR-LINE: change one document of the copy, put it back before the next
  cp "$t/$1" "$tmp/kept"
  changed=$1
  case $2 in s/* | /*) sed -i "$2" "$t/$1" ;; *) printf '\n%s\n' "$2" >>"$t/$1" ;; esac
  ! cmp -s "$tmp/kept" "$t/$1" || fail "nothing was planted in $1"
}
back() { cp "$tmp/kept" "$t/$changed"; }

with README.md 's/lb_loop_close(l)/lb_loop_end(l)/' && planted program 'does not compile' && planted program minimal.c && back
with examples/minimal.c 's/100000/100001/' && planted program minimal.c && back
with README.md '/^```c$/,/^```$/d' && planted program 'has no program' && back
with HACKING.md 'See `policy/nothing.h`.' && planted file policy/nothing.h && back
with HACKING.md 'See `build/examples/nothing`.' && planted file build/examples/nothing && back
with docs/architecture.md 'See `nowhere/file.c`.' && planted file nowhere/file.c && back
with docs/architecture.md '[here](nothing.md)' && planted file nothing.md && back
with docs/schema.md 's/load_balance/balance_load/' && planted schema 'docs/schema.md' && back
with README.md 'Type `./run nothing`.' && planted command nothing && back
with README.md 'Type `./run bench nothing`.' && planted command nothing && back
with HACKING.md 'Type `./run test check nothing`.' && planted command nothing && back
with HACKING.md '    ./run cluster nothing n1' && planted command nothing && back
with README.md 'Type `lbd --nothing=1`.' && planted option nothing && back
with README.md 'Type `lbctl nothing`.' && planted option nothing && back
with README.md 'Type `../configure --enable-nothing`.' && planted option nothing && back
with README.md 'Type `srun --lb=auto,nothing=1 x`.' && planted option nothing && back
with README.md 'See lbctl(7).' && planted page lbctl.7 && back
with docs/man/lb-balancer.8 '.BR lbd (3)' && planted page lbd.3 && back
with docs/man/lb-balancer.8 's/^\.SH DESCRIPTION/.SH SAYING/' && planted page DESCRIPTION && back
with docs/man/lbd.8 '.It Fl -nothing' && planted manual 'option nothing is not in the code' && back
with docs/man/lbd.8 's/Fl -web-config/Fl -webconfig/' && planted manual 'option web-config is missing' && back
with docs/man/lbctl.1 's/^\.It Cm forecast.*/.It Cm foresee/' && planted manual 'command forecast is missing' && back
with lbd/ctl/lbctl.c 's/{"width", /{"wide", /' && planted manual 'option wide is missing' && back
with lbd/ctl/lbctl.c 's/--restore: put/put/' && planted manual 'option restore is missing' && back
with docs/man/policy.conf.5 's/^\.It Cm user , Cm terminal/.It Cm user/' && planted manual 'key terminal is missing' && back
with docs/man/policy.conf.5 's/^\.It Cm size/.It Cm sizes/' && planted manual 'key sizes is not in the code' && back
with packaging/policy.conf '/backup_hour/d' && planted manual 'policy.conf: key backup_hour is missing' && back
with docs/man/lbsim.1 's/^\.BI \\-\\-bandwidth=/.BI \\-\\-bandwith=/;s/^\.BI --bandwidth=/.BI --bandwith=/' && planted manual 'lbsim.1: option bandwidth is missing' && back
with sim/options.c 's/  --untold  /  --unsaid  /' && planted manual 'help of lbsim: option untold is missing' && back
with docs/internals/README.md '/^| \[grain\.md\]/d' && planted internals 'grain.md is not in the table' && back
with docs/internals/README.md 's/`policy\/caps\.c`/caps/' && planted internals 'policy/caps.c is in no line' && back
with docs/internals/period.md 's/^\*\*Measured\.\*\*/Measured:/' && planted internals 'period.md: does not say' && back
if command -v groff >/dev/null; then
  with docs/man/slurm-lb.7 '.NOTHING here' && planted man NOTHING && back
fi
exit $bad
