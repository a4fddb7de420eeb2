/* SPDX-License-Identifier: BSD-3-Clause */
/* A small job whose ranks run a stepped loop, with rows that show by their contents whether they are the right ones. */
#ifndef TEST_STEPPED_JOB_H
#define TEST_STEPPED_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/unit/libclient/crew.h"

struct stepped_job {
    int size;
    int64_t n, halo;
    uint64_t seed;
    bool balanced, contradicts, uneven_first;
    enum mind_end end;
    int after;
    unsigned fail_memory;
    int64_t sync_ns;        /* see struct crew_config */
    int lose, lose_layouts; /* see struct mind_config */
    /* counts, on all ranks, exchanges that left a vote under way, and has steps be taken for short ones, however slow this
     * machine is, as votes of long ones are taken at once; NULL: nobody asks */
    int64_t *late;
    /* counts, on all ranks, steps at whose end the next exchange's vote was entered: every second rank does so as soon as may be, the
     * others leave it to the exchange; NULL: nobody asks */
    int64_t *early;
    /* words in a row of the widest array, and counts, on all ranks, its pages that are kept though there is no row of theirs on them; NULL:
     * nobody asks */
    size_t wide;
    int64_t *kept;
};

/*
 * Runs it and asserts that every iteration ran once in every step, with the serial result; returns how many iterations moved.
 * ret_crew may be NULL.
 */
int64_t stepped_job_right(const struct stepped_job *j, struct crew_result *ret_crew);

#endif
