# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# The network: a bridge inside the head's network namespace, and a pair of links to each host's.  Since nothing of it is in
# the machine's own namespace every instance has the same addresses and ports, and none can collide with anything.

net_head() {
  ip netns add "${ns_prefix}head"
  ip -n "${ns_prefix}head" -batch - <<X
link set lo up
link add eth0 type bridge
addr add $net.1/24 dev eth0
link set eth0 up
X
}

net_hosts() { # N
  local i
  for ((i = 1; i <= $1; i++)); do
    ip netns add "${ns_prefix}n$i"
    ip -n "${ns_prefix}n$i" -batch - <<X
link set lo up
link add eth0 type veth peer name n$i netns ${ns_prefix}head
addr add $net.$((10 + i))/24 dev eth0
link set eth0 up
X
    ip -n "${ns_prefix}head" link set "n$i" master eth0 up
  done
}

net_names() { find /run/netns -maxdepth 1 -name "$ns_prefix*" -printf '%f\n' 2>/dev/null || true; }

net_remove() {
  local n
  for n in $(net_names); do
    # A half-made one is a plain file without a mount: ip says so and leaves it.
    ip netns del "$n" 2>/dev/null || rm -f "/run/netns/$n"
  done
}
