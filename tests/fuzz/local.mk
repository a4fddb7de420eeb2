# Fuzz targets: each is replayed over its corpus by `make check`.  To fuzz, with clang's libFuzzer:
#   ../configure CC=clang && make tests/fuzz/fuzz_local && tests/fuzz/fuzz_local FOLDER ../tests/fuzz/corpus/local
EXTRA_DIST += tests/fuzz/corpus
check_PROGRAMS += tests/fuzz/replay_local
tests_fuzz_replay_local_SOURCES = tests/fuzz/fuzz_local.c tests/fuzz/replay.c
tests_fuzz_replay_local_CPPFLAGS = $(AM_CPPFLAGS) -DREPLAY_CORPUS='"local"'
tests_fuzz_replay_local_CFLAGS = $(LB_CFLAGS)
tests_fuzz_replay_local_LDADD = libwire.la libcommon.la

EXTRA_PROGRAMS = tests/fuzz/fuzz_local
tests_fuzz_fuzz_local_SOURCES = tests/fuzz/fuzz_local.c
tests_fuzz_fuzz_local_CFLAGS = $(LB_CFLAGS) -fsanitize=fuzzer,address
tests_fuzz_fuzz_local_LDFLAGS = $(LB_LDFLAGS) -fsanitize=fuzzer,address
tests_fuzz_fuzz_local_LDADD = libwire.la libcommon.la
