# The catalogue of metrics, the dashboards and the alerts agree.
check_SCRIPTS += tests/metrics/test.sh
EXTRA_DIST += tests/metrics dashboards docs/metrics.md docs/runbooks
