# Tests of lbd/.
LBD_TESTS = \
	tests/unit/lbd/test_conf
check_PROGRAMS += $(LBD_TESTS)
tests_unit_lbd_test_conf_SOURCES = tests/unit/lbd/test_conf.c
tests_unit_lbd_test_conf_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_conf_LDADD = liblbd.la $(CHECK_LIBS)
EXTRA_DIST += packaging/policy.conf
