#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rules and alerts as Prometheus' own tool judges them; each alert fires and stays silent when it should; faults are found out.
# beside others: waits, or computes alone, and nothing in it depends on how fast
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"
need_tools promtool python3

rules=$top/dashboards/prometheus
ok "promtool reads the rules and the alerts" promtool check rules "$rules/rules.yml" "$rules/alerts.yml"
ok "promtool reads the example of a configuration" promtool check config --syntax-only "$rules/prometheus.yml"
ok "every alert fires when it should, and not else" promtool test rules "$dash/alerts_test.yml" "$dash/alerts_long_test.yml"
for a in $(sed -n 's/.*- alert: //p' "$rules/alerts.yml"); do
  ok "$a: fires in one test and is silent in another" awk -v a="alertname: $a" '
    index($0, a) { want = 1; getline; if (/exp_alerts/) fires = 1; else silent = 1 } END { exit !(fires && silent) }' "$dash/alerts_test.yml" "$dash/alerts_long_test.yml"
done

planted() { # TEXT FILE SED
  rm -rf "$tap_tmp/t"
  mkdir -p "$tap_tmp/t/tests/dashboards" "$tap_tmp/t/dashboards"
  cp "$dash/alerts_test.yml" "$dash/alerts_long_test.yml" "$tap_tmp/t/tests/dashboards/"
  cp -r "$rules" "$tap_tmp/t/dashboards/"
  sed -i "$3" "$tap_tmp/t/dashboards/prometheus/$2"
  if cmp -s "$rules/$2" "$tap_tmp/t/dashboards/prometheus/$2"; then ok "$1: planted" false; fi
  not_ok "found out: $1" promtool test rules "$tap_tmp/t/tests/dashboards/alerts_test.yml" "$tap_tmp/t/tests/dashboards/alerts_long_test.yml"
}
planted "an alert that looks at everything that is down" alerts.yml 's/up{job="lbd"}/up/'
planted "a limit that is another" alerts.yml 's/relative_min < 0.85/relative_min < 0.87/'
planted "a host's past that is never slow enough" alerts.yml 's/own_history_ratio < 1/own_history_ratio < 0.5/'
planted "an alert that does not wait" alerts.yml 's/for: 15m/for: 5m/'
planted "a rule that compares hosts of all kinds" rules.yml 's/quantile by (cluster, kernel, cpu_model)/quantile by (cluster, kernel)/; s/on (cluster, kernel, cpu_model)/on (cluster, kernel)/'
planted "a rule that forgets the balancer's own time" rules.yml '/balancer_cpu/d'
done_testing
