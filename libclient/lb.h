/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lb.h - balanced loops over the ranks of a parallel job.
 *
 *     lb_ctx *ctx = lb_init();
 *     lb_loop *l = lb_loop_open(ctx, "rows", n);
 *     lb_loop_array(l, a, row_bytes);
 *     while (lb_loop_next(l, &first, &last))
 *         for (i = first; i < last; i++)
 *             work(a, i);
 *     lb_loop_close(l);
 *     lb_finalize(ctx);
 *
 * Every rank of the job makes the same calls in the same order (they are collective), but
 * lb_loop_next, lb_loop_next_block, lb_loop_owned, lb_loop_owner, lb_loop_neighbour, lb_loop_block
 * and lb_loop_stats, which each rank calls as often as it likes.  In stepped and pipelined loops
 * all ranks call lb_loop_exchange equally often.
 * Indices are global: iteration i and row i mean the same on every rank.  One thread of a rank uses
 * a context at a time.
 *
 * Passes of two loops of a context do not overlap: a loop is not run within another.  The body of a
 * loop may use MPI, but waits for no other rank (a barrier, a receive from a rank that may have no
 * iterations left).  A pass is left early only by lb_loop_close.
 *
 * Nothing here ends the program, and nothing is written but these lines, on stderr: one by rank 0
 * when balancing was asked for (srun --lb, or mpirun, where it is the default) and cannot be had,
 * or when the balancer is lost; a few by rank 0 at the end under the policy's key `report`; and one by
 * a rank whose rows were lost because MPI or a connection failed; one by ranks 0 and 1 each when another
 * rank's step of a stepped or pipelined loop does not come for 30 s; and one by the rank that has closed
 * a loop while others go on with it, or by those that wait for it.  Without a balancer loops run with a fixed
 * distribution and nobody waits for anybody.
 */
#ifndef LB_H
#define LB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LB_VERSION_MAJOR 0
#define LB_VERSION_MINOR 1

typedef struct lb_ctx lb_ctx;
typedef struct lb_loop lb_loop;

/*
 * Join the job's balancer.  Collective.
 *
 * In a program that uses MPI call it after MPI_Init: rows then travel by MPI, on a communicator of
 * our own.  A program that does not use MPI needs a PMIx launcher to have more than one rank, and
 * all ranks of the job make this call; rows then travel over TCP, between ranks that have proved to each
 * other keys that went through PMIx.  Takes at most about 2 s where the balancer does not answer.
 *
 * Never fails a job: what cannot be had makes the loops static.  NULL only when out of memory, and
 * every other call takes a NULL context or loop and does the work statically as a single rank or
 * does nothing, so its result need not be checked.
 *
 * Under srun the balancer is the one that `srun --lb` has started, and without --lb there is none.
 * Under another launcher rank 0 starts one, unless LB_POLICY is `off`.
 */
lb_ctx *lb_init(void);

/*
 * As lb_init, over the ranks of a communicator instead of MPI_COMM_WORLD.
 *
 * mpi_comm[in]  pointer to an MPI_Comm, which is duplicated; who has MPI_COMM_NULL is a single rank
 */
lb_ctx *lb_init_comm(const void *mpi_comm);

/* As lb_init_comm, by the handle that Fortran has of the communicator. */
lb_ctx *lb_init_fcomm(int mpi_comm);

/*
 * Leave the balancer and free ctx and its loops.  Collective; call it before MPI_Finalize.  NULL is
 * fine.  Arrays live on: free them with a NULL context then.
 */
void lb_finalize(lb_ctx *ctx);

int lb_rank(const lb_ctx *ctx);     /* 0 to lb_size - 1 */
int lb_size(const lb_ctx *ctx);     /* >= 1 */
int lb_balanced(const lb_ctx *ctx); /* 1 while a balancer is there, else 0 */

/*
 * 0, or for good -EIO: rows cannot be brought any more, as MPI or a connection failed, or not all ranks have made the same
 * calls (one has closed a loop that others go on with).  Iterations of the passes since the last call may be missing then.
 * Rows that were on their way to another rank are then no longer brought; MPI may still read and write them until MPI_Finalize:
 * free no array before that.
 */
int lb_error(const lb_ctx *ctx);

const char *lb_version(void); /* "0.1.0", static */

/*
 * Declare a loop of n >= 0 independent iterations (0 to n - 1) over all ranks.  Collective.
 *
 * name[in]  for reports and metrics, at most 63 bytes are kept; copied
 *
 * At first each rank owns one block, sized by the speed of its host where that is known, else
 * evenly.
 *
 * Returns the loop, owned by ctx until lb_loop_close; NULL only when out of memory or when n < 0.
 */
lb_loop *lb_loop_open(lb_ctx *ctx, const char *name, int64_t n);

/*
 * Let rows of an array travel with the iterations: row i, row_bytes long at base + i * row_bytes,
 * is valid on the rank that owns iteration i, and only there.  Collective; call it before the first
 * lb_loop_next.
 *
 * base[in]  the global extent of n rows (see lb_array_alloc), borrowed until lb_loop_close
 *
 * row_bytes[in]  the same on all ranks
 *
 * Returns 0, -EINVAL, -EBUSY (the loop has started), -ENOMEM.
 */
int lb_loop_array(lb_loop *l, void *base, size_t row_bytes);

/*
 * Data that belongs to iterations and is not rows: of a length of its own for each, or in many
 * pieces, such as the list of a cell's particles.  Callbacks bring it to and fro.  They are called
 * within lb_loop_next, in stepped and pipelined loops within lb_loop_exchange, in any order of
 * iterations, and call nothing of lb.h.  What moves goes in pieces: no more than 4 MiB, or one
 * iteration, is packed in memory at once of all that goes from a rank, and of all that comes.
 */
struct lb_pack {
    size_t struct_bytes; /* sizeof(struct lb_pack) */
    void *arg;           /* handed to the callbacks */

    /* How many bytes iteration i's data takes when packed; 0 is fine. */
    size_t (*bytes)(void *arg, int64_t i);

    /* Write so many bytes to `to`, aligned to 16, and forget the data here: it goes away. */
    void (*pack)(void *arg, int64_t i, void *to);

    /* Iteration i's data comes; from[in] [bytes], aligned to 16, borrowed for the call. */
    void (*unpack)(void *arg, int64_t i, const void *from, size_t bytes);
};

/*
 * Let packed data travel with the iterations, beside the rows of arrays if there are any.
 * Collective; call it before the first lb_loop_next or lb_loop_exchange.  lb_loop_collect does not
 * bring it, nor does it come with halo rows.
 *
 * pack[in]  copied
 *
 * Returns 0, -EINVAL, -EBUSY (the loop has started).
 */
int lb_loop_pack(lb_loop *l, const struct lb_pack *pack);

/*
 * The next iterations of this pass for this rank: [first, last), last > first.
 *
 * Returns 1 with a chunk; 0 when the pass is over: every iteration was handed to exactly one rank.
 * (The last ones may still be at work there, as after any loop without a barrier.)  The call after
 * that begins the next pass over all n iterations, where they are owned now.
 *
 * With a balancer the last call of a pass waits until no rank can get more; it may sleep and wake
 * in between.  Rows come and go only within lb_ calls.
 */
int lb_loop_next(lb_loop *l, int64_t *first, int64_t *last);

/*
 * The spans of iterations that this rank owns, ascending: which = 0, 1, ...
 *
 * Returns 1 with [first, last), 0 when there is no such span.  Between lb_loop_open and the first
 * lb_loop_next it is the first distribution (read your rows in); after a pass it says whose results
 * are here.
 */
int lb_loop_owned(const lb_loop *l, int which, int64_t *first, int64_t *last);

/*
 * Bring all rows of an array of the loop together on rank root.  Collective, between passes;
 * ownership does not change.
 *
 * base[in]  as given to lb_loop_array
 *
 * Returns 0, -EINVAL (no such array or root), -EBUSY (within a pass), -EIO: the rows cannot be
 * moved, as MPI or a connection failed, or a rank has closed the loop.
 */
int lb_loop_collect(lb_loop *l, void *base, int root);

/*
 * Make the loop a stepped one: for programs that go over all iterations again and again, and in
 * between exchange with their neighbours or wait for all.  Collective; call it before the first
 * lb_loop_next and lb_loop_exchange.
 *
 *     lb_loop_stepped(l, 1);
 *     lb_loop_exchange(l);
 *     for (step = 0; step < steps; step++) {
 *         while (lb_loop_next(l, &first, &last))
 *             for (i = first; i < last; i++)
 *                 work(a, b, i);                      (reads rows i - 1 to i + 1 of a)
 *         lb_loop_exchange(l);
 *         swap(a, b);
 *     }
 *
 * Each rank owns one block.  A pass is a step: lb_loop_next hands out the block, all of it here,
 * and waits for nobody.  Rows move only in lb_loop_exchange.
 *
 * halo  >= 0: so many rows on both sides of the block, as far as there are any, are needed to
 *       compute it; it may be larger than blocks are
 *
 * Returns 0, -EINVAL, -EBUSY (the loop has started, or is stepped), -ENOMEM.
 */
int lb_loop_stepped(lb_loop *l, int64_t halo);

/*
 * Between two steps of a stepped loop, and before the first if its halo rows are not there yet:
 * bring the halo rows, of all arrays of the loop, from the ranks that own them; and now and then
 * let all ranks, at the same call, move blocks as the balancer has proposed.  Collective.
 *
 * lb_loop_owned says afterwards what this rank owns.  Rows outside of the block and its halo are
 * lost where blocks move.  In which call they move depends on time, so do not count on blocks
 * staying where they are between two calls, nor on their moving.
 *
 * A rank that makes fewer calls than the others, or fewer steps, is waited for: when it does not
 * come for 30 s that is said on stderr, and the wait goes on, as it may be slow.  When it has closed
 * the loop the others get -EIO.
 *
 * Returns 0, -EINVAL (not a stepped loop), -EBUSY (within a pass), -EIO: rows cannot be brought, as
 * MPI or a connection failed, or a rank has closed the loop; blocks are where they were then, and
 * this and all later loops of the context bring no rows any more.
 */
int lb_loop_exchange(lb_loop *l);

/*
 * Make the loop a pipelined one (DOACROSS): a stepped loop in whose steps iteration i needs what the iterations before it
 * have computed in the same step.  Rows of `elements` elements are computed in blocks of some elements, so that the next
 * rank can begin when the first block is done here.  Collective; call it after lb_loop_open, and then lb_loop_flow.
 *
 *     lb_loop_array(l, a, row_bytes);
 *     lb_loop_doacross(l, 1, elements);
 *     lb_loop_flow(l, a);
 *     for (step = 0; step < steps; step++) {
 *         lb_loop_exchange(l);
 *         while (lb_loop_next_block(l, &first, &last, &from, &to))
 *             for (i = first; i < last; i++)
 *                 for (k = from; k < to; k++)
 *                     work(a, i, k);              (element k of row i - 1 is that of this step, of row i + 1 the last one's)
 *     }
 *
 * halo  >= 0: so many rows on both sides are needed, as in lb_loop_stepped; elements  >= 1
 *
 * All that is said of stepped loops holds, but that lb_loop_next_block takes the place of lb_loop_next, which returns 0.
 *
 * Returns 0, -EINVAL, -EBUSY (the loop has started, or is stepped), -ENOMEM.
 */
int lb_loop_doacross(lb_loop *l, int64_t halo, int64_t elements);

/*
 * Let the rows of an array of a pipelined loop flow: in a step elements [from, to) of the `halo` rows before the block come
 * when the ranks before have computed them.  Of the rows after it lb_loop_exchange brings what the last step left.  Other
 * arrays of the loop are exchanged as in a stepped one.  Collective; before the loop starts.
 *
 * base[in]  as given to lb_loop_array, with rows of a multiple of `elements` bytes
 *
 * Returns 0, -EINVAL (not so, or not a pipelined loop), -EBUSY (the loop has started).
 */
int lb_loop_flow(lb_loop *l, const void *base);

/*
 * Let rows of a pipelined loop change hands within a step as well, after the same element of all of them: for steps that take
 * seconds, or loops of one.  What was computed of a row goes with it, so what the program keeps for a row from one part of the
 * step to the next has to be in arrays of the loop, or packed.  Within a step nothing else of the context is called that is
 * collective.  Collective; after lb_loop_doacross, before the loop starts.
 *
 * It depends on the steps' length, and on what is found in the first one, whether and where rows do; not with a block size
 * or a synchronous mode that a person has set, nor where ranks own nothing at first.
 *
 * Returns 0, -EINVAL (not a pipelined loop), -EBUSY (the loop has started).
 */
int lb_loop_joints(lb_loop *l);

/*
 * The next part of a step: elements [from, to) of all rows [first, last) of this rank, in ascending order.  It waits for
 * what flows here, and sends on what the part before has computed.
 *
 * Returns 1, or 0 when the step is over; 0 at once on a rank that owns nothing, and for other kinds of loops.  After
 * lb_loop_joints the rows may be others than those of the part before, and `from` behind where that ended, or not 0 at first;
 * a rank that owns nothing waits here while it may still get rows in this step.
 */
int lb_loop_next_block(lb_loop *l, int64_t *first, int64_t *last, int64_t *from, int64_t *to);

/*
 * How many elements go from rank to rank at once in this step (the last time it may be fewer), the same on all ranks that
 * own something: chosen by what computing and messages take, for which it is small in the first step; it may change in
 * lb_loop_exchange, and after lb_loop_joints in lb_loop_next_block, where rows change hands.  Parts of lb_loop_next_block
 * have as many, or fewer where the rank has found that it computes them faster so.  0 for other kinds of loops.
 */
int64_t lb_loop_block(const lb_loop *l);

/*
 * The next rank before (side -1) or after (1) this one in a stepped or pipelined loop that owns iterations: those that own
 * none are passed over.  -1: there is none, or this rank owns none, or it is another kind of loop.
 */
int lb_loop_neighbour(const lb_loop *l, int side);

/* The rank that owns iteration i of a stepped or pipelined loop; -1 for another loop or no such iteration. */
int lb_loop_owner(const lb_loop *l, int64_t i);

/*
 * Forget the loop.  Collective; arrays are left alone.  NULL is fine.  Within a pass: this rank's
 * iterations that were not handed out are dropped, and the other ranks are waited for.  A stepped or
 * pipelined loop is closed by all ranks together, after equally many steps: when some go on with it,
 * their next lb_loop_exchange says -EIO, after a second at most of waiting for one that has closed.
 * A free-running loop that is balanced is closed after equally many passes: when some begin another,
 * it ends for them with the iterations that they have, and lb_error says -EIO on all ranks.
 */
void lb_loop_close(lb_loop *l);

/*
 * Memory for n rows of row_bytes, of which only the touched ones take up memory; rows that move
 * away are given back to the system, by whole pages, unless two loops move them.  Where a rank's
 * even share of them is 1 MiB or more, pages are of 2 MiB if the system has them (transparent huge
 * pages, not switched off), and start with the first row.  Zero at first.
 *
 * Returns NULL when out of address space or the size overflows.  Free with lb_array_free.
 */
void *lb_array_alloc(lb_ctx *ctx, int64_t n, size_t row_bytes);
void lb_array_free(lb_ctx *ctx, void *base); /* NULL is fine */

/* What happened to this rank in this loop so far; times in seconds. */
struct lb_stats {
    size_t struct_bytes;    /* set by the caller: sizeof(struct lb_stats) */
    int64_t passes;         /* ended */
    int64_t iterations;     /* handed out here */
    int64_t iterations_in;  /* came from other ranks */
    int64_t iterations_out; /* went to other ranks */
    int64_t moves_in, moves_out;
    int64_t bytes_in, bytes_out; /* of rows */
    int64_t hooks;               /* calls that spoke with the balancer or looked for rows */
    double compute_s;            /* elapsed between a chunk and the next call */
    double cpu_s;                /* CPU time of the process in the same intervals */
    double wait_s;               /* waiting at the end of passes; in lb_loop_exchange */
    double library_s;            /* spent in lb_loop_next otherwise */
};

/* Returns 0 or -EINVAL. */
int lb_loop_stats(const lb_loop *l, struct lb_stats *ret_stats);

#ifdef __cplusplus
}
#endif
#endif
