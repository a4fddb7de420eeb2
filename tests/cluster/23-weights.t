#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm's node weights follow the ranking, and the site's own come back: by hand, at the end, after a crash.
. "$(dirname "$0")/../lib/tap.sh"
need_build sbin/lbd bin/lbctl lb-slurm
export LB_CLUSTER_LBD=no LB_CLUSTER_PLUGIN=no
need_cluster 3
dir=$(cluster dir)
weights() { cluster head scontrol show node | awk '/^NodeName=/ { sub(/.*=/, "", $1); n = $1 } { for (i = 1; i <= NF; i++) if ($i ~ /^Weight=/) { sub(/.*=/, "", $i); printf "%s=%s ", n, $i } }'; }
weights_are() { [ "$(weights)" = "$1" ]; }
ordered() { # n1 behind the others, which are in front within their site's weight; n3 stays behind by the site's own
  local n1 n2 n3
  read -r n1 n2 n3 < <(weights | sed 's/n[123]=//g')
  ((n1 > n2 + 2 && n1 < 200 && n2 >= 100 && n3 >= 700 && n3 < 800))
}
ctl() { cluster head "$LB_BUILD/bin/lbctl" "$@"; }
cluster speed n1 .1
cluster speed n2 .5
cluster speed n3 .5
cluster head scontrol update nodename=n3 weight=7
site="n1=1 n2=1 n3=7 "
is "$(weights)" "$site" "(the site's weights)"
conf() { printf 'placement = "%s"\nprobe { load_interval = 1s }\nindex { task = 0 }\n' "$1" >"$dir/policy.conf"; }
reload() { kill -HUP "$(cluster lbd head status | cut -d' ' -f3)"; }

conf on
cluster lbd all start >/dev/null
known() { [ "$(ctl rank | grep -c '^ *[0-9]')" = 3 ]; }
ok "(the hosts are ranked)" within 90 known
is "$(weights)" "$site" "placement = on leaves the weights alone"
conf weights
reload
ok "placement = weights: they follow the ranking within the site's order" within 60 ordered
diag "$(weights)"
ok "lbctl shows them" within 30 sh -c '"$@" | grep -E "^n3 +7[0-9][0-9] +7[0-9][0-9] +7 " >/dev/null' sh "$top/tests/cluster/cluster" head "$LB_BUILD/bin/lbctl" weights --nodes
ok "a new job gets the better host" within 60 sh -c '[ "$("$0" user srun -n1 hostname)" = n2 ]' "$top/tests/cluster/cluster"

# --- what the administrator and slurmctld do meanwhile
cluster head scontrol update nodename=n2 weight=3
scaled() { [[ $(weights) =~ n2=3[0-9][0-9]\  ]]; }
ok "a weight that the administrator sets is the site's new one" within 60 scaled
cluster head scontrol update nodename=n2 weight=1
ok "and back" within 60 ordered
cluster head scontrol update nodename=n1 weight=1
ok "weights that slurmctld has lost are set again" within 60 ordered

# --- the end
cluster lbd head stop >/dev/null
ok "at lbd's end the site's are back" within 30 weights_are "$site"
ok "and nothing is remembered" test ! -e "$dir/host/head/state/weights"
cluster lbd head start >/dev/null
ok "they follow again" within 90 ordered
cluster lbd head kill >/dev/null
is "$(sort "$dir/host/head/state/weights" | tr '\n' ' ')" "n1 1 n2 1 n3 7 " "after a crash the site's are still known"
conf on
cluster lbd head start >/dev/null
ok "and are put back at the next start" within 60 weights_are "$site"
conf weights
reload
ok "they follow again" within 90 ordered
ctl weights --restore >/dev/null
ok "lbctl weights --restore puts them back" within 60 weights_are "$site"
like "$(ctl weights --nodes)" "do not follow" "and they stay"
cluster lbd head restart >/dev/null
ok "until the next start" within 90 ordered

# --- faults: lbd goes on
ok "(lb-slurm runs)" within 30 cluster head pgrep -x lb-slurm
cluster head pkill -KILL -x lb-slurm
cluster head scontrol update nodename=n1 weight=1
ok "lb-slurm killed: it is started again" within 60 ordered
cluster lbd head stop >/dev/null
ok "and the end is as before" within 30 weights_are "$site"
ok "no host is drained or down" hosts_are_well
done_testing
