# bench/: programs that the benchmarks run, and the scripts that "./run bench NAME" calls.
noinst_PROGRAMS += bench/cpuloop bench/hook bench/slowd bench/memory-lb bench/memory-plain
bench_cpuloop_SOURCES = bench/cpuloop.c
bench_cpuloop_CFLAGS = $(EXAMPLE_CFLAGS)
bench_cpuloop_LDFLAGS = $(EXAMPLE_LDFLAGS)
bench_cpuloop_LDADD = libexamples.la $(EXAMPLE_LIBS)
bench_hook_SOURCES = bench/hook.c
bench_hook_CFLAGS = $(EXAMPLE_CFLAGS)
bench_hook_LDFLAGS = $(EXAMPLE_LDFLAGS)
bench_hook_LDADD = libexamples.la $(EXAMPLE_LIBS)
bench_slowd_SOURCES = bench/slowd.c
bench_memory_lb_SOURCES = bench/rank-memory.c
bench_memory_lb_CPPFLAGS = $(AM_CPPFLAGS) -DLB_BENCH_LIBRARY
bench_memory_lb_CFLAGS = $(EXAMPLE_CFLAGS)
bench_memory_lb_LDFLAGS = $(EXAMPLE_LDFLAGS)
bench_memory_lb_LDADD = $(EXAMPLE_LIBS)
bench_memory_plain_SOURCES = bench/rank-memory.c
bench_memory_plain_CFLAGS = $(EXAMPLE_CFLAGS)
bench_memory_plain_LDADD = $(MPI_LIBS)

EXTRA_DIST += bench/lib.sh bench/balance bench/overhead bench/launch bench/memory
