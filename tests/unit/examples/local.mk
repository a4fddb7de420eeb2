# Tests of examples/: a run of one rank against the plain serial program; lb.h as C++.
check_SCRIPTS += tests/unit/examples/serial.sh
EXTRA_DIST += tests/unit/examples/serial.sh

check_PROGRAMS += tests/unit/examples/test_cplusplus
tests_unit_examples_test_cplusplus_SOURCES = tests/unit/examples/test_cplusplus.cc
tests_unit_examples_test_cplusplus_CXXFLAGS = -std=gnu++11 -Wall -Wextra -Wold-style-cast -Wshadow $(LB_SANITIZE)
tests_unit_examples_test_cplusplus_LDFLAGS = $(EX_LINK)
tests_unit_examples_test_cplusplus_LDADD = liblb.la

check_SCRIPTS += tests/unit/examples/fortran.sh
EXTRA_DIST += tests/unit/examples/fortran.sh tests/unit/examples/pack.f90 tests/unit/examples/split.f90 examples/roots.f90 examples/relax.f90
