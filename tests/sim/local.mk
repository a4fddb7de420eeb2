# Tests in virtual time, with numeric limits.
check_PROGRAMS += tests/sim/test_stake
tests_sim_test_stake_SOURCES = tests/sim/test_stake.c tests/sim/step_cases.c tests/sim/step_cases.h tests/sim/praise.c tests/sim/praise.h
tests_sim_test_stake_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_stake_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
check_PROGRAMS += tests/sim/test_cases
tests_sim_test_cases_SOURCES = tests/sim/test_cases.c tests/sim/cases.c tests/sim/cases.h
tests_sim_test_cases_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_cases_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
check_PROGRAMS += tests/sim/test_random
tests_sim_test_random_SOURCES = tests/sim/test_random.c tests/sim/cases.c tests/sim/cases.h tests/sim/moved.c tests/sim/moved.h
tests_sim_test_random_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_random_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=lbp_balance_report -Wl,--wrap=lbp_balance_tick
tests_sim_test_random_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
check_PROGRAMS += tests/sim/test_step
tests_sim_test_step_SOURCES = tests/sim/test_step.c tests/sim/step_cases.c tests/sim/step_cases.h
tests_sim_test_step_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_step_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
check_PROGRAMS += tests/sim/test_swings
tests_sim_test_swings_SOURCES = tests/sim/test_swings.c tests/sim/swing.h tests/sim/praise.c tests/sim/praise.h
tests_sim_test_swings_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_swings_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/sim/test_joints
tests_sim_test_joints_SOURCES = tests/sim/test_joints.c tests/sim/swing.h
tests_sim_test_joints_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_joints_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
check_PROGRAMS += tests/sim/test_saved
tests_sim_test_saved_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_saved_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
check_SCRIPTS += tests/sim/planted.sh tests/sim/test_lbsim.sh tests/sim/test_balancer_time.sh tests/sim/test_forecast.sh tests/sim/test_ablation.sh
EXTRA_DIST += tests/sim/test_lbsim.sh tests/sim/test_balancer_time.sh tests/sim/test_forecast.sh tests/sim/test_ablation.sh tests/sim/planted.sh
check_PROGRAMS += tests/sim/test_reaction
tests_sim_test_reaction_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_sim_test_reaction_LDADD = libsim.la libpolicy.la libcommon.la $(CHECK_LIBS) -lm
# lbsim with a mechanism switched off, for ablations (bench/ablation).
noinst_PROGRAMS += tests/sim/lbsim-without
tests_sim_lbsim_without_SOURCES = $(lbsim_SOURCES) tests/sim/without.c
tests_sim_lbsim_without_CFLAGS = $(LB_CFLAGS) $(JANSSON_CFLAGS)
tests_sim_lbsim_without_LDFLAGS = $(LB_LDFLAGS) -Wl,--wrap=lbp_adjacent_bounds -Wl,--wrap=lbp_profile_init -Wl,--wrap=lbp_pair_cost_init
tests_sim_lbsim_without_LDADD = libsim.la libpolicy.la libcommon.la $(JANSSON_LIBS) -lm
