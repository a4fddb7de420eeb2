! SPDX-License-Identifier: BSD-3-Clause
! slurm_lb - lb.h for Fortran programs: compile it with the program, and link with -llb.
! Iterations are numbered from 0, as in lb(3), which says what each call does.
module slurm_lb
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! Callbacks for data that is not rows: c_funloc of functions with bind(c), as struct lb_pack of lb.h has them.
  type, bind(c) :: lb_pack
    integer(c_size_t) :: struct_bytes = 0 ! set by lb_loop_pack
    type(c_ptr) :: arg = c_null_ptr
    type(c_funptr) :: bytes = c_null_funptr, pack = c_null_funptr, unpack = c_null_funptr
  end type

  ! As struct lb_stats of lb.h; times in seconds.
  type, bind(c) :: lb_stats
    integer(c_size_t) :: struct_bytes = 0 ! set by lb_loop_stats
    integer(c_int64_t) :: passes = 0, iterations = 0, iterations_in = 0, iterations_out = 0
    integer(c_int64_t) :: moves_in = 0, moves_out = 0, bytes_in = 0, bytes_out = 0, hooks = 0
    real(c_double) :: compute_s = 0, cpu_s = 0, wait_s = 0, library_s = 0
  end type

  interface
    function lb_init() bind(c, name="lb_init")
      import :: c_ptr
      type(c_ptr) :: lb_init
    end function
    ! comm: a communicator of mpi or mpif.h; of mpi_f08 its mpi_val.
    function lb_init_comm(comm) bind(c, name="lb_init_fcomm")
      import :: c_ptr, c_int
      integer(c_int), value :: comm
      type(c_ptr) :: lb_init_comm
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
    pure function lb_balanced(ctx) bind(c, name="lb_balanced")
      import :: c_ptr, c_int
      type(c_ptr), value, intent(in) :: ctx
      integer(c_int) :: lb_balanced
    end function
    pure function lb_error(ctx) bind(c, name="lb_error")
      import :: c_ptr, c_int
      type(c_ptr), value, intent(in) :: ctx
      integer(c_int) :: lb_error
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
    function lb_loop_owned_c(l, which, first, last) bind(c, name="lb_loop_owned")
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: l
      integer(c_int), value :: which
      integer(c_int64_t), intent(inout) :: first, last
      integer(c_int) :: lb_loop_owned_c
    end function
    function lb_loop_pack_c(l, pack) bind(c, name="lb_loop_pack")
      import :: c_ptr, c_int, lb_pack
      type(c_ptr), value :: l
      type(lb_pack), intent(in) :: pack
      integer(c_int) :: lb_loop_pack_c
    end function
    function lb_loop_stats_c(l, stats) bind(c, name="lb_loop_stats")
      import :: c_ptr, c_int, lb_stats
      type(c_ptr), value :: l
      type(lb_stats), intent(inout) :: stats
      integer(c_int) :: lb_loop_stats_c
    end function

    ! Stepped loops.
    function lb_loop_stepped(l, halo) bind(c, name="lb_loop_stepped")
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: l
      integer(c_int64_t), value :: halo
      integer(c_int) :: lb_loop_stepped
    end function
    function lb_loop_exchange(l) bind(c, name="lb_loop_exchange")
      import :: c_ptr, c_int
      type(c_ptr), value :: l
      integer(c_int) :: lb_loop_exchange
    end function
    function lb_loop_owner(l, i) bind(c, name="lb_loop_owner")
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: l
      integer(c_int64_t), value :: i
      integer(c_int) :: lb_loop_owner
    end function
    function lb_loop_neighbour(l, side) bind(c, name="lb_loop_neighbour")
      import :: c_ptr, c_int
      type(c_ptr), value :: l
      integer(c_int), value :: side
      integer(c_int) :: lb_loop_neighbour
    end function

    ! Pipelined loops.
    function lb_loop_doacross(l, halo, elements) bind(c, name="lb_loop_doacross")
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: l
      integer(c_int64_t), value :: halo, elements
      integer(c_int) :: lb_loop_doacross
    end function
    function lb_loop_flow(l, base) bind(c, name="lb_loop_flow")
      import :: c_ptr, c_int
      type(c_ptr), value :: l, base
      integer(c_int) :: lb_loop_flow
    end function
    function lb_loop_joints(l) bind(c, name="lb_loop_joints")
      import :: c_ptr, c_int
      type(c_ptr), value :: l
      integer(c_int) :: lb_loop_joints
    end function
    function lb_loop_next_block_c(l, first, last, from, to) bind(c, name="lb_loop_next_block")
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: l
      integer(c_int64_t), intent(inout) :: first, last, from, to
      integer(c_int) :: lb_loop_next_block_c
    end function
    function lb_loop_block(l) bind(c, name="lb_loop_block")
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: l
      integer(c_int64_t) :: lb_loop_block
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

  ! .true. with elements from to to - 1 of the rows first to last - 1.
  logical function lb_loop_next_block(l, first, last, from, to)
    type(c_ptr), intent(in) :: l
    integer(c_int64_t), intent(out) :: first, last, from, to
    first = 0
    last = 0
    from = 0
    to = 0
    lb_loop_next_block = lb_loop_next_block_c(l, first, last, from, to) == 1
  end function

  ! .true. with the span first to last - 1 of this rank's: which = 0, 1, ...
  logical function lb_loop_owned(l, which, first, last)
    type(c_ptr), intent(in) :: l
    integer, intent(in) :: which
    integer(c_int64_t), intent(out) :: first, last
    first = 0
    last = 0
    lb_loop_owned = lb_loop_owned_c(l, int(which, c_int), first, last) == 1
  end function

  integer(c_int) function lb_loop_pack(l, pack)
    type(c_ptr), intent(in) :: l
    type(lb_pack), intent(in) :: pack
    type(lb_pack) :: sized
    sized = pack
    sized%struct_bytes = c_sizeof(sized)
    lb_loop_pack = lb_loop_pack_c(l, sized)
  end function

  integer(c_int) function lb_loop_stats(l, stats)
    type(c_ptr), intent(in) :: l
    type(lb_stats), intent(out) :: stats
    stats%struct_bytes = c_sizeof(stats)
    lb_loop_stats = lb_loop_stats_c(l, stats)
  end function
end module
