# policy/: every decision, pure; common/ values only.
noinst_LTLIBRARIES += libpolicy.la
libpolicy_la_SOURCES = \
	policy/act.c policy/balance_impl.h \
	policy/adjacent.c policy/adjacent.h policy/adjacent_halo.c policy/adjacent_halo.h \
	policy/alert.c policy/alert.h \
	policy/alike.c policy/alike.h \
	policy/apportion.c policy/apportion.h \
	policy/auto.c policy/auto.h policy/auto_end.c policy/auto_pace.c \
	policy/balance.c policy/balance.h policy/decision.h \
	policy/caps.c policy/caps.h \
	policy/efficiency.c policy/efficiency.h \
	policy/filter.c policy/filter.h \
	policy/firsts.c policy/firsts.h \
	policy/forecast.c policy/forecast.h policy/forecast_analogue.c policy/forecast_analogue.h \
	policy/forecast_mix.c policy/forecast_mix.h policy/forecast_predict.c policy/forecast_predict.h \
	policy/grain.c policy/grain.h \
	policy/horizon.c policy/horizon.h \
	policy/index.c policy/index.h \
	policy/layout_cost.h \
	policy/legs.c policy/legs.h \
	policy/least_time.c policy/least_time.h \
	policy/liu.c \
	policy/model.c policy/model.h policy/plus.h \
	policy/nearest.c policy/nearest.h \
	policy/nodeweight.c policy/nodeweight.h \
	policy/pair_cost.c policy/pair_cost.h \
	policy/pairwise.c policy/pairwise.h \
	policy/period.c policy/period.h \
	policy/plan.c policy/plan.h \
	policy/profile.c policy/profile.h policy/profile_cost.c policy/profile_impl.h \
	policy/profit.c policy/profit.h \
	policy/registry.c policy/registry.h \
	policy/stepped.c policy/stepped.h policy/stepped_account.c policy/stepped_amend.c policy/stepped_regret.c policy/stepped_stake.c policy/stepped_decide.c policy/stepped_speeds.c policy/stepped_tell.c policy/stepped_seen.c policy/stepped_impl.h \
	policy/strip.c policy/strip.h \
	policy/threshold.c policy/threshold.h \
	policy/value.c policy/value.h \
	policy/view.c policy/view.h \
	policy/votes.c policy/votes.h
libpolicy_la_CFLAGS = $(LB_CFLAGS)
libpolicy_la_LIBADD = -lm
