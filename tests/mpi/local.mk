# Tests with real MPI processes; mpi.sh says so where mpirun is missing.
noinst_PROGRAMS += tests/mpi/coverage tests/mpi/plain tests/mpi/stepped tests/mpi/doacross tests/mpi/leave tests/mpi/packed \
    tests/mpi/comm
tests_mpi_coverage_SOURCES = tests/mpi/coverage.c
tests_mpi_coverage_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)
tests_mpi_coverage_LDADD = liblb.la $(MPI_LIBS)
tests_mpi_stepped_SOURCES = tests/mpi/stepped.c
tests_mpi_stepped_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)
tests_mpi_stepped_LDADD = liblb.la $(MPI_LIBS)
tests_mpi_doacross_SOURCES = tests/mpi/doacross.c
tests_mpi_doacross_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)
tests_mpi_doacross_LDADD = liblb.la $(MPI_LIBS)
tests_mpi_leave_SOURCES = tests/mpi/leave.c
tests_mpi_leave_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)
tests_mpi_leave_LDADD = liblb.la $(MPI_LIBS)
tests_mpi_packed_SOURCES = tests/mpi/packed.c
tests_mpi_packed_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)
tests_mpi_packed_LDADD = liblb.la $(MPI_LIBS)
tests_mpi_comm_SOURCES = tests/mpi/comm.c
tests_mpi_comm_CFLAGS = $(LB_CFLAGS) $(MPI_CFLAGS)
tests_mpi_comm_LDADD = liblb.la $(MPI_LIBS)
tests_mpi_plain_SOURCES = tests/mpi/plain.c
tests_mpi_plain_LDADD = liblb.la

check_SCRIPTS += tests/mpi/mpi.sh
EXTRA_DIST += tests/mpi/mpi.sh
