#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# docs/admin.md from the packages to the first answer of Prometheus: its own commands, as they are written there, with nothing but what the
# packages hold, on a cluster whose lbds are the packaged ones.  Other paths are put in front of its own, and no systemd is asked.
. "$(dirname "$0")/../lib/tap.sh"
[ "$(id -u)" = 0 ] || skip_all "a cluster needs root"
packages=$LB_BUILD/package
[ -d "$packages" ] || skip_all "no packages: ./run package makes them"
for t in prometheus promtool curl python3; do command -v $t >/dev/null || skip_all "$t is not installed"; done
work=$packages/admin
root=$work/root
prometheus=()
at_end rm -rf "$work"
at_end eval '[ ${#prometheus[@]} = 0 ] || { kill "${prometheus[@]}"; wait "${prometheus[@]}"; } 2>/dev/null'
rm -rf "$work"
mkdir -p "$work/build/slurm_plugin/.libs" "$work/build/sbin" "$root/etc/prometheus" "$root/etc/grafana/provisioning"/{dashboards,datasources}
chmod 755 "$work"
for name in slurm-lb slurm-lb-plugin; do ok "$name unpacks" dpkg-deb -x "$packages/${name}_"[0-9]*.deb "$root"; done
lib=$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
ln -s "$root/usr/sbin/lbd" "$work/build/sbin/"
ln -s "$root/usr/bin/lbctl" "$root/usr/libexec/slurm-lb/lb-balancer" "$work/build/"
ln -s "$lib/slurm-wlm/lb.so" "$work/build/slurm_plugin/.libs/lb.so"
export LB_BUILD=$work/build
need_cluster 2
doc=$work/admin.md
cp "$top/docs/admin.md" "$doc"
[ ! -e "$root/usr/share/doc/slurm-lb/admin.md.gz" ] || gzip -dc "$root/usr/share/doc/slurm-lb/admin.md.gz" >"$doc"
ok "the package has the document as it is" cmp "$doc" "$top/docs/admin.md"

here() { sed -e "s|/usr/share/|$root/usr/share/|g; s|/etc/prometheus|$root/etc/prometheus|g; s|/etc/grafana|$root/etc/grafana|g" -e "s|^lbd |$root/usr/sbin/lbd |; s|//HEAD:|//127.0.0.1:|" -e 's| && systemctl reload prometheus$||'; }
command() { # REGEX: the one command of the document that it meets
  local line
  line=$(sed -n 's/^    //p' "$doc" | grep -E -- "$1" | here)
  [ "$(wc -l <<<"$line")" = 1 ] && [ -n "$line" ] || { echo "not one command: $1: $line"; return 1; }
  cluster head bash -c "PATH=$root/usr/sbin:$root/usr/bin:\$PATH; $line"
}
block() { awk -v want="$1" 'sub(/^    /, "") { b = b $0 "\n"; next } { if (b ~ want) { printf "%s", b; exit } b = "" }' "$doc" | here; } # REGEX: the first block with it

listed() { command '^srun --lb=help' | grep "$1" >/dev/null; }
ok "1. the plugin lists its policies" listed siegell
not_ok "(and not what it has not)" listed siegel1
ok "1. the page is there" within 30 command '^curl .*metrics'
ok "2. rules and alerts are copied" command '^cp .*rules.yml'
scrape() { # REGEX: the configuration of that block, and a Prometheus that reads it
  { echo 'global: {scrape_interval: 1s}'; block "$1"; } >"$root/etc/prometheus/prometheus.yml"
  ok "promtool takes the configuration with $1" command '^promtool check'
  [ ${#prometheus[@]} = 0 ] || { kill "${prometheus[@]}"; wait "${prometheus[@]}" || true; }
  cluster head prometheus --config.file="$root/etc/prometheus/prometheus.yml" --storage.tsdb.path="$work/data.$1" --web.listen-address=127.0.0.1:9090 --log.level=warn \
    >"$work/$1.log" 2>&1 </dev/null &
  prometheus=($!)
}
answers() { command '^promtool query' | grep "=> $1 " >/dev/null; }
ok "targets from Slurm's list" command '^lbd --print-sd'
scrape file_sd_configs
ok "Prometheus says how many hosts answer" within 60 answers 3
diag "$(cat "$tap_tmp/within")"
diag "$(command '^promtool query' 2>&1)"
not_ok "(and it can be wrong)" answers 4
ok "the alerts are there" eval 'cluster head curl -fs http://127.0.0.1:9090/api/v1/rules | grep LbdHostSlow >/dev/null'
scrape http_sd_configs
ok "by the controller's /sd, too" within 90 answers 3

ok "3. Grafana's dashboards are copied" command '^cp .*provisioning/dashboards'
ok "and its data sources" command '^cp .*provisioning/datasources'
folder=$(sed -n 's/^ *path: *//p' "$root/etc/grafana/provisioning/dashboards/slurm-lb.yml")
is "$(find "$root$folder" -name '*.json' | wc -l)" 6 "six dashboards are where it says"
db=$(sed -n 's/^ *path: *//p' "$root/etc/grafana/provisioning/datasources/slurm-lb.yml")
ok "the snapshot is where lbd publishes it" grep -q "snapshot = \"$db\"" "$root/etc/slurm-lb/policy.conf"
for page in $(sed -n 's/.*runbook: docs//p' "$root/usr/share/slurm-lb/prometheus/alerts.yml"); do
  [ -s "$root/usr/share/doc/slurm-lb$page" ] || ok "4. $page is there" false
done
ok "4. every alert leads to a page of the package" test "$(find "$root/usr/share/doc/slurm-lb/runbooks" -name '*.md' | wc -l)" -ge 13
done_testing
