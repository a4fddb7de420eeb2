# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# What must be installed: looked up first, so that nothing is downloaded when all is there.

# packages_missing KIND...: one a line
packages_missing() {
  local name kind p found
  while read -r name kind; do
    case $name in '' | '#'*) continue ;; esac
    case " $* " in *" $kind "*) ;; *) continue ;; esac
    found=
    for p in ${name//|/ }; do
      [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" != installed ] || found=1
    done
    [ -n "$found" ] || echo "$name"
  done <"$top/packaging/debian-packages"
}

# Of alternatives the one that this release has.
packages_choose() {
  local name p
  for name in "$@"; do
    for p in ${name//|/ }; do
      if [ "$p" = "$name" ] || apt-cache show "$p" >/dev/null 2>&1; then
        echo "$p"
        break
      fi
    done
  done
}

packages_try() { # NAME...
  local chosen
  mapfile -t chosen < <(packages_choose "$@")
  [ ${#chosen[@]} = $# ] &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${chosen[@]}"
}

packages_install() { # NAME...; with fresh lists only when those at hand do not do
  packages_try "$@" || { apt-get update && packages_try "$@"; }
}

# packages_need KIND...: install them as root; otherwise name them, and go on where the tests can skip what needs them.
packages_need() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    note "not Debian or Ubuntu: what is needed is in packaging/debian-packages, by its Debian names"
    return 0
  fi
  mapfile -t missing < <(packages_missing "$@")
  [ ${#missing[@]} != 0 ] || return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    step "install ${#missing[@]} packages" "$build/log/packages.log" packages_install "${missing[@]}" ||
      fail 1 "the packages could not be installed: ${missing[*]}"
    return 0
  fi
  note "missing (apt-get install, as root): ${missing[*]}"
  mapfile -t missing < <(packages_missing build)
  [ ${#missing[@]} = 0 ] || fail 77 "without these nothing can be built: ${missing[*]}"
}
