# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# Slurm and MUNGE: configuration files, daemons, environment.

# One munged serves the machine: it is started when there is none, and stays.
slurm_munged() {
  ! munge -n >/dev/null 2>&1 || return 0
  if [ -d /run/systemd/system ]; then
    systemctl start munge || true
  else
    mkdir -p /run/munge
    chown munge: /run/munge
    chmod 755 /run/munge
    (exec 9<&-; setsid setpriv --reuid munge --regid munge --clear-groups -- /usr/sbin/munged </dev/null >/dev/null 2>&1) || true
  fi
  poll 5 munge_answers || die 1 "munged does not answer (is there a key, /etc/munge/munge.key?)"
}
munge_answers() { munge -n >/dev/null 2>&1; }

# Two ordinary users, known only inside the cluster.
slurm_users() {
  local u id=58042
  cp /etc/passwd "$dir/passwd"
  cp /etc/group "$dir/group"
  chmod 644 "$dir/passwd" "$dir/group"
  for u in lbtest lbother; do
    while getent passwd $id >/dev/null || getent group $id >/dev/null; do id=$((id + 1)); done
    mkdir -p "$dir/home/$u"
    chown $id:$id "$dir/home/$u"
    echo "$u:x:$id:$id::$dir/home/$u:/bin/bash" >>"$dir/passwd"
    echo "$u:x:$id:" >>"$dir/group"
    id=$((id + 1))
  done
}

slurm_files() { # N
  local i n=$1
  mkdir -p "$dir/state" "$dir/log" "$dir/shared" "$dir/host/head/pid"
  chmod 1777 "$dir/shared"
  for ((i = 1; i <= n; i++)); do
    mkdir -p "$dir/host/n$i/pid"
    echo "n$i"
  done >"$dir/hosts"
  {
    echo "127.0.0.1 localhost"
    echo "$net.1 head"
    for ((i = 1; i <= n; i++)); do echo "$net.$((10 + i)) n$i"; done
  } >"$dir/etc-hosts"
  slurm_users
  : >"$dir/plugstack.conf"
  echo "# policy.conf of this cluster" >"$dir/policy.conf"
  [ "${LB_CLUSTER_PLUGIN:-yes}" = no ] || slurm_plugstack
  # TreeWidth: with the default of 50 (Slurm 22.05.8) no PMIx fence waited for another host, as measured: a rank still in
  # MPI_Init was then killed by a faster one's first message, in 1 to 3 of 100 starts.  With 2 they wait.
  # MessageTimeout: when a slurmd does not answer for this long (10 s by default), Slurm's PMIx sends the same part of a fence
  # again, and the second one aborts the step.  A machine of many clusters stands still for longer at times.
  cat >"$SLURM_CONF" <<X
ClusterName=$inst
SlurmctldHost=head($net.1)
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/host/%n/spool
SlurmctldPidFile=$dir/host/head/pid/slurmctld
SlurmdPidFile=$dir/host/%n/pid/slurmd
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.%n.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=pmix
MessageTimeout=60
TreeWidth=2
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_min_interval=10000
KillWait=2
PlugStackConfig=$dir/plugstack.conf
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
NodeName=n[1-$n] CPUs=4 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=second Nodes=ALL MaxTime=INFINITE State=UP
X
}

# [PATH|off] [ARG...]; without a path that of the build, once it is built.
slurm_plugstack() {
  local so=${1:-$build/slurm_plugin/.libs/lb.so} by="# by hand"
  if [ $# = 0 ]; then by="# by up"; else shift; fi
  {
    echo "$by"
    if [ "$so" != off ] && [ -e "$so" ]; then
      [ $# -gt 0 ] || [ ! -x "$build/lb-balancer" ] || set -- "balancer=$build/lb-balancer"
      echo "optional $so${*:+ $*}"
    fi
  } >"$dir/plugstack.conf"
}

# What up has written, it brings up to date; what a person has written stays.
slurm_plugstack_refresh() {
  [ "${LB_CLUSTER_PLUGIN:-yes}" != no ] && grep -qx "# by up" "$dir/plugstack.conf" || return 0
  slurm_plugstack
}

# For MPI programs: TCP between the hosts over their one link, and nothing that asks the machine's hardware.
slurm_env() {
  export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_oob_tcp_if_include=eth0
  export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
  # Slurm's default mixes two fence algorithms by message size; a rank may then leave MPI_Init while another still waits in
  # its first fence, and that one dies of the early message (2 of 100 starts here on a loaded machine; none with one kind).
  export SLURM_PMIX_FENCE=tree
  # Early direct connections prove themselves by MUNGE while slurmstepd has the user's effective id, and are refused.
  export SLURM_PMIX_DIRECT_CONN=false
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export LB_BUILD=$build
  export PATH=$build/bin:$build/sbin:$build:$PATH # lbctl, lbd and lbsim of the build, without being installed
  # Those that a surrounding job may have left would name another job.
  unset "${!SLURM_JOB@}" "${!SLURM_STEP@}" SLURM_NODELIST SLURM_NTASKS SLURM_NPROCS SLURM_NNODES "${!PMIX_@}"
}

slurmctld_start() { host_enter head slurmctld </dev/null >>"$dir/log/start.log" 2>&1 9<&-; }
# A slurmd that finds nobody tries again a second later.  6817 is 1AA1, 0A means listening.
slurmctld_listens() { host_alive head && grep -q ':1AA1 .* 0A ' "/proc/$host_pid/net/tcp"; }
slurmd_start() { host_enter "$1" slurmd -N "$1" </dev/null >>"$dir/log/start.log" 2>&1 9<&-; } # HOST

slurm_idle() { # N
  [ "$(host_enter head sinfo -h -o %T:%D -p main 2>/dev/null 9<&-)" = "idle:$1" ]
}

slurm_tails() { tail -n 5 "$dir"/log/*.log "$dir"/host/*/*.log 2>/dev/null || true; }
