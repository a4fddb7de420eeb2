# Our programs as processes, spoken to over their real sockets.
check_PROGRAMS += tests/process/test_balancer
tests_process_test_balancer_SOURCES = tests/process/test_balancer.c tests/process/fake_rank.c tests/process/fake_rank.h
tests_process_test_balancer_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(SODIUM_CFLAGS)
tests_process_test_balancer_LDADD = libwire.la libcommon.la $(CHECK_LIBS)
EXTRA_tests_process_test_balancer_DEPENDENCIES = lb-balancer$(EXEEXT)
check_SCRIPTS += tests/process/planted.sh
EXTRA_DIST += tests/process/planted.sh
