# Run by ./run test dashboards, not by make check: they start a Prometheus and a browser.
EXTRA_DIST += \
	tests/dashboards/10-rules.t \
	tests/dashboards/20-queries.t \
	tests/dashboards/alerts_test.yml \
	tests/dashboards/backfill \
	tests/dashboards/day \
	tests/dashboards/lib.sh \
	tests/dashboards/months \
	tests/dashboards/queries
