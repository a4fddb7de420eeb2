# Tests with real MPI processes; skipped where mpirun is missing.
check_PROGRAMS_MPI = tests/mpi/coverage
noinst_PROGRAMS += $(check_PROGRAMS_MPI)
tests_mpi_coverage_SOURCES = tests/mpi/coverage.c
tests_mpi_coverage_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)
tests_mpi_coverage_LDADD = liblb.la $(MPI_LIBS)
