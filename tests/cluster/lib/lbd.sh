# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Daemons of a host by hand: lbd (once it is built) and slurmd.  Each host's lbd has its own folders, found at the same
# paths everywhere: its socket in /run/slurm-lb, its state in host/NAME/state; all of them read the folder's policy.conf.

lbd_binary() {
  local b=$build/sbin/lbd
  [ -f "$b" ] && [ -x "$b" ] && echo "$b"
}

# The head's lbd is the controller, the hosts' ones report to it.
lbd_start() { # HOST
  local b role=(--role=node "--controller=$net.1" "--slurm=$build/lb-slurm")
  b=$(lbd_binary) || return 0
  [ -z "$(cg_named "$1" lbd)" ] || return 0
  [ "$1" != head ] || role=(--role=controller "--slurm=$build/lb-slurm")
  # shellcheck disable=SC2016
  (host_enter "$1" /bin/sh -c 'setsid "$@" </dev/null >>"$0" 2>&1 &' "$dir/log/lbd.$1.log" \
    "$b" "${role[@]}" --state="$dir/host/$1/state" --config="$dir/policy.conf" 9<&-)
}

lbd_listens() { [ -S "$dir/host/$1/run/lbd.sock" ] && [ -n "$(cg_named "$1" lbd)" ]; } # HOST

lbd_start_all() {
  local h
  [ "${LB_CLUSTER_LBD:-yes}" != no ] && lbd_binary >/dev/null || return 0
  for h in head $(hosts); do lbd_start "$h"; done
  for h in head $(hosts); do
    poll 5 lbd_listens "$h" ||
      echo "cluster: lbd of $h does not run: $(tail -n 1 "$dir/log/lbd.$h.log")" >&2
  done
}

# lbd closes its database when asked to end; what does not end in a second is killed with the rest.
lbd_stop_gently() {
  local h any=
  for h in head $(hosts); do
    for p in $(cg_named "$h" lbd); do kill -TERM "$p" 2>/dev/null && any=1; done
  done
  [ -z "$any" ] || poll 1 lbd_all_gone || true
}
lbd_all_gone() {
  local h
  for h in head $(hosts); do [ -z "$(cg_named "$h" lbd)" ] || return 1; done
}

daemon_gone() { [ -z "$(cg_named "$1" "$2")" ]; } # HOST NAME

daemon_verb() { # lbd|slurmd HOST|all VERB
  local name=$1 which=$2 v=$3 h p
  if [ "$which" = all ]; then
    which=$(hosts)
    [ "$name" = slurmd ] || which="head $which"
  else
    need_host "$which"
  fi
  [ "$name" != lbd ] || lbd_binary >/dev/null || die 4 "lbd is not built in $build"
  for h in $which; do
    case $v in
      start | restart | stop | kill)
        if [ "$v" != start ]; then
          for p in $(cg_named "$h" "$name"); do
            if [ "$v" = kill ]; then kill -KILL "$p"; else kill -CONT "$p"; kill -TERM "$p"; fi
          done
          poll 5 daemon_gone "$h" "$name" || die 1 "$name of $h does not end"
        fi
        case $v in start | restart)
          "${name}_start_if_none" "$h"
          ;;
        esac
        ;;
      status) echo "$h $name $(cg_named "$h" "$name" | tr '\n' ' ')" ;;
      *) die 2 "$name: '$v'? start, stop, kill, restart or status" ;;
    esac
  done
}
lbd_start_if_none() {
  rm -f "$dir/host/$1/run/lbd.sock"
  lbd_start "$1"
  poll 5 lbd_listens "$1" || die 1 "lbd of $1 does not run: $(tail -n 1 "$dir/log/lbd.$1.log")"
}
slurmd_start_if_none() { [ -n "$(cg_named "$1" slurmd)" ] || (slurmd_start "$1"); }
