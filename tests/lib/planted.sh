# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For scripts that plant a failure in a check program and want it seen.

# planted_seen VARIABLE PROGRAM CASE TEXT...
# With VARIABLE set and of PROGRAM (below the build's tests/) only CASE run, its checks say each TEXT (a pattern); else this ends.
planted_seen() {
  local out text
  out=$(env "$1=1" CK_RUN_CASE="$3" "${top_builddir:-.}/tests/$2" 2>&1)
  for text in "${@:4}"; do
    grep -q -- "$text" <<<"$out" && continue
    printf '%s\nthe planted failure was not seen by %s: %s\n' "$out" "$2" "$text"
    exit 1
  done
}
