# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# CPU quotas: cgroup v1 (cpu, and cpuacct where it is a hierarchy of its own) or v2 (cpu.max).  One group an instance,
# one below it for each host and the head.

cg_detect() {
  cg_why='' cg_acct=''
  if [ -n "${LB_CGROUP_V2:-}" ]; then # tests
    cg_version=2 cg=$LB_CGROUP_V2
    return 0
  fi
  if cg_mounted cgroup cpu; then
    cg_version=1 cg=$cg_where
    if cg_mounted cgroup cpuacct; then cg_acct=$cg_where; fi
    [ -w "$cg" ] || { cg_why="$cg is not writable"; return 1; }
    return 0
  fi
  cg_version=2
  if ! cg_mounted cgroup2 || ! grep -qw cpu "$cg_where/cgroup.controllers"; then
    cg_why="no cgroup with the cpu controller is mounted"
    return 1
  fi
  cg=$cg_where
}

# Where the first of that type, with that option, is mounted: in $cg_where.  Without a process, as it is asked for often.
cg_mounted() { # TYPE [OPTION]
  local type options
  while read -r _ cg_where type options _; do
    [ "$type" != "$1" ] || [[ ,$options, != *,${2:-$options},* ]] || return 0
  done </proc/mounts
  cg_where=
  return 1
}

cg_make() { # HOST
  if [ "$cg_version" = 2 ]; then
    cg_enable_v2 "$cg"
    mkdir -p "$cg/$cg_name"
    echo +cpu >"$cg/$cg_name/cgroup.subtree_control"
    mkdir -p "$cg/$cg_name/$1"
    return
  fi
  mkdir -p "$cg/$cg_name/$1"
  [ -z "$cg_acct" ] || mkdir -p "$cg_acct/$cg_name/$1"
}

# Give the children of a v2 group the cpu controller.  In a container its own processes sit in that group, which must be
# empty for it: they move to a group beside ours.
cg_enable_v2() { # FOLDER
  local p
  ! grep -qsw cpu "$1/cgroup.subtree_control" || return 0
  ! echo +cpu 2>/dev/null >"$1/cgroup.subtree_control" || return 0
  mkdir -p "$1/lbc-others"
  while read -r p; do echo "$p" 2>/dev/null >"$1/lbc-others/cgroup.procs" || true; done <"$1/cgroup.procs"
  echo +cpu >"$1/cgroup.subtree_control" || die 1 "cannot enable the cpu controller in $1"
}

cg_join() { # HOST: this shell and what it starts
  echo 0 >"$cg/$cg_name/$1/cgroup.procs"
  [ -z "$cg_acct" ] || [ "$cg_acct" = "$cg" ] || echo 0 >"$cg_acct/$cg_name/$1/cgroup.procs"
}

# A period of 10 ms keeps a throttled host smooth; the kernel allows no quota below 1 ms.
cg_quota() { # CORES|max -> "quota period" in us
  [ "$1" != max ] || { echo max 10000; return; }
  awk -v c="$1" 'BEGIN { p = 10000; if (c * p < 1000) p = int(1000 / c + 0.999); if (p > 1000000) exit 1
    q = int(c * p + 0.5); if (q < 1000) q = 1000; print q, p }' || die 2 "speed: '$1' cores are too few (0.001 at least)"
}

cg_limit() { # HOST "quota period"
  local d=$cg/$cg_name/$1 q=${2% *} p=${2#* }
  if [ "$cg_version" = 2 ]; then
    echo "$q $p" >"$d/cpu.max"
    return
  fi
  echo -1 >"$d/cpu.cfs_quota_us"
  echo "$p" >"$d/cpu.cfs_period_us"
  [ "$q" = max ] || echo "$q" >"$d/cpu.cfs_quota_us"
}

cg_speed() { # HOST CORES|max
  local limit
  limit=$(cg_quota "$2") || exit
  cg_limit "$1" "$limit"
}

# Each line of FILE sets the next of these speeds, and after the last one the first again; says "MOMENT SPEED".  No process is started
# for it, and nothing else is left to do then: what is measured meanwhile is not disturbed.
cg_speeds_when() { # HOST FILE CORES|max...
  local host=$1 file=$2 speeds=("${@:3}") limits=() speed limit i=0
  for speed in "${speeds[@]}"; do
    limit=$(cg_quota "$speed") || exit
    limits+=("$limit")
  done
  while read -r _; do
    cg_limit "$host" "${limits[i]}"
    echo "$EPOCHREALTIME ${speeds[i]}"
    i=$(((i + 1) % ${#speeds[@]}))
  done <"$file"
}

cg_speed_of() { # HOST -> cores or max
  local d=$cg/$cg_name/$1 q p
  if [ "$cg_version" = 2 ]; then
    read -r q p <"$d/cpu.max"
  else
    read -r q <"$d/cpu.cfs_quota_us"
    read -r p <"$d/cpu.cfs_period_us"
  fi
  case $q in
    max | -1) echo max ;;
    *) awk -v q="$q" -v p="$p" 'BEGIN { printf "%.4g\n", q / p }' ;;
  esac
}

cg_usage() { # HOST -> CPU seconds
  if [ "$cg_version" = 2 ]; then
    awk '$1 == "usage_usec" { printf "%.6f\n", $2 / 1e6 }' "$cg/$cg_name/$1/cpu.stat"
  else
    awk '{ printf "%.6f\n", $1 / 1e9 }' "$cg_acct/$cg_name/$1/cpuacct.usage"
  fi
}

cg_pids() { # [HOST]: the processes of a host, or of the instance
  local f
  while read -r f; do cat "$f" 2>/dev/null || true; done < <(find "$cg/$cg_name${1:+/$1}" -name cgroup.procs 2>/dev/null)
}

cg_named() { # HOST NAME: those of its processes with that name
  local p c
  for p in $(cg_pids "$1"); do
    if read -r c 2>/dev/null <"/proc/$p/comm" && [ "$c" = "$2" ]; then echo "$p"; fi
  done
}

cg_remove() {
  local c
  for c in "$cg" ${cg_acct:+"$cg_acct"}; do
    [ ! -d "$c/$cg_name" ] || find "$c/$cg_name" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
}
