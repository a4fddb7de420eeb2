#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hosts that Slurm has drained or down: lbctl shows them, and they are not ranked until they are back.
# beside others, long: waits for Slurm and lbd, whatever the speed of hosts
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl
export LB_CLUSTER_PLUGIN=no LB_CLUSTER_LBD=no
need_cluster 2
printf 'probe { load_interval = 1s }\n' >"$(cluster dir)/policy.conf"
cluster lbd all start >/dev/null
ctl() { cluster head "$LB_BUILD/bin/lbctl" "$@"; }
ranked() { # HOSTS; else what is known of them
  [ "$(ctl --json rank | perl -MJSON::PP -e 'print join " ", sort map { $_->{host} } @{decode_json(<STDIN>)->{hosts}}')" = "$1" ] && return
  date +%T && time ctl hosts && cluster head sinfo -N -o '%N %T %E' && return 1
}
of_host() { ctl --json hosts | perl -MJSON::PP -e '
    my ($host, $key) = @ARGV;
    print map { ref $_->{$key} ? ($_->{$key} ? "true" : "false") : $_->{$key} } grep { $_->{host} eq $host } @{decode_json(<STDIN>)->{hosts}}' "$@"; } # HOST KEY

ok "both hosts are ranked" within 60 ranked "n1 n2"
cluster head scontrol update NodeName=n2 State=drain Reason=spider >/dev/null
drained() { [[ $(ctl hosts) =~ n2\ .*drain.*spider ]]; }
ok "a drained host is shown" within 60 drained
ok "and is not ranked" within 60 ranked n1
reports() { [ "$(of_host n2 connected) $(of_host n2 slurm)" = "true drained" ]; }
ok "but its lbd goes on reporting" within 60 reports
cluster head scontrol update NodeName=n2 State=resume >/dev/null
ok "when it is back it is ranked again" within 60 ranked "n1 n2"
# Slurm takes a host that is down back as soon as its slurmd registers again (ReturnToService=2): every 100 s.
down() { cluster head scontrol update NodeName=n2 State=down Reason=cable && "$@"; }
ok "nor is one ranked that is down" within 60 down ranked n1
knows() { [ "$(of_host n2 slurm)" = down ]; }
ok "which lbctl knows" within 60 down knows
cluster head scontrol update NodeName=n2 State=resume >/dev/null 2>&1 || true # unless it has just been taken back
ok "when it is up it is ranked again" within 60 ranked "n1 n2"
zombies() { # of lbds of this cluster
  ps -eo ppid=,stat=,comm= | while read -r parent stat name; do
    [[ $stat$name != Z*lb-slurm* ]] || ! grep -qF "$(cluster dir)/" "/proc/$parent/cmdline" || echo "$parent"
  done
}
no_zombies() { diff /dev/null <(zombies); } # one that ends just now is waited for at once
ok "its helpers leave no zombies" within 5 no_zombies
done_testing
