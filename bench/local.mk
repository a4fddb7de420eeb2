# bench/: programs that the benchmarks run, and the scripts that "./run bench NAME" calls.
noinst_PROGRAMS += bench/cpuloop bench/hook bench/slowd bench/memory-lb bench/memory-plain bench/bec
bench_cpuloop_SOURCES = bench/cpuloop.c
bench_cpuloop_CFLAGS = $(EX_COMPILE)
bench_cpuloop_LDFLAGS = $(EX_LINK)
bench_cpuloop_LDADD = libexamples.la $(EX_LINK_WITH)
bench_hook_SOURCES = bench/hook.c
bench_hook_CFLAGS = $(EX_COMPILE)
bench_hook_LDFLAGS = $(EX_LINK)
bench_hook_LDADD = libexamples.la $(EX_LINK_WITH)
bench_bec_SOURCES = bench/bec.c
bench_bec_CFLAGS = $(EX_COMPILE)
bench_bec_LDFLAGS = $(EX_LINK)
bench_bec_LDADD = libexamples.la $(EX_LINK_WITH) -lm
bench_slowd_SOURCES = bench/slowd.c
bench_memory_lb_SOURCES = bench/rank-memory.c
bench_memory_lb_CPPFLAGS = $(AM_CPPFLAGS) -DLB_BENCH_LIBRARY
bench_memory_lb_CFLAGS = $(EX_COMPILE)
bench_memory_lb_LDFLAGS = $(EX_LINK)
bench_memory_lb_LDADD = $(EX_LINK_WITH)
bench_memory_plain_SOURCES = bench/rank-memory.c
bench_memory_plain_CFLAGS = $(EX_COMPILE)
bench_memory_plain_LDADD = $(MPI_LIBS)

EXTRA_DIST += bench/lib.sh bench/ablation bench/balance bench/figures bench/grain bench/launch bench/memory bench/metrics \
	bench/oscillate bench/overhead bench/placement bench/plan bench/reaction bench/reaction.py bench/scale bench/votes

# The forecasts of policy/ on recorded load.
noinst_PROGRAMS += sim/forecast-trace
sim_forecast_trace_SOURCES = sim/forecast_trace.c
sim_forecast_trace_CFLAGS = $(LB_CFLAGS)
sim_forecast_trace_LDADD = libsim.la libpolicy.la libcommon.la -lm
EXTRA_DIST += bench/forecast bench/record-load.pl bench/traces
