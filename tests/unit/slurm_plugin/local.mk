# Tests of slurm_plugin/.
check_SCRIPTS += tests/unit/slurm_plugin/symbols.sh
EXTRA_DIST += \
	tests/unit/slurm_plugin/exported.txt \
	tests/unit/slurm_plugin/symbols.sh \
	tests/unit/slurm_plugin/undefined.txt

# The plugin in a Slurm of our own: spank_stub.c has Slurm's functions, and makes them and malloc fail.
plugin_test_stub = tests/unit/slurm_plugin/spank_stub.c tests/unit/slurm_plugin/spank_stub.h
plugin_test_fixture = tests/unit/slurm_plugin/fixture.c tests/unit/slurm_plugin/fixture.h
plugin_test_libs = libplugin.la libwire.la libpolicy.la libcommon.la $(CHECK_LIBS)
plugin_test_wrap = $(LB_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc

check_PROGRAMS += tests/unit/slurm_plugin/test_options
tests_unit_slurm_plugin_test_options_SOURCES = tests/unit/slurm_plugin/test_options.c $(plugin_test_stub)
tests_unit_slurm_plugin_test_options_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_slurm_plugin_test_options_LDFLAGS = $(plugin_test_wrap)
tests_unit_slurm_plugin_test_options_LDADD = $(plugin_test_libs)

check_PROGRAMS += tests/unit/slurm_plugin/test_remote
tests_unit_slurm_plugin_test_remote_SOURCES = tests/unit/slurm_plugin/test_remote.c $(plugin_test_fixture) $(plugin_test_stub)
tests_unit_slurm_plugin_test_remote_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_slurm_plugin_test_remote_LDFLAGS = $(plugin_test_wrap)
tests_unit_slurm_plugin_test_remote_LDADD = $(plugin_test_libs)

check_PROGRAMS += tests/unit/slurm_plugin/test_balancer
tests_unit_slurm_plugin_test_balancer_SOURCES = tests/unit/slurm_plugin/test_balancer.c $(plugin_test_fixture) $(plugin_test_stub)
tests_unit_slurm_plugin_test_balancer_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_slurm_plugin_test_balancer_LDFLAGS = $(plugin_test_wrap)
tests_unit_slurm_plugin_test_balancer_LDADD = $(plugin_test_libs)

check_PROGRAMS += tests/unit/slurm_plugin/test_lbd
tests_unit_slurm_plugin_test_lbd_SOURCES = tests/unit/slurm_plugin/test_lbd.c $(plugin_test_stub)
tests_unit_slurm_plugin_test_lbd_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_slurm_plugin_test_lbd_LDFLAGS = $(plugin_test_wrap)
tests_unit_slurm_plugin_test_lbd_LDADD = $(plugin_test_libs)

check_PROGRAMS += tests/unit/slurm_plugin/test_why
tests_unit_slurm_plugin_test_why_SOURCES = tests/unit/slurm_plugin/test_why.c $(plugin_test_stub)
tests_unit_slurm_plugin_test_why_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_slurm_plugin_test_why_LDFLAGS = $(plugin_test_wrap)
tests_unit_slurm_plugin_test_why_LDADD = $(plugin_test_libs)

check_PROGRAMS += tests/unit/slurm_plugin/test_rules
tests_unit_slurm_plugin_test_rules_SOURCES = tests/unit/slurm_plugin/test_rules.c $(plugin_test_stub)
tests_unit_slurm_plugin_test_rules_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_slurm_plugin_test_rules_LDFLAGS = $(plugin_test_wrap)
tests_unit_slurm_plugin_test_rules_LDADD = $(plugin_test_libs)

check_PROGRAMS += tests/unit/slurm_plugin/test_place
tests_unit_slurm_plugin_test_place_SOURCES = tests/unit/slurm_plugin/test_place.c $(plugin_test_stub)
tests_unit_slurm_plugin_test_place_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_slurm_plugin_test_place_LDFLAGS = $(plugin_test_wrap)
tests_unit_slurm_plugin_test_place_LDADD = $(plugin_test_libs)
