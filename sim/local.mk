# sim/: virtual time round the very same policy/.
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = \
	sim/efficiency.c sim/efficiency.h \
	sim/event.c sim/event.h \
	sim/host.c sim/host.h \
	sim/groups.c sim/groups.h \
	sim/load.c sim/load.h \
	sim/rank.c sim/rank.h \
	sim/server.c sim/server.h \
	sim/setup.h \
	sim/step.c sim/step.h sim/step_impl.h \
	sim/step_ranks.c \
	sim/world.c sim/world.h
libsim_la_CFLAGS = $(LB_CFLAGS)
libsim_la_LIBADD = libpolicy.la

bin_PROGRAMS += lbsim
lbsim_SOURCES = sim/main.c sim/options.c sim/options.h sim/quoted.c sim/quoted.h sim/replay.c sim/replay.h sim/trace.c sim/trace.h
lbsim_CFLAGS = $(LB_CFLAGS) $(JANSSON_CFLAGS)
lbsim_LDADD = libsim.la libpolicy.la libcommon.la $(JANSSON_LIBS) -lm
dist_man_MANS += docs/man/lbsim.1
EXTRA_DIST += docs/internals/balancing.md

noinst_PROGRAMS += sim/plantime
sim_plantime_SOURCES = sim/plantime.c
sim_plantime_CFLAGS = $(LB_CFLAGS)
sim_plantime_LDADD = libpolicy.la libcommon.la -lm
