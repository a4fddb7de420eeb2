# Tests of lbd/.
check_PROGRAMS += tests/unit/lbd/test_ask
tests_unit_lbd_test_ask_SOURCES = tests/unit/lbd/test_ask.c lbd/balancer/ask.c
tests_unit_lbd_test_ask_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(UV_CFLAGS)
tests_unit_lbd_test_ask_LDADD = libwire.la libcommon.la $(CHECK_LIBS) $(UV_LIBS)

check_PROGRAMS += tests/unit/lbd/test_backlog
tests_unit_lbd_test_backlog_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_backlog_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_bench
tests_unit_lbd_test_bench_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_bench_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_claims
tests_unit_lbd_test_claims_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_claims_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_conf
tests_unit_lbd_test_conf_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_conf_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_conn
tests_unit_lbd_test_conn_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(UV_CFLAGS)
tests_unit_lbd_test_conn_LDADD = liblbd.la $(CHECK_LIBS) $(UV_LIBS)

check_PROGRAMS += tests/unit/lbd/test_decisions
tests_unit_lbd_test_decisions_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_lbd_test_decisions_LDADD = liblbd.la $(CHECK_LIBS) $(JANSSON_LIBS)

check_PROGRAMS += tests/unit/lbd/test_explain
tests_unit_lbd_test_explain_SOURCES = tests/unit/lbd/test_explain.c \
	lbd/balancer/explain.c lbd/balancer/trace.c lbd/ctl/explain.c lbd/ctl/print.c
tests_unit_lbd_test_explain_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_lbd_test_explain_LDADD = libwire.la libcommon.la $(CHECK_LIBS) $(JANSSON_LIBS) -lm

check_PROGRAMS += tests/unit/lbd/test_guard
tests_unit_lbd_test_guard_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_guard_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_metrics
tests_unit_lbd_test_metrics_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_metrics_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_options
tests_unit_lbd_test_options_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_options_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_outlook
tests_unit_lbd_test_outlook_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_outlook_LDADD = liblbd.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/lbd/test_peer
tests_unit_lbd_test_peer_SOURCES = tests/unit/lbd/test_peer.c lbd/balancer/peer.c
tests_unit_lbd_test_peer_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(UV_CFLAGS)
tests_unit_lbd_test_peer_LDADD = libwire.la libcommon.la $(CHECK_LIBS) $(UV_LIBS)

check_PROGRAMS += tests/unit/lbd/test_ranking
tests_unit_lbd_test_ranking_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_ranking_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_store
tests_unit_lbd_test_store_SOURCES = tests/unit/lbd/test_store.c tests/unit/lbd/store.h
tests_unit_lbd_test_store_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS) $(UV_CFLAGS)
tests_unit_lbd_test_store_LDADD = liblbd.la $(CHECK_LIBS) $(SQLITE_LIBS)

check_PROGRAMS += tests/unit/lbd/test_controller
tests_unit_lbd_test_controller_SOURCES = tests/unit/lbd/test_controller.c tests/unit/lbd/store.h
tests_unit_lbd_test_controller_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS) $(UV_CFLAGS)
tests_unit_lbd_test_controller_LDADD = liblbd.la $(CHECK_LIBS) $(SQLITE_LIBS) $(UV_LIBS)

check_PROGRAMS += tests/unit/lbd/test_keep
tests_unit_lbd_test_keep_SOURCES = tests/unit/lbd/test_keep.c tests/unit/lbd/store.h tests/unit/prop.h
tests_unit_lbd_test_keep_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS) $(UV_CFLAGS)
tests_unit_lbd_test_keep_LDADD = liblbd.la $(CHECK_LIBS) $(SQLITE_LIBS)

check_PROGRAMS += tests/unit/lbd/test_past
tests_unit_lbd_test_past_SOURCES = tests/unit/lbd/test_past.c tests/unit/lbd/store.h
tests_unit_lbd_test_past_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(SQLITE_CFLAGS) $(UV_CFLAGS)
tests_unit_lbd_test_past_LDADD = liblbd.la $(CHECK_LIBS) $(SQLITE_LIBS)

check_PROGRAMS += tests/unit/lbd/test_load
tests_unit_lbd_test_load_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_load_LDADD = liblbd.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/unit/lbd/test_saved
tests_unit_lbd_test_saved_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_saved_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_steps
tests_unit_lbd_test_steps_SOURCES = tests/unit/lbd/test_steps.c lbd/balancer/steps.c lbd/balancer/trace.c \
    lbd/balancer/loops.c lbd/balancer/sums.c lbd/balancer/explain.c
tests_unit_lbd_test_steps_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_lbd_test_steps_LDADD = libpolicy.la libwire.la libcommon.la $(CHECK_LIBS) $(JANSSON_LIBS)

check_PROGRAMS += tests/unit/lbd/test_summary
tests_unit_lbd_test_summary_SOURCES = tests/unit/lbd/test_summary.c lbd/balancer/summary.c lbd/balancer/steps.c \
    lbd/balancer/trace.c lbd/balancer/loops.c lbd/balancer/sums.c lbd/balancer/explain.c
tests_unit_lbd_test_summary_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_lbd_test_summary_LDADD = libpolicy.la libwire.la libcommon.la $(CHECK_LIBS) $(JANSSON_LIBS)

check_PROGRAMS += tests/unit/lbd/test_sums
tests_unit_lbd_test_sums_SOURCES = tests/unit/lbd/test_sums.c lbd/balancer/sums.c
tests_unit_lbd_test_sums_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_sums_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS)

# the same without the guard of sums: it must fail
check_PROGRAMS += tests/unit/lbd/planted_sums
XFAIL_TESTS += tests/unit/lbd/planted_sums
tests_unit_lbd_planted_sums_SOURCES = tests/unit/lbd/test_sums.c lbd/balancer/sums.c tests/unit/lbd/planted_plus.h
tests_unit_lbd_planted_sums_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) -include $(top_srcdir)/tests/unit/lbd/planted_plus.h
tests_unit_lbd_planted_sums_LDADD = libpolicy.la libcommon.la $(CHECK_LIBS)

EXTRA_DIST += packaging/policy.conf

check_PROGRAMS += tests/unit/lbd/test_web
tests_unit_lbd_test_web_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_web_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_ctl
tests_unit_lbd_test_ctl_SOURCES = tests/unit/lbd/test_ctl.c \
	lbd/ctl/ask.c lbd/ctl/history.c lbd/ctl/job.c lbd/ctl/plot.c lbd/ctl/print.c lbd/ctl/slurm.c lbd/ctl/words.c
tests_unit_lbd_test_ctl_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_lbd_test_ctl_LDADD = liblbd.la $(CHECK_LIBS) $(JANSSON_LIBS) -lm

check_SCRIPTS += tests/unit/lbd/completion.sh
EXTRA_DIST += tests/unit/lbd/completion.sh

check_PROGRAMS += tests/unit/lbd/test_jobs
tests_unit_lbd_test_jobs_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(UV_CFLAGS)
tests_unit_lbd_test_jobs_LDADD = liblbd.la $(UV_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_vacant
tests_unit_lbd_test_vacant_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_vacant_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_speakers
tests_unit_lbd_test_speakers_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_lbd_test_speakers_LDADD = liblbd.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/lbd/test_stale
tests_unit_lbd_test_stale_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS) $(UV_CFLAGS)
tests_unit_lbd_test_stale_LDADD = liblbd.la $(JANSSON_LIBS) $(UV_LIBS) $(CHECK_LIBS)
