# Fuzz targets.  replay_X goes through corpus/X in `make check`; fuzz_X, with --enable-fuzz and clang, is libFuzzer's
# (tests/fuzz/run builds and runs them).  A new target: fuzz_X.c, its lines here, its name in FUZZ_TARGETS and tests/fuzz/run, and
# files in corpus/X.
FUZZ_FRAME = tests/fuzz/fuzz.c tests/fuzz/fuzz.h
FUZZ_REPLAY = $(FUZZ_FRAME) tests/fuzz/replay.c
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/run

check_PROGRAMS += tests/fuzz/replay_frame
tests_fuzz_replay_frame_SOURCES = tests/fuzz/fuzz_frame.c $(FUZZ_REPLAY)
tests_fuzz_replay_frame_LDADD = libcommon.la

check_PROGRAMS += tests/fuzz/replay_local
tests_fuzz_replay_local_SOURCES = tests/fuzz/fuzz_local.c $(FUZZ_REPLAY)
tests_fuzz_replay_local_LDADD = libwire.la libcommon.la

check_PROGRAMS += tests/fuzz/replay_params
tests_fuzz_replay_params_SOURCES = tests/fuzz/fuzz_params.c $(FUZZ_REPLAY)
tests_fuzz_replay_params_LDADD = libpolicy.la libcommon.la -lm

check_PROGRAMS += tests/fuzz/replay_policyconf
tests_fuzz_replay_policyconf_SOURCES = tests/fuzz/fuzz_policyconf.c $(FUZZ_REPLAY)
tests_fuzz_replay_policyconf_LDADD = libpolicyconf.la libpolicy.la libcommon.la -lm

check_PROGRAMS += tests/fuzz/replay_rank
tests_fuzz_replay_rank_SOURCES = tests/fuzz/fuzz_rank.c $(FUZZ_REPLAY)
tests_fuzz_replay_rank_LDADD = libwire.la libcommon.la

# The transport without its connections, and once more with a planted mistake.
fuzz_tcp = tests/fuzz/fuzz_tcp.c libclient/tcp/tcp.h libclient/tcp/transport_tcp.c libclient/tcp/frames.c libclient/tcp/parts.c libclient/tcp/group.c
check_PROGRAMS += tests/fuzz/replay_tcp tests/fuzz/replay_tcp_planted
tests_fuzz_replay_tcp_SOURCES = $(fuzz_tcp) libclient/tcp/cursor.c $(FUZZ_REPLAY)
tests_fuzz_replay_tcp_LDADD = libcommon.la
tests_fuzz_replay_tcp_planted_SOURCES = $(fuzz_tcp) tests/fuzz/planted_cursor.c $(FUZZ_REPLAY)
tests_fuzz_replay_tcp_planted_LDADD = libcommon.la

# A planted mistake: that replay does not find it would be the failure.
check_PROGRAMS += tests/fuzz/replay_planted
XFAIL_TESTS += tests/fuzz/replay_planted tests/fuzz/replay_tcp_planted
tests_fuzz_replay_planted_SOURCES = tests/fuzz/fuzz_planted.c $(FUZZ_REPLAY)
tests_fuzz_replay_planted_LDADD = libcommon.la

FUZZ_TARGETS = tests/fuzz/fuzz_frame tests/fuzz/fuzz_local tests/fuzz/fuzz_params tests/fuzz/fuzz_policyconf \
	tests/fuzz/fuzz_rank tests/fuzz/fuzz_tcp tests/fuzz/fuzz_planted
EXTRA_PROGRAMS = $(FUZZ_TARGETS)
if FUZZ
noinst_PROGRAMS += $(FUZZ_TARGETS)
endif
fuzz_link = $(LB_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_frame_SOURCES = tests/fuzz/fuzz_frame.c $(FUZZ_FRAME)
tests_fuzz_fuzz_frame_LDFLAGS = $(fuzz_link)
tests_fuzz_fuzz_frame_LDADD = $(tests_fuzz_replay_frame_LDADD)
tests_fuzz_fuzz_local_SOURCES = tests/fuzz/fuzz_local.c $(FUZZ_FRAME)
tests_fuzz_fuzz_local_LDFLAGS = $(fuzz_link)
tests_fuzz_fuzz_local_LDADD = $(tests_fuzz_replay_local_LDADD)
tests_fuzz_fuzz_params_SOURCES = tests/fuzz/fuzz_params.c $(FUZZ_FRAME)
tests_fuzz_fuzz_params_LDFLAGS = $(fuzz_link)
tests_fuzz_fuzz_params_LDADD = $(tests_fuzz_replay_params_LDADD)
tests_fuzz_fuzz_policyconf_SOURCES = tests/fuzz/fuzz_policyconf.c $(FUZZ_FRAME)
tests_fuzz_fuzz_policyconf_LDFLAGS = $(fuzz_link)
tests_fuzz_fuzz_policyconf_LDADD = $(tests_fuzz_replay_policyconf_LDADD)
tests_fuzz_fuzz_rank_SOURCES = tests/fuzz/fuzz_rank.c $(FUZZ_FRAME)
tests_fuzz_fuzz_rank_LDFLAGS = $(fuzz_link)
tests_fuzz_fuzz_rank_LDADD = $(tests_fuzz_replay_rank_LDADD)
tests_fuzz_fuzz_tcp_SOURCES = $(fuzz_tcp) libclient/tcp/cursor.c $(FUZZ_FRAME)
tests_fuzz_fuzz_tcp_LDFLAGS = $(fuzz_link)
tests_fuzz_fuzz_tcp_LDADD = $(tests_fuzz_replay_tcp_LDADD)
tests_fuzz_fuzz_planted_SOURCES = tests/fuzz/fuzz_planted.c $(FUZZ_FRAME)
tests_fuzz_fuzz_planted_LDFLAGS = $(fuzz_link)
tests_fuzz_fuzz_planted_LDADD = $(tests_fuzz_replay_planted_LDADD)

# Writes corpus/rank, corpus/local and corpus/tcp.
EXTRA_PROGRAMS += tests/fuzz/seeds
tests_fuzz_seeds_SOURCES = tests/fuzz/seeds.c tests/fuzz/seeds_local.c tests/fuzz/seeds_tcp.c tests/fuzz/seeds.h $(FUZZ_FRAME)
tests_fuzz_seeds_LDADD = libwire.la libcommon.la
