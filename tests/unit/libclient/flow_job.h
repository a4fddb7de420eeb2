/* SPDX-License-Identifier: BSD-3-Clause */
/* A small job whose ranks run a pipelined loop, with rows that show by their contents whether they are the right ones. */
#ifndef TEST_FLOW_JOB_H
#define TEST_FLOW_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/unit/libclient/crew.h"

struct flow_job {
    int size;
    int64_t n, halo, elements, test_block, grain, legs; /* legs: 0: without joints */
    uint64_t seed;
    bool balanced, published, contradicts, uneven_first, leaves;
    enum mind_end end;
    int after;
    unsigned fail_memory;
    int64_t sync_ns;           /* see struct crew_config */
    int lose;                  /* see struct mind_config */
    int64_t work_ns, delay_ns; /* CPU time of an element in the first step, of sending a message */
    int64_t wide_ns; /* CPU time of an element in each step, and again in parts of more than two */
    int64_t *
        within; /* NULL, or: votes are entered in the step before an exchange, by every second rank at least; counts them */
    int slow_first; /* rank 0 takes so many times that for an element; 0: as the others */
};

struct flow_result {
    struct crew_result crew;
    int64_t strips;  /* parts that end before their block */
    int64_t most;    /* elements of the largest block */
    int64_t flow_ns; /* CPU time that went into messages, of all ranks */
    int64_t within;  /* how often a rank had other rows than before within a step */
};

/*
 * Runs it and asserts that every element ran once in every step, with the serial result; returns how many iterations moved.
 * ret_result may be NULL.
 */
int64_t flow_job_right(const struct flow_job *j, struct flow_result *ret_result);

#endif
