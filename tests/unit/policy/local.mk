# Tests of policy/.
check_PROGRAMS += tests/unit/policy/test_registry
tests_unit_policy_test_registry_SOURCES = tests/unit/policy/test_registry.c
tests_unit_policy_test_registry_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_registry_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_index
tests_unit_policy_test_index_SOURCES = tests/unit/policy/test_index.c
tests_unit_policy_test_index_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_index_LDADD = libpolicy.la $(CHECK_LIBS)
