#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the Debian packages hold is enough: a program is compiled with the installed header, and a cluster whose lbd,
# plugin and balancer are the packaged ones balances it.  The packages are ./run package's.
. "$(dirname "$0")/../lib/tap.sh"
[ "$(id -u)" = 0 ] || skip_all "a cluster needs root"
packages=$LB_BUILD/package
[ -d "$packages" ] || skip_all "no packages: ./run package makes them"
# All of it below the build, which the cluster's hosts see.
work=$packages/tried
root=$work/root
at_end rm -rf "$work"
rm -rf "$work"
mkdir -p "$work"
chmod 755 "$work"
lib=$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)

for name in slurm-lb slurm-lb-plugin liblb0 liblb-dev; do
  ok "$name is there and unpacks" dpkg-deb -x "$packages/${name}_"[0-9]*.deb "$root"
done
depends_of() { dpkg-deb -f "$packages/$1_"[0-9]*.deb Depends; }
like "$(depends_of slurm-lb)" libsqlite3-0 "lbd's libraries are named"
like "$(depends_of liblb0)" libpmix2 "the library's libraries are named"
conffiles() { for p in "$packages"/*_[0-9]*.deb; do dpkg-deb -I "$p" conffiles 2>/dev/null; done; }
for setting in etc/slurm-lb/policy.conf etc/slurm/plugstack.conf.d/lb.conf; do
  like "$(conffiles)" "/$setting" "$setting is a setting that an upgrade keeps"
done
ok "lbd.service starts the installed lbd" grep -qx 'ExecStart=/usr/sbin/lbd $LBD_OPTIONS' "$root/usr/lib/systemd/system/lbd.service"
ok "lbd's settings are good" "$root/usr/bin/lbctl" policy check "$root/etc/slurm-lb/policy.conf"
holds() { dpkg-deb -c "$packages/$1_"[0-9]*.deb | grep "$2" >/dev/null; } # PACKAGE PATH; all is read, or dpkg-deb complains
ok "the Fortran module comes with the header" holds liblb-dev /slurm_lb.f90
not_ok "and not with the daemon" holds slurm-lb /slurm_lb.f90
ok "the tables are described" holds slurm-lb /doc/slurm-lb/schema.md
ok "manual pages are where man looks" test -e "$root/usr/share/man/man8/lbd.8.gz"

cflags=$(PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$lib/pkgconfig pkg-config --cflags --libs lb)
# shellcheck disable=SC2086
ok "the shortest program compiles with the installed header" mpicc "$top/examples/minimal.c" -o "$work/minimal" $cflags -lm
# shellcheck disable=SC2086
not_ok "(and not without it)" mpicc "$top/examples/minimal.c" -o "$work/none" -lm

# The cluster's script takes programs from a build: one whose files are the packaged ones.
mkdir -p "$work/build/slurm_plugin/.libs" "$work/build/sbin"
ln -s "$root/usr/sbin/lbd" "$work/build/sbin/"
ln -s "$root/usr/bin/lbctl" "$root/usr/libexec/slurm-lb/lb-balancer" "$work/build/"
ln -s "$lib/slurm-wlm/lb.so" "$work/build/slurm_plugin/.libs/lb.so"
export LB_BUILD=$work/build
need_cluster 4
run() { cluster user env LD_LIBRARY_PATH="$lib" srun --mpi=pmix -N4 -n4 "$@"; }
for _ in 1 2 3; do # that a busy machine lets go of the balancer is another matter
  ok "srun --lb balances it" run --lb=auto,report "$work/minimal"
  if grep -q 'lb: loops=1 ' "$tap_tmp/out"; then break; fi
done
like "$(cat "$tap_tmp/out")" 'the root of 144 is 12' "its result is right"
like "$(cat "$tap_tmp/out")" 'lb: loops=1 .*iterations=100000' "the balancer reports"
shows_hosts() { cluster head "$root/usr/bin/lbctl" hosts | grep n4 >/dev/null; }
ok "the packaged lbctl shows the hosts" within 30 shows_hosts
done_testing
