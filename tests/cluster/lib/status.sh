# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# What there is.

cluster_list() {
  local f
  for f in "$root"/*/up; do
    [ -e "$f" ] || continue
    f=${f%/up}
    echo "${f##*/} hosts=$(wc -l <"$f/hosts") build=$(cat "$f/up")"
  done
}

# One line a host; exit status 0: all is well, 3: not up, 1: some part is dead.
cluster_status() {
  local h st=0 s d
  if [ ! -e "$dir/up" ]; then
    echo "cluster: $inst is not up"
    exit 3
  fi
  need_root
  declare -A state
  while read -r h s; do state[$h]=$s; done < <(host_enter head timeout 5 sinfo -h -N -p main -o '%N %T' 2>/dev/null || true)
  for h in head $(hosts); do
    d=dead
    if ! host_alive "$h"; then
      st=1
      printf '%-5s dead\n' "$h"
      continue
    fi
    if [ "$h" = head ]; then
      [ -z "$(cg_named head slurmctld)" ] || d=running
      s="slurmctld=$d"
    else
      [ -z "$(cg_named "$h" slurmd)" ] || d=running
      s="slurmd=$d state=${state[$h]:-unknown}"
    fi
    [ $d = running ] || st=1
    printf '%-5s %s speed=%s lbd=%s load=%s\n' "$h" "$s" "$(cg_speed_of "$h")" \
      "$(if [ -n "$(cg_named "$h" lbd)" ]; then echo running; else echo none; fi)" \
      "$(if [ -n "$(cg_named "$h" lb-load)" ]; then echo on; else echo off; fi)"
  done
  exit $st
}
