# sim/: virtual time round the very same policy/.
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = \
	sim/host.c sim/host.h \
	sim/rank.c sim/rank.h \
	sim/step.c sim/step.h \
	sim/world.c sim/world.h
libsim_la_CFLAGS = $(LB_CFLAGS)
libsim_la_LIBADD = libpolicy.la
