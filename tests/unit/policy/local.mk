# Tests of policy/.
check_PROGRAMS += tests/unit/policy/test_registry
tests_unit_policy_test_registry_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_registry_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_forecast
tests_unit_policy_test_forecast_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_forecast_LDADD = libpolicy.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_index
tests_unit_policy_test_index_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_index_LDADD = libpolicy.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/policy/test_profile
tests_unit_policy_test_profile_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_profile_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_filter
tests_unit_policy_test_filter_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_filter_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_horizon
tests_unit_policy_test_horizon_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_horizon_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_plan
tests_unit_policy_test_plan_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_plan_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_balance
tests_unit_policy_test_balance_SOURCES = tests/unit/policy/test_balance.c tests/unit/policy/talk.h
tests_unit_policy_test_balance_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_balance_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_balance_harm
tests_unit_policy_test_balance_harm_SOURCES = tests/unit/policy/test_balance_harm.c tests/unit/policy/talk.h
tests_unit_policy_test_balance_harm_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_balance_harm_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_votes
tests_unit_policy_test_votes_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_votes_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_legs
tests_unit_policy_test_legs_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_legs_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_strip
tests_unit_policy_test_strip_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_strip_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_grain
tests_unit_policy_test_grain_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_grain_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_adjacent
tests_unit_policy_test_adjacent_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_adjacent_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_efficiency
tests_unit_policy_test_efficiency_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_efficiency_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_stepped
tests_unit_policy_test_stepped_SOURCES = tests/unit/policy/test_stepped.c tests/unit/policy/halves.h
tests_unit_policy_test_stepped_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_stepped_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_stepped_way
tests_unit_policy_test_stepped_way_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_stepped_way_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_stepped_unmeasured
tests_unit_policy_test_stepped_unmeasured_SOURCES = tests/unit/policy/test_stepped_unmeasured.c tests/unit/policy/halves.h
tests_unit_policy_test_stepped_unmeasured_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_stepped_unmeasured_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_stepped_amend
tests_unit_policy_test_stepped_amend_SOURCES = tests/unit/policy/test_stepped_amend.c tests/unit/policy/halves.h
tests_unit_policy_test_stepped_amend_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_stepped_amend_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_stepped_account
tests_unit_policy_test_stepped_account_SOURCES = tests/unit/policy/test_stepped_account.c tests/unit/policy/halves.h
tests_unit_policy_test_stepped_account_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_stepped_account_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_nodeweight
tests_unit_policy_test_nodeweight_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_nodeweight_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_sync
tests_unit_policy_test_sync_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_sync_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_profit
tests_unit_policy_test_profit_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_profit_LDADD = libpolicy.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_caps
tests_unit_policy_test_caps_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_caps_LDADD = libpolicy.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_alike
tests_unit_policy_test_alike_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_alike_LDADD = libpolicy.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_alert
tests_unit_policy_test_alert_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_alert_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_extremes
tests_unit_policy_test_extremes_SOURCES = tests/unit/policy/test_extremes.c tests/unit/policy/halves.h
tests_unit_policy_test_extremes_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_extremes_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/policy/test_pair_cost
tests_unit_policy_test_pair_cost_SOURCES = tests/unit/policy/test_pair_cost.c tests/unit/policy/talk.h
tests_unit_policy_test_pair_cost_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_policy_test_pair_cost_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS) -lm
