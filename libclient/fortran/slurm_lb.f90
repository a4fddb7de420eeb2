! SPDX-License-Identifier: BSD-3-Clause
! slurm_lb - lb.h for Fortran programs: compile it with the program, and link with -llb.
! Iterations are numbered from 0, as in lb(3), which says what each call does.
module slurm_lb
  use, intrinsic :: iso_c_binding
  implicit none
  public

  interface
    function lb_init() bind(c, name="lb_init")
      import :: c_ptr
      type(c_ptr) :: lb_init
    end function
    subroutine lb_finalize(ctx) bind(c, name="lb_finalize")
      import :: c_ptr
      type(c_ptr), value :: ctx
    end subroutine
    pure function lb_rank(ctx) bind(c, name="lb_rank")
      import :: c_ptr, c_int
      type(c_ptr), value, intent(in) :: ctx
      integer(c_int) :: lb_rank
    end function
    pure function lb_size(ctx) bind(c, name="lb_size")
      import :: c_ptr, c_int
      type(c_ptr), value, intent(in) :: ctx
      integer(c_int) :: lb_size
    end function
    function lb_loop_open_c(ctx, name, n) bind(c, name="lb_loop_open")
      import :: c_ptr, c_char, c_int64_t
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: n
      type(c_ptr) :: lb_loop_open_c
    end function
    function lb_loop_array(l, base, row_bytes) bind(c, name="lb_loop_array")
      import :: c_ptr, c_int, c_size_t
      type(c_ptr), value :: l, base
      integer(c_size_t), value :: row_bytes
      integer(c_int) :: lb_loop_array
    end function
    function lb_loop_next_c(l, first, last) bind(c, name="lb_loop_next")
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: l
      integer(c_int64_t), intent(out) :: first, last
      integer(c_int) :: lb_loop_next_c
    end function
    function lb_loop_collect(l, base, root) bind(c, name="lb_loop_collect")
      import :: c_ptr, c_int
      type(c_ptr), value :: l, base
      integer(c_int), value :: root
      integer(c_int) :: lb_loop_collect
    end function
    subroutine lb_loop_close(l) bind(c, name="lb_loop_close")
      import :: c_ptr
      type(c_ptr), value :: l
    end subroutine
    function lb_array_alloc(ctx, n, row_bytes) bind(c, name="lb_array_alloc")
      import :: c_ptr, c_int64_t, c_size_t
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: n
      integer(c_size_t), value :: row_bytes
      type(c_ptr) :: lb_array_alloc
    end function
    subroutine lb_array_free(ctx, base) bind(c, name="lb_array_free")
      import :: c_ptr
      type(c_ptr), value :: ctx, base
    end subroutine
  end interface

contains

  function lb_loop_open(ctx, name, n) result(l)
    type(c_ptr), intent(in) :: ctx
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in) :: n
    type(c_ptr) :: l
    l = lb_loop_open_c(ctx, trim(name)//c_null_char, n)
  end function

  ! .true. with iterations first to last - 1.
  logical function lb_loop_next(l, first, last)
    type(c_ptr), intent(in) :: l
    integer(c_int64_t), intent(out) :: first, last
    first = 0
    last = 0
    lb_loop_next = lb_loop_next_c(l, first, last) == 1
  end function
end module
