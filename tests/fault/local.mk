# Failing allocations: tests/fault/fault.h says how another room's test uses them.
check_LTLIBRARIES += libfault.la
libfault_la_SOURCES = tests/fault/fault.c tests/fault/fault.h
libfault_la_CFLAGS = $(LB_CFLAGS)
FAULT_WRAP = -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=aligned_alloc \
	-Wl,--wrap=strdup -Wl,--wrap=strndup -Wl,--wrap=free

check_PROGRAMS += tests/fault/test_common
tests_fault_test_common_SOURCES = tests/fault/test_common.c
tests_fault_test_common_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_fault_test_common_LDADD = libfault.la libpolicyconf.la libcommon.la $(CHECK_LIBS)
tests_fault_test_common_LDFLAGS = $(LB_LDFLAGS) $(FAULT_WRAP)

check_SCRIPTS += tests/fault/planted.sh
EXTRA_DIST += tests/fault/planted.sh
