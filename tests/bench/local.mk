# What `./run bench store` and `./run bench scale` run: programs of our own parts, which bench/ itself may not know.
noinst_PROGRAMS += tests/bench/day tests/bench/nodes
tests_bench_day_SOURCES = tests/bench/day.c
tests_bench_day_CFLAGS = $(LB_CFLAGS) $(UV_CFLAGS)
tests_bench_day_LDADD = liblbd.la
tests_bench_nodes_SOURCES = tests/bench/nodes.c
tests_bench_nodes_CFLAGS = $(LB_CFLAGS) $(UV_CFLAGS)
tests_bench_nodes_LDADD = liblbd.la $(UV_LIBS)
EXTRA_DIST += bench/store
noinst_PROGRAMS += tests/bench/messages
tests_bench_messages_SOURCES = tests/bench/messages.c
tests_bench_messages_CFLAGS = $(LB_CFLAGS) $(SODIUM_CFLAGS)
tests_bench_messages_LDADD = libwire.la libcommon.la
check_SCRIPTS += tests/bench/test_messages.sh tests/bench/test_quiet.sh tests/bench/test_reaction.sh tests/bench/test_scale.sh
EXTRA_DIST += tests/bench/test_messages.sh tests/bench/test_quiet.sh tests/bench/test_reaction.sh tests/bench/test_scale.sh
