# Failing allocations: tests/fault/fault.h says how another room's test uses them.
check_LTLIBRARIES += libfault.la
libfault_la_SOURCES = tests/fault/fault.c tests/fault/fault.h
libfault_la_CFLAGS = $(LB_CFLAGS)
FAULT_WRAP = -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=aligned_alloc \
	-Wl,--wrap=strdup -Wl,--wrap=strndup -Wl,--wrap=free

check_PROGRAMS += tests/fault/test_common
tests_fault_test_common_SOURCES = tests/fault/test_common.c
tests_fault_test_common_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_fault_test_common_LDADD = libfault.la libpolicyconf.la libcommon.la $(CHECK_LIBS)
tests_fault_test_common_LDFLAGS = $(LB_LDFLAGS) $(FAULT_WRAP)

check_SCRIPTS += tests/fault/planted.sh
EXTRA_DIST += tests/fault/planted.sh

# The real lb-balancer with faults, for tests/fault/*.t.
noinst_PROGRAMS += tests/fault/lb-balancer
tests_fault_lb_balancer_SOURCES = $(lb_balancer_SOURCES) tests/fault/plan.c tests/fault/planned.c tests/fault/planned.h \
	tests/fault/relay.c
tests_fault_lb_balancer_CFLAGS = $(lb_balancer_CFLAGS) -pthread
tests_fault_lb_balancer_LDADD = $(lb_balancer_LDADD)
tests_fault_lb_balancer_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=lbd_peer_send -Wl,--wrap=lbd_peer_close \
	-Wl,--wrap=lbx_sock_flush -Wl,--wrap=lbd_loops_message -Wl,--wrap=lbx_frame_append -Wl,--wrap=lbx_frame_next \
	-Wl,--wrap=lbx_sock_listen_tcp -Wl,--wrap=sodium_memcmp
EXTRA_DIST += tests/fault/10-orders.t tests/fault/11-death.t tests/fault/lib.sh
noinst_PROGRAMS += tests/fault/early
tests_fault_early_SOURCES = tests/fault/early.c
tests_fault_early_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)
tests_fault_early_LDADD = liblb.la $(MPI_LIBS)

noinst_PROGRAMS += tests/fault/flying
tests_fault_flying_SOURCES = tests/fault/flying.c
tests_fault_flying_CFLAGS = $(LB_CFLAGS)
tests_fault_flying_LDADD = liblb.la

EXTRA_DIST += tests/fault/12-steps.t tests/fault/13-pauses.t tests/fault/14-wire.t tests/fault/20-ranks.t tests/fault/30-links.t
EXTRA_DIST += tests/fault/15-relay.t
