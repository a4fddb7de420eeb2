# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Building out of the tree.

build_jobs=${LB_JOBS:-$(nproc 2>/dev/null || echo 2)}

# configure, and libtool in front of each compilation and each link, take a third less processor time of a build by it than by bash.
if [ -z "${CONFIG_SHELL:-}" ] && [ -x /bin/dash ]; then export CONFIG_SHELL=/bin/dash; fi

# What make does not redo by itself: the first time, and after another configure.ac by an older tree.
build_autoreconf() {
  local f
  if [ -x "$top/configure" ] && [ -e "$top/Makefile.in" ]; then
    for f in "$top/configure.ac" "$top"/m4/lb*.m4; do
      if [ "$f" -nt "$top/configure" ]; then f=; break; fi
    done
    [ -z "$f" ] || return 0
  fi
  step "autoreconf" "$build/log/autoreconf.log" autoreconf -fi "$top"
}

build_configure_in() { # DIR ARG...
  local d=$1
  shift
  rm -f "$d/.configured"
  (cd "$d" && "$top/configure" "$@") || return
  printf '%s\n' "$*" >"$d/.configured"
}

# build_tree NAME DIR CONFIGURE-ARG...: configure when needed, then make $build_what.
build_tree() {
  local name=$1 d=$2
  shift 2
  build_autoreconf || return
  mkdir -p "$d"
  if [ "$(cat "$d/.configured" 2>/dev/null)" != "$*" ] || [ "$top/configure" -nt "$d/config.status" ]; then
    step "$name: configure" "$build/log/$name.configure.log" build_configure_in "$d" "$@" || return
  fi
  step "$name: make" "$build/log/$name.make.log" make -C "$d" -j"$build_jobs" "${build_what[@]}"
}
build_what=(all) # make's arguments

# The build that the demo, the benchmarks and the cluster use.  One configured by hand in that place is left as it is.
build_main() {
  if [ -e "$build/config.status" ] && [ ! -e "$build/.configured" ]; then
    build_autoreconf || return
    step "build: make" "$build/log/build.make.log" make -C "$build" -j"$build_jobs" all
    return
  fi
  build_tree build "$build" --enable-werror
}

# Two of this tree at a time would configure and compile over each other.  The lock goes with this shell, and nothing that it
# starts keeps it.
need_build() {
  local lock
  mkdir -p "$build/log"
  exec {lock}>"$build/log/lock"
  flock -n "$lock" || { note "build: another ./run builds in $build: waiting for it"; flock "$lock"; }
  build_main {lock}>&- || fail 1 "the build failed"
  exec {lock}>&-
}
