# Tests of wire/.
check_PROGRAMS += tests/unit/wire/test_rank
tests_unit_wire_test_rank_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS) $(MSGPACK_CFLAGS)
tests_unit_wire_test_rank_LDADD = libwire.la libcommon.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/wire/test_local
tests_unit_wire_test_local_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_wire_test_local_LDADD = libwire.la libcommon.la $(CHECK_LIBS)

check_PROGRAMS += tests/unit/wire/test_node
tests_unit_wire_test_node_CFLAGS = $(LB_CFLAGS) $(CHECK_CFLAGS)
tests_unit_wire_test_node_LDADD = libwire.la libcommon.la $(CHECK_LIBS)
