! SPDX-License-Identifier: BSD-3-Clause
! roots - a balanced loop in Fortran: a table of square roots, and their sum.
program roots
  use slurm_lb
  implicit none
  integer(c_int64_t), parameter :: n = 20000
  integer(c_int64_t) :: first, last, i
  real(c_double), pointer :: a(:)
  real(c_double) :: serial(n)
  type(c_ptr) :: ctx, l, base

  ctx = lb_init()
  base = lb_array_alloc(ctx, n, 8_c_size_t)
  call c_f_pointer(base, a, [n])
  l = lb_loop_open(ctx, "roots", n)
  if (lb_loop_array(l, base, 8_c_size_t) /= 0) stop 1
  do while (lb_loop_next(l, first, last))
    do i = first, last - 1
      a(i + 1) = sqrt(real(i, c_double))
    end do
  end do
  if (lb_loop_collect(l, base, 0) /= 0) stop 2
  if (lb_rank(ctx) == 0) then
    serial = [(sqrt(real(i, c_double)), i = 0, n - 1)]
    print '(a,l1)', "identical=", all(a == serial)
  end if
  call lb_loop_close(l)
  call lb_array_free(ctx, base)
  call lb_finalize(ctx)
end program
