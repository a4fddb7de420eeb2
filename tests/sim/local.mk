# Tests in virtual time, with numeric limits.
check_PROGRAMS += tests/sim/test_cases
tests_sim_test_cases_SOURCES = tests/sim/test_cases.c tests/sim/cases.c tests/sim/cases.h
tests_sim_test_cases_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_cases_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
