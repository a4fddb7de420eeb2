# common/: no domain, no Slurm, MPI or SQLite.
noinst_LTLIBRARIES += libcommon.la
libcommon_la_SOURCES = \
	common/auth.c common/auth.h \
	common/buf.c common/buf.h \
	common/clock.c common/clock.h \
	common/error.c common/error.h \
	common/frame.c common/frame.h \
	common/log.c common/log.h \
	common/sock.c common/sock.h \
	common/spanset.c common/spanset.h
libcommon_la_CFLAGS = $(LB_CFLAGS) $(SODIUM_CFLAGS)
libcommon_la_LIBADD = $(SODIUM_LIBS)
