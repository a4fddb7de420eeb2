# Tests of common/.
EXTRA_DIST += tests/unit/prop.h tests/unit/brief.h tests/unit/folder.h tests/unit/child.h tests/unit/suite.h

# What must fail is found to.
check_PROGRAMS += tests/unit/planted
tests_unit_planted_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_planted_LDADD = $(CHECK_LIBS)
XFAIL_TESTS = tests/unit/planted

check_PROGRAMS += tests/unit/common/test_error
tests_unit_common_test_error_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_common_test_error_LDADD = libcommon.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/common/test_cgroup
tests_unit_common_test_cgroup_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_common_test_cgroup_LDADD = libcommon.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/common/test_clock
tests_unit_common_test_clock_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_common_test_clock_LDADD = libcommon.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/common/test_buf
tests_unit_common_test_buf_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_common_test_buf_LDADD = libcommon.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/common/test_spanset
tests_unit_common_test_spanset_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_common_test_spanset_LDADD = libcommon.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/common/test_frame
tests_unit_common_test_frame_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_common_test_frame_LDADD = libcommon.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/common/test_auth
tests_unit_common_test_auth_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_common_test_auth_LDADD = libcommon.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/common/test_sock
tests_unit_common_test_sock_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_common_test_sock_LDADD = libcommon.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/common/test_log
tests_unit_common_test_log_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_common_test_log_LDADD = libcommon.la $(CHECK_LIBS)
