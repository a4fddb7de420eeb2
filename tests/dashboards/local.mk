# Run by ./run test dashboards, not by make check: they start a Prometheus and a browser.
EXTRA_DIST += \
	tests/dashboards/10-rules.t \
	tests/dashboards/20-queries.t \
	tests/dashboards/30-draw.t \
	tests/dashboards/40-live.t \
	tests/dashboards/alerts_long_test.yml \
	tests/dashboards/alerts_test.yml \
	tests/dashboards/backfill \
	tests/dashboards/day \
	tests/dashboards/forward.py \
	tests/dashboards/lib.sh \
	tests/dashboards/live.sh \
	tests/dashboards/months \
	tests/dashboards/queries \
	tests/dashboards/render/bundle.mjs \
	tests/dashboards/render/draw.mjs \
	tests/dashboards/render/package.json \
	tests/dashboards/render/page/index.html \
	tests/dashboards/render/page/main.tsx \
	tests/dashboards/render/page/panels.tsx \
	tests/dashboards/render/page/registries.ts \
	tests/dashboards/render/page/report.ts \
	tests/dashboards/render/page/sources.ts \
	tests/dashboards/render/schema.mjs
