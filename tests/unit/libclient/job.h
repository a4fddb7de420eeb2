/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small job on a world: each rank runs some loops some passes over, with rows that show by their
 * contents whether they are the right ones, and everything is counted.
 */
#ifndef TEST_JOB_H
#define TEST_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/unit/libclient/mind.h"

struct job {
    int size, loops, passes;
    int64_t n;
    uint64_t seed;
    bool balanced;
    enum mind_end end;
    int after;            /* messages until the balancer's end */
    int fail_sends;       /* see world_fail_sends */
    unsigned fail_memory; /* see fault_arm */
    bool leave_early;     /* some ranks break out of the last pass and close */
    bool uneven_first;    /* random weights */
    int64_t test_chunk, grain;
    int64_t sync_ns; /* see struct crew_config */
    int lose;        /* see struct mind_config */
};

struct job_result {
    int64_t missing, duplicated; /* iterations, over all passes and loops */
    int64_t bad_rows; /* not what the iteration expects, or at the end not what was computed */
    int64_t not_partitioned; /* iterations not owned by exactly one rank after a pass */
    int64_t errors, moved, leftovers;
    int64_t asked, answered;
    struct mind_sums mind;
};

struct job_result job_run(const struct job *j);

#endif
