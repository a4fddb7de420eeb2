# lbd: the daemon, and lbctl.  Its parts are one library, which the tests link too.
noinst_LTLIBRARIES += liblbd.la
liblbd_la_SOURCES = \
	lbd/conf.c lbd/conf.h \
	lbd/conn.c lbd/conn.h \
	lbd/daemon.c lbd/daemon.h \
	lbd/guard.c lbd/guard.h \
	lbd/jitter.c lbd/jitter.h \
	lbd/listener.c lbd/listener.h \
	lbd/local_server.c lbd/local_server.h \
	lbd/notify.c lbd/notify.h \
	lbd/options.c lbd/options.h \
	lbd/ranking.c lbd/ranking.h \
	lbd/node/bench.c lbd/node/bench.h \
	lbd/node/cgroup.c lbd/node/cgroup.h \
	lbd/node/kernel.c lbd/node/kernel.h \
	lbd/node/load.c lbd/node/load.h \
	lbd/node/node.c lbd/node/node.h \
	lbd/node/procs.c lbd/node/procs.h \
	lbd/node/runner.c lbd/node/runner.h \
	lbd/node/steps.c lbd/node/steps.h
liblbd_la_CPPFLAGS = $(AM_CPPFLAGS) -DLB_STATEDIR='"$(localstatedir)/lib/slurm-lb"'
liblbd_la_CFLAGS = $(LB_CFLAGS) $(UV_CFLAGS) $(MSGPACK_CFLAGS)
liblbd_la_LIBADD = libpolicyconf.la libwire.la libpolicy.la libcommon.la $(UV_LIBS) -lm

sbin_PROGRAMS += sbin/lbd
sbin_lbd_SOURCES = lbd/main.c
sbin_lbd_CFLAGS = $(LB_CFLAGS)
sbin_lbd_LDADD = liblbd.la
