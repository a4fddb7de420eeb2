! SPDX-License-Identifier: BSD-3-Clause
! Data that is not rows, in Fortran: each iteration's list goes to and fro by callbacks, and is right wherever it is.
module lists
  use slurm_lb
  implicit none
  integer(c_int64_t), parameter :: n = 400, passes = 6
  type :: list
    real(c_double), allocatable :: v(:)
  end type
  type(list), save :: all_lists(0:n - 1)

contains

  function list_bytes(arg, i) bind(c)
    type(c_ptr), value :: arg
    integer(c_int64_t), value :: i
    integer(c_size_t) :: list_bytes
    if (c_associated(arg)) stop 3
    list_bytes = 8_c_size_t * size(all_lists(i)%v, kind=c_size_t)
  end function

  subroutine list_pack(arg, i, to) bind(c)
    type(c_ptr), value :: arg, to
    integer(c_int64_t), value :: i
    real(c_double), pointer :: v(:)
    if (c_associated(arg)) stop 3
    call c_f_pointer(to, v, [size(all_lists(i)%v)])
    v = all_lists(i)%v
    deallocate (all_lists(i)%v)
  end subroutine

  subroutine list_unpack(arg, i, from, bytes) bind(c)
    type(c_ptr), value :: arg, from
    integer(c_int64_t), value :: i
    integer(c_size_t), value :: bytes
    real(c_double), pointer :: v(:)
    if (c_associated(arg)) stop 3
    call c_f_pointer(from, v, [bytes / 8])
    all_lists(i)%v = v
  end subroutine
end module

program pack_test
  use lists
  implicit none
  integer(c_int64_t) :: first, last, i, pass, k
  integer :: which
  type(c_ptr) :: ctx, l
  type(lb_pack) :: pack
  type(lb_stats) :: stats
  real(c_double) :: x

  ctx = lb_init()
  l = lb_loop_open(ctx, "lists", n)
  if (lb_loop_pack(l, pack) == 0) stop 1 ! no callbacks
  pack%bytes = c_funloc(list_bytes)
  pack%pack = c_funloc(list_pack)
  pack%unpack = c_funloc(list_unpack)
  if (lb_loop_pack(l, pack) /= 0) stop 2
  which = 0
  do while (lb_loop_owned(l, which, first, last))
    do i = first, last - 1
      all_lists(i)%v = [(real(i, c_double), k = 1, modulo(i, 7_c_int64_t))]
    end do
    which = which + 1
  end do
  do pass = 1, passes
    do while (lb_loop_next(l, first, last))
      do i = first, last - 1
        if (.not. allocated(all_lists(i)%v)) stop 4
        if (any(all_lists(i)%v /= real(i + 1000 * (pass - 1), c_double))) stop 5
        all_lists(i)%v = [all_lists(i)%v + 1000, real(i + 1000 * pass, c_double)]
        x = 0
        do k = 1, 20000 * (1 + lb_rank(ctx)) ! the last rank is slow: lists move away from it
          x = x + sqrt(real(k, c_double))
        end do
        if (x < 0) stop 6
      end do
    end do
  end do
  if (lb_loop_stats(l, stats) /= 0) stop 7
  print '(a,i0,a,i0)', "lists of rank ", lb_rank(ctx), " are right, passes=", stats%passes
  call lb_loop_close(l)
  call lb_finalize(ctx)
end program
