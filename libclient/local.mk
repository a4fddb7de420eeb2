# libclient/: lb.h, liblb (PMIx, no MPI) and liblb_mpi (moves rows by MPI).
include_HEADERS += libclient/lb.h
dist_man_MANS += docs/man/lb.3

# man lb_loop_next and so on: a page of each function that shows lb(3).  tests/unit/libclient/man.sh holds the list to lb.h.
LB_PAGES = libclient/man/lb_init.3 libclient/man/lb_init_comm.3 libclient/man/lb_init_fcomm.3 \
	libclient/man/lb_finalize.3 libclient/man/lb_error.3 libclient/man/lb_rank.3 libclient/man/lb_size.3 libclient/man/lb_balanced.3 \
	libclient/man/lb_version.3 libclient/man/lb_loop_open.3 libclient/man/lb_loop_array.3 \
	libclient/man/lb_loop_pack.3 libclient/man/lb_loop_next.3 libclient/man/lb_loop_owned.3 \
	libclient/man/lb_loop_collect.3 libclient/man/lb_loop_stepped.3 libclient/man/lb_loop_exchange.3 \
	libclient/man/lb_loop_owner.3 libclient/man/lb_loop_doacross.3 libclient/man/lb_loop_flow.3 libclient/man/lb_loop_joints.3 \
	libclient/man/lb_loop_next_block.3 libclient/man/lb_loop_block.3 libclient/man/lb_loop_neighbour.3 \
	libclient/man/lb_loop_close.3 libclient/man/lb_loop_stats.3 libclient/man/lb_array_alloc.3 \
	libclient/man/lb_array_free.3
nodist_man_MANS += $(LB_PAGES)
CLEANFILES += $(LB_PAGES)
$(LB_PAGES):
	@$(MKDIR_P) libclient/man
	$(AM_V_GEN)echo '.so man3/lb.3' >$@

EXTRA_DIST += libclient/lb.map libclient/mpi/lb_mpi.map
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = libclient/lb.pc

# Everything but the file that names PMIx and the one that looks for MPI: what the tests link too.
noinst_LTLIBRARIES += libclient.la
libclient_la_SOURCES = \
	libclient/lb.h \
	libclient/agree.c \
	libclient/apart.c libclient/apart.h \
	libclient/array.c libclient/array.h \
	libclient/bounds.c libclient/bounds.h \
	libclient/carry.c libclient/carry.h \
	libclient/close.c \
	libclient/collect.c \
	libclient/connect.c libclient/connect.h \
	libclient/ctx.c libclient/ctx.h \
	libclient/exchange.c libclient/exchange.h \
	libclient/finalize.c \
	libclient/flow.c libclient/flow.h \
	libclient/incoming.c libclient/incoming.h \
	libclient/init.c \
	libclient/joint.c libclient/joint.h \
	libclient/lanes.c libclient/lanes.h \
	libclient/kind.c \
	libclient/launch.c libclient/launch.h \
	libclient/layout.c libclient/layout.h \
	libclient/leave.c libclient/leave.h \
	libclient/leg.c libclient/leg.h \
	libclient/link.c libclient/link.h \
	libclient/loop.c libclient/loop.h \
	libclient/meet.c libclient/meet.h \
	libclient/memory.c libclient/memory.h \
	libclient/message.c libclient/message.h \
	libclient/mpi_find.c libclient/mpi_find.h \
	libclient/give.c libclient/give.h libclient/outgoing.c libclient/outgoing.h \
	libclient/packed.c libclient/packed.h \
	libclient/pass.c libclient/pass.h \
	libclient/pmix.c libclient/pmix.h \
	libclient/quota.c libclient/quota.h \
	libclient/report.c libclient/report.h \
	libclient/size.c libclient/size.h \
	libclient/step.c libclient/step.h \
	libclient/sync.c libclient/sync.h \
	libclient/tcp/conn.c libclient/tcp/conn.h \
	libclient/tcp/cursor.c libclient/tcp/frames.c \
	libclient/tcp/group.c \
	libclient/tcp/mesh.c libclient/tcp/mesh.h \
	libclient/tcp/parts.c \
	libclient/tcp/transport_tcp.c libclient/tcp/tcp.h \
	libclient/transfer.c libclient/transfer.h \
	libclient/transport.h \
	libclient/vote.c libclient/vote.h \
	libclient/wait.c libclient/wait.h
libclient_la_CFLAGS = $(LB_CFLAGS) $(PMIX_CFLAGS)
libclient_la_LIBADD = libpolicy.la libwire.la libcommon.la $(PMIX_LIBS) -ldl -lm

lib_LTLIBRARIES += liblb.la liblb_mpi.la
liblb_la_SOURCES =
liblb_la_LIBADD = libclient.la
liblb_la_LDFLAGS = $(LB_LDFLAGS) -version-info $(LB_LT_VERSION) -no-undefined \
	-Wl,--version-script=$(top_srcdir)/libclient/lb.map
liblb_la_DEPENDENCIES = libclient.la libclient/lb.map

liblb_mpi_la_SOURCES = libclient/mpi/transport_mpi.c
liblb_mpi_la_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)
liblb_mpi_la_LIBADD = $(MPI_LIBS)
liblb_mpi_la_LDFLAGS = $(LB_LDFLAGS) -version-info $(LB_LT_VERSION) \
	-Wl,--version-script=$(top_srcdir)/libclient/mpi/lb_mpi.map

# The Fortran module is installed as its source: compiled ones belong to one compiler.
dist_pkgdata_DATA = libclient/fortran/slurm_lb.f90
