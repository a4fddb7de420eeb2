# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# A host: its namespaces, held by its first process; entering it; bringing all hosts up and down.

# The folders that a host sees differently: its own /tmp, and where an ordinary user cannot reach the tree through a closed
# folder (/root), an empty open one in its place; the tree and the build come back below it.
host_hidden() {
  local p c
  echo /tmp
  for p in "$top" "$build"; do
    c=
    while IFS= read -r -d / part; do
      [ -n "$part" ] || continue
      c=$c/$part
      [ "$c" != /tmp ] || break
      if [ -d "$c" ] && [ $((0$(stat -c %a "$c") & 1)) = 0 ]; then
        echo "$c"
        break
      fi
    done <<<"$p/"
  done | sort -u
}

host_start() { # HOST
  local h=$1 d=$dir/host/$1 p
  mkdir -p "$d/run" "$d/state"
  (
    exec 9<&-
    cg_join "$h"
    exec setsid nsenter --net="/run/netns/$ns_prefix$h" -- unshare --fork --pid --mount --uts --ipc --propagation private -- \
      "$here/lib/host-init" "$h" "$dir" "$(for p in "$top" "$build"; do echo "$p"; done | sort -u)" "$(host_hidden)" \
      </dev/null >"$d/init.log" 2>&1
  ) &
  disown
}

host_ready() { [ -s "$dir/host/$1/init.pid" ]; }

# The pid of a host's first process, in $host_pid; it is checked to be one of the host's own.
host_alive() { # HOST
  local own=()
  { read -r host_pid <"$dir/host/$1/init.pid" && mapfile -t own <"$cg/$cg_name/$1/cgroup.procs"; } 2>/dev/null &&
    [[ " ${own[*]} " == *" $host_pid "* ]]
}

# Run a command on a host in place of this shell.  When its starter is killed it gets SIGTERM: nsenter passes no signals on.
host_enter() { # HOST CMD...
  local h=$1
  shift
  host_alive "$h" || die 3 "host '$h' of '$inst' is dead; cluster -i $inst down, then up"
  cg_join "$h"
  [ ! -e "$dir/host/$h/processor" ] || taskset -pc "$(cat "$dir/host/$h/processor")" "$BASHPID" >/dev/null
  slurm_env
  export LB_CLUSTER=$inst
  # shellcheck disable=SC2016
  exec nsenter --net --mount --uts --ipc --pid -t "$host_pid" -- \
    /bin/sh -c 'cd "$1" 2>/dev/null || cd /; shift; exec setpriv --pdeathsig TERM -- "$@"' sh "$PWD" "$@"
}

cluster_user() { # [-u USER] CMD...
  local u=lbtest id
  if [ "${1:-}" = -u ]; then u=${2:?}; shift 2; fi
  [ $# -gt 0 ] || die 2 "user: which command?"
  id=$(awk -F: -v u="$u" '$1 == u { print $3 }' "$dir/passwd")
  [ -n "$id" ] || die 2 "no user '$u'"
  host_enter head setpriv --reuid "$id" --regid "$id" --clear-groups --pdeathsig TERM -- \
    env HOME="$dir/home/$u" USER="$u" LOGNAME="$u" "$@"
}

cluster_healthy() {
  local h
  for h in head $(hosts); do host_alive "$h" || return 1; done
  [ -n "$(cg_named head slurmctld)" ] || return 1
  for h in $(hosts); do [ -n "$(cg_named "$h" slurmd)" ] || return 1; done
}

cluster_up() { # [N]
  local n=${1:-4} h
  if ! [[ $n =~ ^[1-9][0-9]?$ ]] || [ "$n" -gt 64 ]; then die 2 "up: '$n' hosts? 1 to 64"; fi
  lock
  if [ -e "$dir/up" ]; then
    [ "$(cat "$dir/up")" = "$build" ] || die 3 "'$inst' is up for $(cat "$dir/up"); take another name (-i), or its down"
    if cluster_healthy; then
      [ "$(hosts | wc -l)" = "$n" ] || [ $# = 0 ] || die 3 "'$inst' is up with $(hosts | wc -l) hosts; down first"
      slurm_plugstack_refresh
      lbd_start_all
      echo "cluster: $inst is up already: $(hosts | wc -l) hosts"
      return 0
    fi
    echo "cluster: $inst is half dead: made anew" >&2
  fi
  clean
  slurm_munged
  trap 'st=$?; if [ $st != 0 ]; then echo "cluster: up failed; logs of it:" >&2; slurm_tails >&2; clean; fi' EXIT
  mkdir -p "$dir"
  chmod 755 "$root" "$dir"
  slurm_files "$n"
  cg_make head
  for h in $(hosts); do cg_make "$h"; done
  net_head
  net_hosts "$n"
  for h in head $(hosts); do host_start "$h"; done
  for h in head $(hosts); do poll 10 host_ready "$h" || die 1 "host $h did not start: $(tail -n 3 "$dir/host/$h/init.log")"; done
  (slurmctld_start)
  poll 10 slurmctld_listens || die 1 "slurmctld does not listen"
  for h in $(hosts); do (slurmd_start "$h"); done
  lbd_start_all
  poll 20 slurm_idle "$n" || die 1 "the hosts did not become idle"
  echo "$build" >"$dir/up"
  trap - EXIT
  echo "cluster: $inst is up: $n hosts"
}

# End and remove everything that bears the instance's name.
clean() {
  local i p=
  lbd_stop_gently
  for ((i = 0; i < 500; i++)); do
    p=$(cg_pids)
    [ -n "$p" ] || break
    # shellcheck disable=SC2086
    kill -KILL $p 2>/dev/null || true
    sleep 0.01
  done
  net_remove
  poll 5 cg_removed || true
  slice_back
  if [ -d "$dir" ]; then
    awk -v d="$dir/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r | xargs -r umount -l
    rm -rf --one-file-system "$dir"
  fi
}

cg_removed() {
  cg_remove
  [ ! -e "$cg/$cg_name" ] && { [ -z "$cg_acct" ] || [ ! -e "$cg_acct/$cg_name" ]; }
}

cluster_down() {
  local left=
  lock
  clean
  [ -z "$(cg_pids)" ] || left+=" processes: $(cg_pids | tr '\n' ' ')"
  cg_removed || left+=" cgroup: $cg/$cg_name"
  [ -z "$(net_names)" ] || left+=" network namespaces: $(net_names | tr '\n' ' ')"
  ! grep -qF " $dir/" /proc/self/mountinfo || left+=" mounts below $dir"
  [ ! -e "$dir" ] || left+=" folder: $dir"
  rmdir "$root" 2>/dev/null || true
  [ -z "$left" ] || die 1 "$inst is down, but there is left:$left"
  echo "cluster: $inst is down, nothing is left"
}
