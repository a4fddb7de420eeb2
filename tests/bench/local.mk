# What `./run bench store` runs: programs of lbd's own parts, which bench/ itself may not know.
noinst_PROGRAMS += tests/bench/day tests/bench/nodes
tests_bench_day_SOURCES = tests/bench/day.c
tests_bench_day_CFLAGS = $(LB_CFLAGS) $(UV_CFLAGS)
tests_bench_day_LDADD = liblbd.la
tests_bench_nodes_SOURCES = tests/bench/nodes.c
tests_bench_nodes_CFLAGS = $(LB_CFLAGS) $(UV_CFLAGS)
tests_bench_nodes_LDADD = liblbd.la $(UV_LIBS)
EXTRA_DIST += bench/store
