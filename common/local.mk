# common/: no domain, no Slurm, MPI or SQLite.
noinst_LTLIBRARIES += libcommon.la
libcommon_la_SOURCES = \
	common/auth.c common/auth.h \
	common/buf.c common/buf.h \
	common/cgroup.c common/cgroup.h \
	common/clock.c common/clock.h \
	common/error.c common/error.h \
	common/frame.c common/frame.h \
	common/log.c common/log.h \
	common/proc.c common/proc.h \
	common/sock.c common/sock.h \
	common/spanset.c common/spanset.h \
	common/text.c common/text.h
libcommon_la_CFLAGS = $(LB_CFLAGS) $(SODIUM_CFLAGS)
libcommon_la_LIBADD = $(SODIUM_LIBS)

# policy.conf is read by daemons and tools only: libconfuse stays out of users' programs.
noinst_LTLIBRARIES += libpolicyconf.la
libpolicyconf_la_SOURCES = \
	common/confgrammar.c common/confgrammar.h \
	common/confvalue.c common/confvalue.h \
	common/policyconf.c common/policyconf.h
libpolicyconf_la_CFLAGS = $(LB_CFLAGS) $(CONFUSE_CFLAGS)
libpolicyconf_la_LIBADD = libcommon.la $(CONFUSE_LIBS)
