! SPDX-License-Identifier: BSD-3-Clause
! relax - a field relaxes towards its edges, in Fortran with MPI: as a stepped loop (Jacobi, two arrays, neighbour rows
! exchanged between steps), and as a pipelined one (Gauss-Seidel, one array whose values flow from rank to rank).
!     relax stepped|pipelined [ROWS [ELEMENTS [STEPS]]]
! Rank 0 compares with what it computes alone, to the last bit.
program relax
  use mpi
  use slurm_lb
  implicit none
  integer(c_int64_t) :: n = 300, m = 1000, steps = 50
  character(len=32) :: kind
  type(c_ptr) :: ctx
  integer :: ierror, failed

  call MPI_Init(ierror)
  call get_command_argument(1, kind)
  call number(2, n)
  call number(3, m)
  call number(4, steps)
  ctx = lb_init()
  failed = 0
  if (kind == "stepped") then
    call run_stepped()
  else if (kind == "pipelined") then
    call run_pipelined()
  else
    if (lb_rank(ctx) == 0) print '(a)', "relax stepped|pipelined [ROWS [ELEMENTS [STEPS]]]"
    failed = 2
  end if
  call lb_finalize(ctx)
  call MPI_Finalize(ierror)
  if (failed /= 0) stop 1

contains

  subroutine number(which, value)
    integer, intent(in) :: which
    integer(c_int64_t), intent(inout) :: value
    character(len=32) :: text
    integer :: status
    call get_command_argument(which, text, status=status)
    if (status == 0 .and. len_trim(text) > 0) read (text, *) value
  end subroutine

  ! Element k of row i, both from 1, as it is at first: an edge stays so.
  elemental real(c_double) function first_value(k, i)
    integer(c_int64_t), intent(in) :: k, i
    first_value = 0
    if (k == 1 .or. k == m .or. i == 1 .or. i == n) first_value = real(modulo(k * 7 + i * 13, 101_c_int64_t), c_double)
  end function

  elemental real(c_double) function mean(a, b, c, d)
    real(c_double), intent(in) :: a, b, c, d
    mean = 0.25_c_double * ((a + b) + (c + d))
  end function

  ! Rows first to last - 1, counted from 0, elements from to to - 1, out of the rows of a into those of b.
  subroutine sweep(a, b, first, last, from, to)
    real(c_double), intent(in) :: a(:, :)
    real(c_double), intent(inout) :: b(:, :)
    integer(c_int64_t), intent(in) :: first, last, from, to
    integer(c_int64_t) :: i, k
    do i = max(first + 1, 2_c_int64_t), min(last, n - 1)
      do k = max(from + 1, 2_c_int64_t), min(to, m - 1)
        b(k, i) = mean(a(k - 1, i), a(k + 1, i), a(k, i - 1), a(k, i + 1))
      end do
    end do
  end subroutine

  ! The same within one array: of the row before and the element before there are this step's values.
  subroutine sweep_in_place(a, first, last, from, to)
    real(c_double), intent(inout) :: a(:, :)
    integer(c_int64_t), intent(in) :: first, last, from, to
    integer(c_int64_t) :: i, k
    do i = max(first + 1, 2_c_int64_t), min(last, n - 1)
      do k = max(from + 1, 2_c_int64_t), min(to, m - 1)
        a(k, i) = mean(a(k - 1, i), a(k + 1, i), a(k, i - 1), a(k, i + 1))
      end do
    end do
  end subroutine

  ! The first distribution's rows.
  subroutine fill(l, a)
    type(c_ptr), intent(in) :: l
    real(c_double), intent(inout) :: a(:, :)
    integer(c_int64_t) :: first, last, i, k
    integer :: which
    which = 0
    do while (lb_loop_owned(l, which, first, last))
      do i = first + 1, last
        a(:, i) = [(first_value(k, i), k = 1, m)]
      end do
      which = which + 1
    end do
  end subroutine

  subroutine check(rc)
    integer(c_int), intent(in) :: rc
    if (rc == 0) return
    print '(a,i0)', "relax: error ", rc
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  ! Collected on rank 0, and the same there as serially?  in_place: by which of the two rules.
  subroutine finish(l, base, a, in_place)
    type(c_ptr), intent(in) :: l, base
    real(c_double), intent(in) :: a(:, :)
    logical, intent(in) :: in_place
    real(c_double), allocatable :: x(:, :), y(:, :)
    integer(c_int64_t) :: i, k, step, moved
    type(lb_stats) :: stats
    logical :: same

    call check(lb_loop_collect(l, base, 0))
    call check(lb_loop_stats(l, stats))
    call MPI_Reduce(stats%iterations_in, moved, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    if (lb_rank(ctx) == 0) then
      allocate (x(m, n), y(m, n))
      do i = 1, n
        x(:, i) = [(first_value(k, i), k = 1, m)]
      end do
      y = x
      do step = 1, steps
        if (in_place) then
          call sweep_in_place(x, 0_c_int64_t, n, 0_c_int64_t, m)
        else
          call sweep(x, y, 0_c_int64_t, n, 0_c_int64_t, m)
          x = y
        end if
      end do
      same = all(a == x)
      print '(2a,i0,a,i0,a,l1)', trim(kind), " balanced=", lb_balanced(ctx), " moved_rows=", moved, " identical=", same
      if (.not. same) failed = 1
    end if
    call MPI_Bcast(failed, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call lb_loop_close(l)
  end subroutine

  subroutine run_stepped()
    real(c_double), pointer :: a(:, :), b(:, :), swap(:, :)
    type(c_ptr) :: l, base(2)
    integer(c_int64_t) :: first, last, step
    integer(c_size_t) :: row_bytes

    row_bytes = 8_c_size_t * int(m, c_size_t)
    base(1) = lb_array_alloc(ctx, n, row_bytes)
    base(2) = lb_array_alloc(ctx, n, row_bytes)
    call c_f_pointer(base(1), a, [m, n])
    call c_f_pointer(base(2), b, [m, n])
    l = lb_loop_open(ctx, "relax", n)
    call check(lb_loop_array(l, base(1), row_bytes))
    call check(lb_loop_array(l, base(2), row_bytes))
    call check(lb_loop_stepped(l, 1_c_int64_t))
    call fill(l, a)
    call fill(l, b)
    do step = 1, steps
      call check(lb_loop_exchange(l))
      do while (lb_loop_next(l, first, last))
        if (lb_loop_owner(l, first) /= lb_rank(ctx)) call check(-1)
        call sweep(a, b, first, last, 0_c_int64_t, m)
      end do
      swap => a
      a => b
      b => swap
    end do
    call finish(l, merge(base(1), base(2), modulo(steps, 2_c_int64_t) == 0), a, .false.)
    call lb_array_free(ctx, base(1))
    call lb_array_free(ctx, base(2))
  end subroutine

  subroutine run_pipelined()
    real(c_double), pointer :: a(:, :)
    type(c_ptr) :: l, base
    integer(c_int64_t) :: first, last, from, to, step
    integer(c_size_t) :: row_bytes

    row_bytes = 8_c_size_t * int(m, c_size_t)
    base = lb_array_alloc(ctx, n, row_bytes)
    call c_f_pointer(base, a, [m, n])
    l = lb_loop_open(ctx, "relax", n)
    call check(lb_loop_array(l, base, row_bytes))
    call check(lb_loop_doacross(l, 1_c_int64_t, m))
    call check(lb_loop_flow(l, base))
    call check(lb_loop_joints(l))
    call fill(l, a)
    do step = 1, steps
      call check(lb_loop_exchange(l))
      do while (lb_loop_next_block(l, first, last, from, to))
        if (to - from > lb_loop_block(l) .or. lb_loop_neighbour(l, 1) == lb_rank(ctx)) call check(-1)
        call sweep_in_place(a, first, last, from, to)
      end do
    end do
    call finish(l, base, a, .true.)
    call lb_array_free(ctx, base)
  end subroutine
end program
