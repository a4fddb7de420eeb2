/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A balancer out of its mind: tells ranks at random to move what they have and what they have not,
 * repeats itself, speaks of other passes and loops, and dies when it is told to.  Right in one
 * thing: every pass gets its FINAL in the end.
 *
 * With LB_TEST_OWN in the environment it tells each rank its own block alone of a layout, as a balancer of many ranks does.
 */
#ifndef TEST_MIND_H
#define TEST_MIND_H

#include <stdbool.h>
#include <stdint.h>

enum mind_end {
    MIND_LIVES,
    MIND_CLOSES,  /* the connections break off */
    MIND_STOPS,   /* it says STOP */
    MIND_GARBAGE, /* it sends what is no frame */
    MIND_SILENT,  /* it neither reads nor writes any more */
    MIND_ENDS
};

struct mind_config {
    int size, loops_max;
    uint64_t seed;
    int64_t n;
    enum mind_end end;
    int after;        /* messages received before the end */
    int after_closes; /* or so many that say a loop is closed; 0: does not count them */
    int tells_closed; /* so many ranks hear of the first of those, from the last one on; the others do not */
    bool contradicts; /* tells ranks different layouts */
    int64_t elements; /* of a row of a pipelined loop; 0: it is none */
    bool
        sync; /* reports and steps wait for an answer: each gets one, after others that answer nothing, */
    bool published; /* the ranks tell of a layout with their next step */
    int lose_layouts; /* each such layout does not reach one rank, and is told again; 0: none is lost */
    int lose;         /* but each such one of them; 0: none is lost */
};

struct mind;

/* Starts its thread.  fd_of_rank[out] [size]: the ranks' ends, transferred. */
struct mind *mind_start(const struct mind_config *config, int *ret_fd_of_rank);

/* What it did; call after the ranks are through.  Frees it. */
struct mind_sums {
    int64_t messages, moves_told, sent, received, refused, dry, low, opens, closes, leaves, wrong;
    int64_t again;          /* layouts told again */
    int64_t waits;          /* reports that waited for an answer, steps not counted */
    int64_t steps, layouts; /* of stepped loops: told by ranks, told to them */
};
struct mind_sums mind_join(struct mind *m);

#endif
