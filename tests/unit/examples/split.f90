! SPDX-License-Identifier: BSD-3-Clause
! A loop over the ranks of a communicator, in Fortran: every other rank, in descending order.  Each communicator runs all of its
! own loop, and its first rank prints a line.
program split_test
  use mpi_f08
  use slurm_lb
  implicit none
  integer(c_int64_t), parameter :: n = 500
  integer(c_int64_t) :: first, last, i
  integer :: runs(0:n - 1), all_runs(0:n - 1), rank, ranks, comm_rank, comm_ranks
  type(MPI_Comm) :: comm
  type(c_ptr) :: ctx, l
  real(c_double) :: x
  logical :: complete

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), -rank, comm)
  call MPI_Comm_rank(comm, comm_rank)
  call MPI_Comm_size(comm, comm_ranks)
  ctx = lb_init_comm(comm%mpi_val)
  complete = lb_rank(ctx) == comm_rank .and. lb_size(ctx) == comm_ranks
  l = lb_loop_open(ctx, "split", n)
  runs = 0
  x = 0
  do while (lb_loop_next(l, first, last))
    do i = first, last - 1
      runs(i) = runs(i) + 1
      x = x + sum([sqrt(real(i, c_double)), x])
    end do
  end do
  call lb_loop_close(l)
  call MPI_Allreduce(runs, all_runs, int(n), MPI_INTEGER, MPI_SUM, comm)
  complete = complete .and. all(all_runs == 1) .and. x >= 0
  if (comm_rank == 0) print '(a,i0,a,i0,a,l1,a,i0)', "split of ", ranks, ": ranks=", lb_size(ctx), " complete=", complete, &
    " balanced=", lb_balanced(ctx)
  call lb_finalize(ctx)
  call MPI_Finalize()
  if (.not. complete) stop 1
end program
