# The catalogue of metrics, the dashboards and the alerts agree.
# What ./run bench metrics asks.
noinst_PROGRAMS += tests/metrics/served
tests_metrics_served_SOURCES = tests/metrics/served.c
tests_metrics_served_CFLAGS = $(LB_CFLAGS) $(UV_CFLAGS) $(SQLITE_CFLAGS)
tests_metrics_served_LDADD = liblbd.la $(UV_LIBS)

check_SCRIPTS += tests/metrics/pages.sh tests/metrics/test.sh tests/metrics/web.sh
# file by file: a folder would bring along what tests leave in it
EXTRA_DIST += \
	dashboards/make \
	dashboards/make.d/cluster.py \
	dashboards/make.d/daemon.py \
	dashboards/make.d/grafana.py \
	dashboards/make.d/history.py \
	dashboards/make.d/host.py \
	dashboards/make.d/job.py \
	dashboards/make.d/policy.py \
	docs/pictures/cluster.png \
	docs/pictures/daemon.png \
	docs/pictures/history.png \
	docs/pictures/host.png \
	docs/pictures/job.png \
	docs/pictures/policy.png \
	tests/metrics/catalogue.py \
	tests/metrics/check \
	tests/metrics/describe \
	tests/metrics/pages.sh \
	tests/metrics/openmetrics \
	tests/metrics/promql.py \
	tests/metrics/rules.py \
	tests/metrics/scrape.py \
	tests/metrics/test.sh \
	tests/metrics/web.sh

# What Grafana reads: docs/admin.md.
dashboardsdir = $(pkgdatadir)/dashboards
dist_dashboards_DATA = dashboards/cluster.json dashboards/daemon.json dashboards/history.json dashboards/host.json dashboards/job.json dashboards/policy.json
# What Prometheus reads, what Grafana reads at its start, and the pages that alerts lead to: an administrator has the package, not the tree.
prometheusdir = $(pkgdatadir)/prometheus
dist_prometheus_DATA = dashboards/prometheus/alerts.yml dashboards/prometheus/lbd.targets.json dashboards/prometheus/prometheus.yml dashboards/prometheus/rules.yml
provisioneddashboardsdir = $(pkgdatadir)/provisioning/dashboards
dist_provisioneddashboards_DATA = dashboards/provisioning/dashboards/slurm-lb.yml
provisioneddatasourcesdir = $(pkgdatadir)/provisioning/datasources
dist_provisioneddatasources_DATA = dashboards/provisioning/datasources/slurm-lb.yml
dist_doc_DATA = docs/admin.md docs/metrics.md docs/schema.md
runbooksdir = $(docdir)/runbooks
dist_runbooks_DATA = \
	docs/runbooks/LbJobUnbalanced.md \
	docs/runbooks/LbOverheadHigh.md \
	docs/runbooks/LbdBackupStale.md \
	docs/runbooks/LbdBenchmarkStale.md \
	docs/runbooks/LbdDatabaseClosed.md \
	docs/runbooks/LbdDatabaseErrors.md \
	docs/runbooks/LbdDatabaseFull.md \
	docs/runbooks/LbdDown.md \
	docs/runbooks/LbdHostSlow.md \
	docs/runbooks/LbdHostSlower.md \
	docs/runbooks/LbdMeansLate.md \
	docs/runbooks/LbdMetricsLeftOut.md \
	docs/runbooks/LbdReportsDropped.md \
	docs/runbooks/LbdSnapshotStale.md
