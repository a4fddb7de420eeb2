# lb-balancer: one a job step, as the user.
pkglibexec_PROGRAMS += lb-balancer
lb_balancer_SOURCES = \
	lbd/balancer/ask.c lbd/balancer/ask.h \
	lbd/balancer/explain.c lbd/balancer/explain.h \
	lbd/balancer/figures.c lbd/balancer/figures.h \
	lbd/balancer/handover.c lbd/balancer/handover.h \
	lbd/balancer/job.c lbd/balancer/job.h \
	lbd/balancer/loops.c lbd/balancer/loops.h lbd/balancer/loops_config.h lbd/balancer/loops_state.h lbd/balancer/loops_stats.h \
	lbd/balancer/main.c \
	lbd/balancer/peer.c lbd/balancer/peer.h \
	lbd/balancer/steps.c lbd/balancer/steps.h \
	lbd/balancer/summary.c lbd/balancer/summary.h \
	lbd/balancer/sums.c lbd/balancer/sums.h \
	lbd/balancer/tell.c lbd/balancer/tell.h \
	lbd/balancer/trace.c lbd/balancer/trace.h
lb_balancer_CFLAGS = $(LB_CFLAGS) $(UV_CFLAGS) $(SODIUM_CFLAGS) $(MSGPACK_CFLAGS) $(JANSSON_CFLAGS)
lb_balancer_LDADD = libpolicy.la libwire.la libcommon.la $(UV_LIBS) $(SODIUM_LIBS) $(JANSSON_LIBS)
