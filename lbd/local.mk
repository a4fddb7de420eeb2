# lbd: the daemon, and lbctl.  Its parts are one library, which the tests link too.
noinst_LTLIBRARIES += liblbd.la
liblbd_la_SOURCES = \
	lbd/capture.c lbd/capture.h \
	lbd/claims.c lbd/claims.h \
	lbd/commands.c lbd/commands.h \
	lbd/conf.c lbd/conf.h \
	lbd/conn.c lbd/conn.h \
	lbd/daemon.c lbd/daemon.h lbd/daemon_answers.c lbd/daemon_impl.h \
	lbd/jobfigures.c lbd/jobfigures.h \
	lbd/decisions.c lbd/decisions.h lbd/reload.c lbd/reload.h lbd/stepfiles.c lbd/stepfiles.h \
	lbd/expose.c lbd/expose.h \
	lbd/guard.c lbd/guard.h \
	lbd/jitter.c lbd/jitter.h \
	lbd/jobs.c lbd/jobs.h lbd/jobs_impl.h lbd/jobs_show.c \
	lbd/listener.c lbd/listener.h \
	lbd/local_answer.c lbd/local_idle.c lbd/local_server.c lbd/local_server.h lbd/local_server_impl.h \
	lbd/notify.c lbd/notify.h \
	lbd/options.c lbd/options.h \
	lbd/present.c lbd/present.h \
	lbd/past.c lbd/past.h \
	lbd/retention.c lbd/retention.h \
	lbd/ranking.c lbd/ranking.h \
	lbd/rules.c lbd/rules.h \
	lbd/speakers.c lbd/speakers.h \
	lbd/spread.c lbd/spread.h \
	lbd/steer.c lbd/steer.h \
	lbd/serve.c lbd/serve.h \
	lbd/targets.c lbd/targets.h \
	lbd/vacant.c lbd/vacant.h \
	lbd/view.h \
	lbd/munge.c lbd/munge.h \
	lbd/controller/ask.c \
	lbd/controller/controller.c lbd/controller/controller.h \
	lbd/controller/finished.c lbd/controller/finished.h \
	lbd/controller/db.c lbd/controller/db.h lbd/controller/db_impl.h \
	lbd/controller/db_copy.c lbd/controller/db_keep.c lbd/controller/db_read.c lbd/controller/db_rows.c lbd/controller/db_sql.c \
	lbd/controller/hosts.c lbd/controller/hosts.h \
	lbd/controller/keep.c lbd/controller/keep.h \
	lbd/controller/migrations.h \
	lbd/controller/outlook.c lbd/controller/outlook.h \
	lbd/controller/recall.c lbd/controller/recall.h \
	lbd/controller/prove.c lbd/controller/prove.h \
	lbd/controller/queue.c \
	lbd/controller/rank.c lbd/controller/rank.h \
	lbd/controller/record.c lbd/controller/record.h \
	lbd/controller/rollup.c lbd/controller/rollup.h \
	lbd/controller/running.c lbd/controller/running.h \
	lbd/controller/session_ready.c lbd/controller/sessions_impl.h \
	lbd/controller/sessions.c lbd/controller/sessions.h \
	lbd/controller/slurmnodes.c lbd/controller/slurmnodes.h \
	lbd/controller/store.c lbd/controller/store.h lbd/controller/store_impl.h \
	lbd/helper.c lbd/helper.h \
	lbd/controller/weighted.c lbd/controller/weighted.h \
	lbd/controller/weights.c lbd/controller/weights.h \
	lbd/controller/writer.c \
	lbd/metrics/deadline.c lbd/metrics/deadline.h \
	lbd/metrics/http.c lbd/metrics/http.h lbd/metrics/http_answer.c lbd/metrics/http_impl.h \
	lbd/metrics/http_loop.c lbd/metrics/http_loop.h \
	lbd/metrics/metrics.c lbd/metrics/metrics.h \
	lbd/metrics/users.c lbd/metrics/users.h \
	lbd/metrics/webconf.c lbd/metrics/webconf.h \
	lbd/node/backlog.c lbd/node/backlog.h \
	lbd/node/bench.c lbd/node/bench.h \
	lbd/node/health.c lbd/node/health.h \
	lbd/node/idle.c lbd/node/idle.h \
	lbd/node/quantum.c lbd/node/quantum.h \
	lbd/node/topology.c lbd/node/topology.h \
	lbd/node/worker.c lbd/node/worker.h \
	lbd/node/busy.c lbd/node/busy.h \
	lbd/node/dial.c lbd/node/dial.h \
	lbd/node/foreseen.c lbd/node/foreseen.h \
	lbd/node/kernel.c lbd/node/kernel.h \
	lbd/node/load.c lbd/node/load.h \
	lbd/node/node.c lbd/node/node.h lbd/node/node_impl.h lbd/node/node_report.c \
	lbd/node/procs.c lbd/node/procs.h \
	lbd/node/runner.c lbd/node/runner.h \
	lbd/node/saved.c lbd/node/saved.h \
	lbd/node/steps.c lbd/node/steps.h \
	lbd/node/uplink.c lbd/node/uplink.h
nodist_liblbd_la_SOURCES = lbd/controller/migrations.c lbd/metrics/catalogue.c lbd/metrics/catalogue.h
liblbd_la_CPPFLAGS = $(AM_CPPFLAGS) -DLB_STATEDIR='"$(localstatedir)/lib/slurm-lb"' -DLB_REVISION='"$(LB_REVISION)"'
liblbd_la_CFLAGS = $(LB_CFLAGS) $(UV_CFLAGS) $(SQLITE_CFLAGS) $(MHD_CFLAGS) $(WEB_CFLAGS) $(MUNGE_CFLAGS) $(SODIUM_CFLAGS) $(JANSSON_CFLAGS) $(HWLOC_CFLAGS)
liblbd_la_LIBADD = libpolicyconf.la libwire.la libpolicy.la libcommon.la $(UV_LIBS) $(SQLITE_LIBS) $(MHD_LIBS) $(WEB_LIBS) -lcrypt $(MUNGE_LIBS) $(SODIUM_LIBS) $(JANSSON_LIBS) $(HWLOC_LIBS) -lpthread -lm

sbin_PROGRAMS += sbin/lbd
sbin_lbd_SOURCES = lbd/main.c
sbin_lbd_CFLAGS = $(LB_CFLAGS)
sbin_lbd_LDADD = liblbd.la

# The tables and the catalogue of metrics are built in.
MIGRATIONS = schema/001-hosts.sql schema/002-history.sql schema/003-jobs.sql schema/004-benchmarks.sql schema/005-views.sql
EXTRA_DIST += $(MIGRATIONS) schema/draw schema/embed.pl schema/metrics.pl schema/metrics.json
lbd/controller/migrations.c: $(MIGRATIONS) schema/embed.pl
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(PERL) $(srcdir)/schema/embed.pl $(MIGRATIONS:%=$(srcdir)/%) >$@.tmp && mv $@.tmp $@
lbd/metrics/catalogue.h: schema/metrics.json schema/metrics.pl
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(PERL) $(srcdir)/schema/metrics.pl header $(srcdir)/schema/metrics.json >$@.tmp && mv $@.tmp $@
lbd/metrics/catalogue.c: schema/metrics.json schema/metrics.pl
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(PERL) $(srcdir)/schema/metrics.pl table $(srcdir)/schema/metrics.json >$@.tmp && mv $@.tmp $@
BUILT_SOURCES += lbd/metrics/catalogue.h
$(liblbd_la_OBJECTS): lbd/metrics/catalogue.h
CLEANFILES += lbd/controller/migrations.c lbd/metrics/catalogue.h lbd/metrics/catalogue.c

bin_PROGRAMS += bin/lbctl
bin_lbctl_SOURCES = lbd/ctl/lbctl.c lbd/ctl/words.c lbd/ctl/words.h \
	lbd/ctl/ask.c lbd/ctl/ask.h \
	lbd/ctl/explain.c lbd/ctl/explain.h \
	lbd/ctl/history.c lbd/ctl/history.h \
	lbd/ctl/job.c lbd/ctl/job.h \
	lbd/ctl/plot.c lbd/ctl/plot.h \
	lbd/ctl/print.c lbd/ctl/print.h \
	lbd/ctl/show.c lbd/ctl/show.h \
	lbd/ctl/slurm.c lbd/ctl/slurm.h \
	lbd/ctl/top.c lbd/ctl/top.h lbd/ctl/top_text.c \
	lbd/conf.c lbd/conf.h
bin_lbctl_CFLAGS = $(LB_CFLAGS) $(JANSSON_CFLAGS) $(CURSES_CFLAGS)
bin_lbctl_LDADD = libpolicyconf.la libwire.la libpolicy.la libcommon.la $(JANSSON_LIBS) $(CURSES_LIBS) -lm

# Where bash-completion looks.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = completion/lbctl

dist_man_MANS += docs/man/lbctl.1 docs/man/lbd.8 docs/man/policy.conf.5
EXTRA_DIST += packaging/lbd.service.in
systemdsystemunit_DATA = packaging/lbd.service
packaging/lbd.service: packaging/lbd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/packaging/lbd.service.in >$@.tmp && mv $@.tmp $@
CLEANFILES += packaging/lbd.service
