# tests/cluster/: a Slurm cluster on one machine, and the tests on it (./run test cluster).
noinst_PROGRAMS += tests/cluster/lb-load tests/cluster/lb-query
tests_cluster_lb_query_SOURCES = tests/cluster/lb-query.c
tests_cluster_lb_query_CFLAGS = $(LB_CFLAGS) $(UV_CFLAGS)
tests_cluster_lb_query_LDADD = liblbd.la $(UV_LIBS)
tests_cluster_lb_load_SOURCES = tests/cluster/lb-load.c
tests_cluster_lb_load_CFLAGS = $(LB_CFLAGS)
# By name: of a folder the build's part would be taken along, with the results of its tests.
EXTRA_DIST += tests/lib/build.sh tests/lib/checks.sh tests/lib/compile-only tests/lib/jobs.sh tests/lib/lanes.sh \
	tests/lib/lbds.sh tests/lib/look.sh tests/lib/mpi.sh tests/lib/package.sh tests/lib/packages.sh tests/lib/planted.sh \
	tests/lib/say.sh tests/lib/tap-run tests/lib/tap.sh tests/lib/test.sh
EXTRA_DIST += tests/cluster/cluster tests/cluster/lib tests/cluster/terminal.py packaging/debian-packages .ci .gitignore
EXTRA_DIST += tests/cluster/00-cluster.t tests/cluster/10-lbd.t tests/cluster/12-lbd-hosts.t tests/cluster/13-lbd-slurm.t \
	tests/cluster/14-lbd-faults.t tests/cluster/14-outlook.t tests/cluster/16-faults-jobs.t tests/cluster/17-store-jobs.t \
	tests/cluster/18-holds.t \
	tests/cluster/20-plugin.t tests/cluster/21-policy.t tests/cluster/22-placement.t tests/cluster/23-weights.t \
	tests/cluster/24-burst.t tests/cluster/30-examples.t tests/cluster/40-faults.t tests/cluster/50-job-metrics.t \
	tests/cluster/52-lbctl-jobs.t tests/cluster/53-job-kinds.t tests/cluster/60-explain.t tests/cluster/61-het.t \
	tests/cluster/62-replay.t tests/cluster/65-tcp.t tests/cluster/66-fortran.t
