# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# The instance: where its things are, messages, the lock, waiting.

usage() { sed -n '3,/^set /p' "$here/cluster" | sed -e '/^set /d' -e 's/^# \{0,1\}//'; }

die() { # STATUS TEXT
  echo "cluster: $2" >&2
  exit "$1"
}

base_init() { # INSTANCE
  root=${LB_CLUSTER_ROOT:-/var/lib/slurm-lb-cluster}
  dir=$root/$1
  build=${LB_BUILD:-$top/build}
  cg_name=lbc.$1
  ns_prefix=lbc.$1.
  net=10.77.0
  export SLURM_CONF=$dir/slurm.conf
  # An absolute path whatever was given: the hosts' folders differ from ours.
  case $build in /*) ;; *) build=$PWD/$build ;; esac
}

need_root() {
  [ "$(id -u)" = 0 ] || die 77 "root is needed (network and mount namespaces, CPU quotas)"
  local t
  for t in ip unshare nsenter setpriv slurmctld slurmd sinfo munge perl; do
    command -v "$t" >/dev/null || die 77 "'$t' is missing; ./run build installs what is needed"
  done
  unshare --mount --net true 2>/dev/null ||
    die 77 "this machine does not let us make namespaces (a container without CAP_SYS_ADMIN?)"
  cg_detect || die 77 "$cg_why"
}

# What is up has found all that it needs, and hundreds of commands follow: no process is started to look for it again.
need_up() {
  if [ "$EUID" != 0 ] || [ ! -e "$dir/up" ] || ! cg_detect; then need_root; fi
  [ -e "$dir/up" ] || die 3 "instance '$inst' is not up (cluster -i $inst up)"
}

need_host() { # HOST
  local known
  need_up
  mapfile -t known <"$dir/hosts"
  [[ " head ${known[*]} " == *" $1 "* ]] || die 2 "no host '$1' in '$inst': ${known[*]} and head"
}

hosts() { cat "$dir/hosts" 2>/dev/null || true; }

# One up or down at a time on the machine.  The folder may be removed by whom we waited for: then again.
lock() {
  while :; do
    mkdir -p "$root"
    exec 9<"$root"
    flock -w 60 9 || die 1 "another up or down holds $root for 60 s"
    [ ! /proc/self/fd/9 -ef "$root" ] || return 0
  done
}

# Wait until a command succeeds: SECONDS CMD...
poll() { look_until "$1" 0.01 "${@:2}"; }
