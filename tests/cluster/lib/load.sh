# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Speed of a host, the processor that it runs on, the slices of its quota, and the competing load on it.

cluster_speed() { # HOST CORES|max, or HOST CORES,CORES... --when FILE
  local speeds speed
  IFS=, read -ra speeds <<<"$2"
  [ $# -eq 4 ] || speeds=("$2")
  for speed in "${speeds[@]:-none}"; do
    [ "$speed" = max ] || { [[ $speed =~ ^[0-9]*\.?[0-9]+$ ]] && awk -v c="$speed" 'BEGIN { exit !(c >= 0.001 && c <= 1024) }'; } ||
      die 2 "speed: '$speed' is no number of cores (0.001 to 1024, or max)"
  done
  [ $# -eq 4 ] || { cg_speed "$@"; return; }
  [ "$3" = --when ] && [ -r "$4" ] || die 2 "speed: --when FILE: there is no such file"
  cg_speeds_when "$1" "$4" "${speeds[@]}"
}

# What runs there now, and what will: the programs of its daemons inherit it, and host_enter looks at the file.
cluster_processor() { # HOST N|all
  local which=$2 p
  [ "$2" != all ] || which=0-$(($(nproc --all) - 1))
  [[ $which =~ ^[0-9]+(-[0-9]+)?$ ]] && taskset -c "$which" true 2>/dev/null || die 2 "processor: '$2' is none of this machine's"
  echo "$which" >"$dir/host/$1/processor"
  for p in $(cg_pids "$1"); do taskset -apc "$which" "$p" >/dev/null 2>&1 || true; done # it may have ended
}

# Of a quota that is less than a slice, one of two processors that run the host's processes takes all.  The machine's own value is
# kept in the instance's folder; of one instance at a time, or what one has set would be set back by another.
slice_file=${LB_SLICE_FILE:-/proc/sys/kernel/sched_cfs_bandwidth_slice_us} # tests
cluster_slice() { # US|back
  local other
  [ "$1" != back ] || { slice_back; return; }
  [[ $1 =~ ^[1-9][0-9]{0,5}$ ]] || die 2 "slice: '$1' is no number of microseconds (1 to 999999, or back)"
  other=$(find "$root" -mindepth 2 -maxdepth 2 -name slice ! -path "$dir/*" -print -quit)
  [ -z "$other" ] || die 1 "slice: $(basename "$(dirname "$other")") has set it until its end"
  [ -w "$slice_file" ] || die 1 "slice: $slice_file cannot be written"
  [ -e "$dir/slice" ] || cat "$slice_file" >"$dir/slice"
  echo "$1" >"$slice_file"
}
slice_back() {
  [ -e "$dir/slice" ] || return 0
  cat "$dir/slice" >"$slice_file" || true
  rm -f "$dir/slice"
}

load_program() {
  local p=$build/tests/cluster/lb-load
  if [ ! -x "$p" ]; then
    p=$dir/lb-load
    [ -x "$p" ] || ${CC:-cc} -std=gnu11 -O2 -o "$p" "$here/lb-load.c" || die 1 "cannot compile lb-load.c"
  fi
  echo "$p"
}

cluster_load() { # HOST off|status|OPTIONS
  local h=$1 prog pids
  shift
  pids=$(cg_named "$h" lb-load)
  case $1 in
    status)
      # shellcheck disable=SC2086
      load_used "$h" $pids
      return
      ;;
    off) [ $# = 1 ] || die 2 "load: 'off' takes nothing more" ;;
    *)
      prog=$(load_program)
      "$prog" --check "$@" || exit 2
      ;;
  esac
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill -KILL $pids 2>/dev/null || true
  poll 5 daemon_gone "$h" lb-load || die 1 "the load on $h does not end"
  [ "$1" != off ] || return 0
  # shellcheck disable=SC2016
  (host_enter "$h" /bin/sh -c 'setsid "$@" </dev/null >/dev/null 2>&1 &' sh "$prog" "$@")
  poll 5 load_runs "$h" || true # a short one may have ended already
}
load_runs() { [ -n "$(cg_named "$1" lb-load)" ]; }

load_used() { # HOST PID...: its processes and the CPU seconds that they have used
  local h=$1 hz
  shift
  hz=$(getconf CLK_TCK)
  {
    local p
    for p in "$@"; do sed 's/^.*) //' "/proc/$p/stat" 2>/dev/null || true; done
  } | awk -v h="$h" -v hz="$hz" '{ t += $12 + $13; n++ } END { printf "load host=%s processes=%d cpu_s=%.2f\n", h, n, t / hz }'
}
