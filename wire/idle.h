/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of idle hosts. */
#ifndef LBW_IDLE_H
#define LBW_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/hosts.h"

/* Hosts where Slurm can start a job at once, and which lbd can rank: the best ones, in Slurm's order. */
struct lbw_local_idle {
    int64_t age_ns; /* since Slurm was asked, >= 0 */
    uint64_t
        generation; /* of the newest claim that is counted here, as in struct lbw_local_claims */
    size_t n;
    struct lbw_local_idle_host {
        char host[LBW_LOCAL_HOST_MAX];
        uint32_t cpus; /* > 0 */
        double core_speed, capacity;
        double claimed;     /* as tasks and cpus in struct lbw_local_claim */
        uint32_t held_cpus; /* likewise */
    } host[LBW_LOCAL_HOSTS_MAX];
};

/* Its fields in a message; within wire/ only. */
void lbw_idle_write(struct lbw_writer *w, const struct lbw_local_idle *idle);
size_t lbw_idle_fields(const struct lbw_local_idle *idle); /* beside those that each has */
bool lbw_idle_valid(const struct lbw_local_idle *idle);
/* What is wrong sets r->bad. */
void lbw_idle_read(struct lbw_reader *r, struct lbw_local_idle *ret_idle);

#endif
