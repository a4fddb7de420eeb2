/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a context: what the files of liblb share of it. */
#ifndef LBC_CTX_H
#define LBC_CTX_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "libclient/launch.h"
#include "libclient/lb.h"
#include "libclient/link.h"
#include "libclient/pmix.h"
#include "libclient/transport.h"

#define LBC_EXPECT_NS (500 * LBX_NS_PER_MS) /* what is announced is looked for so long */

struct lbc_array;
struct lbc_give;
struct lbc_in;
struct lbc_out;

/* Of a context's patience: until a rank that waits asks others or tells them of it, and for those that are told to take it. */
#define LBC_TELL_PART 30

#define LBC_VOTES 9 /* values of a vote, see apart.h */

struct lb_ctx {
    int rank, size;
    struct lbc_transport *transport; /* owned; NULL: rows cannot move */

    /*
     * The job has a balancer.  The same on all ranks, and for the whole life of the context, even
     * when the balancer is lost: the ranks end every pass by a barrier of their own, and either all
     * enter it or none.  False: loops are static and nobody waits.
     */
    bool balanced;
    bool moving; /* rows of a stepped loop are changing their owner */
    bool failed; /* the transport failed: the job's end is near, and nothing is waited for any more
                  */

    struct lbc_link link; /* to the balancer; closed when it is lost */
    bool told_lost;       /* rank 0 has said that the balancer is lost */
    int64_t sync_ns;      /* key sync: how long a rank waits for an answer at most; 0: not at all */
    int64_t asked, answered; /* reports that waited for an answer; of them, those that got it */
    int64_t patience_ns;     /* so long a rank waits for another's step before it says so */
    int64_t grain;           /* key grain: iterations of a chunk, elements of a block; 0: automatic.
                                The same on all ranks */
    bool report;             /* the summary is wanted; the same on all ranks */
    bool published;          /* the policy is siegell or liu; the same on all ranks */
    bool own_balancer;       /* rank 0 started it: it ends with rank 0; the same on all ranks */
    struct lbc_pmix pmix;
    struct lbc_launch launch; /* of rank 0 */
    double *weight;           /* [size], owned; NULL: all ranks are alike */

    /* Where this rank is, and where others are that it may wait for, see apart.h. */
    struct lb_loop *voting; /* whose vote is under way, see vote.h; NULL: none */
    uint32_t votes, voted;  /* reductions entered so far, and those of them that are over */
    uint32_t collects;      /* entered so far; the same number is the same one on all ranks */
    /* Another one takes no part after these; UINT32_MAX: it may. */
    uint32_t gone_votes, gone_collects;
    uint32_t asked_vote, asked_collect; /* others were asked about */
    bool given_up;                      /* by another one, with all its loops */
    bool apart;                         /* this rank has closed what others go on with, */
    int told_ranks;                     /* of which it has told so many, or has not to, */
    int64_t settle_ns;       /* and waits until then for them to know; 0: has not told them */
    int64_t vote[LBC_VOTES]; /* while the ranks take the least */

    uint32_t nloops;      /* opened so far: the next one's number */
    struct lb_loop *loop; /* those open, the newest first */
    struct lbc_array *array;
    struct lbc_in *in;             /* transfers coming in, in order of arrival */
    struct lbc_out *out;           /* transfers going out */
    struct lbc_give *give;         /* moves that go out piece by piece */
    int64_t packed_out, packed_in; /* bytes of packed data in memory, see packed.h */
    bool receiving;                /* rows of one coming in are on their way into memory */
    int expected; /* transfers that the balancer has announced and that are not here yet */
    int64_t expect_until_ns; /* one that has not come by then may have been refused at its source */
    int64_t looked_ns;       /* when transfers were looked for last */
    struct lbw_rank_msg *msg; /* scratch for one message; owned */

    int64_t test_chunk; /* LB_TEST_CHUNK: iterations in a chunk, 0: by time */
    int64_t test_block; /* LB_TEST_BLOCK: elements in a block of a pipelined loop, 0: automatic */
    int64_t test_legs;  /* LB_TEST_LEGS: of a pass with joints, 0: automatic */
    int64_t test_delay_ns; /* LB_TEST_DELAY: CPU time that each of its messages costs more */
    bool
        test_unvoted; /* LB_TEST_UNVOTED: stepped loops take no votes, so that no layout comes into force */

    /* Of closed loops, for the summary. */
    struct {
        int64_t loops, passes, iterations, moves, bytes, compute_ns, wait_ns, library_ns;
    } closed;
};

/*
 * A context over an existing transport and connection.  For lb_init, and for tests.
 * transport  transferred, may be NULL; link  transferred, see lbc_link
 * weight[in]  [size], copied; NULL: all alike
 * Returns NULL when out of memory (nothing was transferred then).
 */
struct lb_ctx *lbc_ctx_create(int rank, int size, struct lbc_transport *transport, bool balanced,
                              const struct lbc_link *link, const double *weight);

/* What this rank's host is worth; each 0 where it is unknown.  See struct lbw_join. */
struct lbc_worth {
    double weight, hardware;
    int64_t stable_ns;
};

/* Say LB_JOIN with this host's name and worth. */
void lbc_ctx_join(struct lb_ctx *ctx, const struct lbc_worth *worth);

/* To be called where link.lost may have become true: closes it, and rank 0 says so once. */
void lbc_ctx_check_link(struct lb_ctx *ctx);

/* The transport does not work any more: what is under way is given up, in the next lbc_exchange_poll or at the end. */
void lbc_ctx_fail(struct lb_ctx *ctx);

/* Is there a balancer to be waited for, in the synchronous mode? */
bool lbc_ctx_is_sync(const struct lb_ctx *ctx);

/* Sleep a little, shorter when something is likely to happen soon; waited_ns: so far. */
void lbc_ctx_pause(const struct lb_ctx *ctx, int64_t waited_ns);

/* Enter a barrier and wait for it, serving what comes in meanwhile.  Returns 0 or -EIO. */
int lbc_ctx_barrier(struct lb_ctx *ctx);

#endif
