# slurm_plugin/: the SPANK plugin lb.so.
slurmplugin_LTLIBRARIES = slurm_plugin/lb.la
noinst_LTLIBRARIES += libplugin.la
libplugin_la_SOURCES = \
	slurm_plugin/allocator.c \
	slurm_plugin/ask.c slurm_plugin/ask.h \
	slurm_plugin/balancer.c slurm_plugin/balancer.h \
	slurm_plugin/child.c slurm_plugin/child.h \
	slurm_plugin/choice.c slurm_plugin/choice.h \
	slurm_plugin/command.c slurm_plugin/command.h \
	slurm_plugin/config.c slurm_plugin/config.h \
	slurm_plugin/layout.c slurm_plugin/layout.h \
	slurm_plugin/local.c \
	slurm_plugin/options.c \
	slurm_plugin/place.c slurm_plugin/place.h \
	slurm_plugin/plugin.c slurm_plugin/plugin.h \
	slurm_plugin/remote.c \
	slurm_plugin/rules.c slurm_plugin/rules.h
libplugin_la_CFLAGS = $(LB_CFLAGS)

# -z now: what Slurm lacks is found when the plugin is loaded, where it costs no job.  Slurm's own functions are in the
# programs that load it, and Slurm has no library of them to link with: -z defs would refuse them, so that
# tests/unit/slurm_plugin/symbols.sh compares what is undefined with a list.
slurm_plugin_lb_la_SOURCES =
slurm_plugin_lb_la_LIBADD = libplugin.la libwire.la libpolicy.la libcommon.la
slurm_plugin_lb_la_LDFLAGS = $(LB_LDFLAGS) -module -avoid-version -Wl,--gc-sections -Wl,--as-needed \
	-Wl,--version-script=$(srcdir)/slurm_plugin/lb.map
slurm_plugin_lb_la_DEPENDENCIES = $(slurm_plugin_lb_la_LIBADD) slurm_plugin/lb.map
dist_man_MANS += docs/man/spank_lb.8
EXTRA_DIST += slurm_plugin/lb.map packaging/plugstack.conf.d/lb.conf
