# Tests of libclient/: ranks as threads, see world.h, and a balancer out of its mind, see mind.h.
check_LTLIBRARIES += libworld.la
libworld_la_SOURCES = tests/unit/libclient/crew.c tests/unit/libclient/crew.h tests/unit/libclient/fault.c tests/unit/libclient/fault.h \
	tests/unit/libclient/flow_job.c tests/unit/libclient/flow_job.h \
	tests/unit/libclient/job.c tests/unit/libclient/job.h tests/unit/libclient/lists.c tests/unit/libclient/lists.h \
	tests/unit/libclient/mind.c tests/unit/libclient/mind.h tests/unit/libclient/wired.c tests/unit/libclient/wired.h \
	tests/unit/libclient/stepped_job.c tests/unit/libclient/stepped_job.h \
	tests/unit/libclient/world.c tests/unit/libclient/world.h tests/unit/libclient/world_impl.h \
	tests/unit/libclient/world_exchange.c tests/unit/libclient/world_transfer.c
libworld_la_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)

check_PROGRAMS += tests/unit/libclient/test_coverage
tests_unit_libclient_test_coverage_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_coverage_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
tests_unit_libclient_test_coverage_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_PROGRAMS += tests/unit/libclient/test_link
tests_unit_libclient_test_link_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_link_LDADD = libclient.la $(CHECK_LIBS) -lpthread

check_PROGRAMS += tests/unit/libclient/test_loop
tests_unit_libclient_test_loop_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_loop_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
tests_unit_libclient_test_loop_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_PROGRAMS += tests/unit/libclient/test_stepped
tests_unit_libclient_test_stepped_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_stepped_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
tests_unit_libclient_test_stepped_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_PROGRAMS += tests/unit/libclient/test_flow
tests_unit_libclient_test_flow_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_flow_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
tests_unit_libclient_test_flow_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_PROGRAMS += tests/unit/libclient/test_joint
tests_unit_libclient_test_joint_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_joint_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
tests_unit_libclient_test_joint_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_PROGRAMS += tests/unit/libclient/test_packed
tests_unit_libclient_test_packed_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_packed_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
tests_unit_libclient_test_packed_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_SCRIPTS += tests/unit/libclient/man.sh
EXTRA_DIST += tests/unit/libclient/man.sh

check_SCRIPTS += tests/unit/libclient/tcp.sh
EXTRA_DIST += tests/unit/libclient/tcp.sh

check_SCRIPTS += tests/unit/libclient/own.sh tests/unit/libclient/joints.sh
EXTRA_DIST += tests/unit/libclient/own.sh tests/unit/libclient/joints.sh

check_PROGRAMS += tests/unit/libclient/test_memory
tests_unit_libclient_test_memory_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_memory_LDADD = libclient.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/libclient/test_quota
tests_unit_libclient_test_quota_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_quota_LDADD = libclient.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/libclient/test_due
tests_unit_libclient_test_due_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_due_LDADD = libclient.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/libclient/test_mesh
tests_unit_libclient_test_mesh_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(SODIUM_CFLAGS)
tests_unit_libclient_test_mesh_LDADD = libclient.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/libclient/test_abandon
tests_unit_libclient_test_abandon_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_abandon_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
tests_unit_libclient_test_abandon_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_PROGRAMS += tests/unit/libclient/test_given_up
tests_unit_libclient_test_given_up_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_given_up_LDADD = libclient.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/libclient/test_vote
tests_unit_libclient_test_vote_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_vote_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
tests_unit_libclient_test_vote_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_PROGRAMS += tests/unit/libclient/test_leave
tests_unit_libclient_test_leave_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_leave_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
tests_unit_libclient_test_leave_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_PROGRAMS += tests/unit/libclient/test_huge
tests_unit_libclient_test_huge_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_huge_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
tests_unit_libclient_test_huge_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_PROGRAMS += tests/unit/libclient/test_lost
tests_unit_libclient_test_lost_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_lost_LDADD = libworld.la libclient.la $(CHECK_LIBS) -lpthread
check_PROGRAMS += tests/unit/libclient/test_bounds
tests_unit_libclient_test_bounds_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_libclient_test_bounds_LDADD = libclient.la $(CHECK_LIBS) -lpthread

# the same without the vote before the bounds are brought together: it must fail
check_PROGRAMS += tests/unit/libclient/planted_bounds
XFAIL_TESTS += tests/unit/libclient/planted_bounds
tests_unit_libclient_planted_bounds_SOURCES = tests/unit/libclient/test_bounds.c libclient/bounds.c tests/unit/libclient/planted_bounds.h
tests_unit_libclient_planted_bounds_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) -include $(top_srcdir)/tests/unit/libclient/planted_bounds.h
tests_unit_libclient_planted_bounds_LDADD = libclient.la $(CHECK_LIBS) -lpthread
