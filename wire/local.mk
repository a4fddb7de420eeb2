# wire/: every message that crosses a process boundary.
noinst_LTLIBRARIES += libwire.la
libwire_la_SOURCES = \
	wire/addresses.c wire/addresses.h \
	wire/claims.c wire/claims.h \
	wire/endpoint.c wire/endpoint.h \
	wire/flat.c wire/flat.h \
	wire/hosts.c wire/hosts.h \
	wire/idle.c wire/idle.h \
	wire/job.c wire/job.h \
	wire/local.c wire/local.h \
	wire/node.c wire/node.h \
	wire/placement.c wire/placement.h \
	wire/rank.c wire/rank.h
libwire_la_CFLAGS = $(LB_CFLAGS) $(MSGPACK_CFLAGS)
libwire_la_LIBADD = $(MSGPACK_LIBS)
