# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For scripts of `make check` with checks of their own: $build, $src and $tmp, a folder that goes with the script; bad TEXT says what is
# wrong and goes on; "exit $failed" ends the script.
build=${top_builddir:-$(cd "$(dirname "$0")/../../build" && pwd)}
src=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

bad() {
  echo "FAIL: $*"
  failed=1
}
