# Run by ./run test dashboards, not by make check: they start a Prometheus and a browser.
EXTRA_DIST += tests/dashboards
