# Tests in virtual time, with numeric limits.
check_PROGRAMS += tests/sim/test_cases
tests_sim_test_cases_SOURCES = tests/sim/test_cases.c tests/sim/cases.c tests/sim/cases.h
tests_sim_test_cases_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_cases_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
check_PROGRAMS += tests/sim/test_random
tests_sim_test_random_SOURCES = tests/sim/test_random.c tests/sim/cases.c tests/sim/cases.h
tests_sim_test_random_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_random_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
check_PROGRAMS += tests/sim/test_step
tests_sim_test_step_SOURCES = tests/sim/test_step.c
tests_sim_test_step_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_step_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
check_SCRIPTS += tests/sim/test_lbsim.sh tests/sim/test_forecast.sh
EXTRA_DIST += tests/sim/test_lbsim.sh tests/sim/test_forecast.sh
