/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of claims, which messages of two protocols hold. */
#ifndef LBW_CLAIMS_H
#define LBW_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/hosts.h"

#define LBW_LOCAL_CLAIM_ANYHOW UINT64_MAX
#define LBW_LOCAL_CLAIM_MOST 1000000 /* tasks, CPUs */

/* Tasks that a placement has sent to hosts and that do not show in their load yet. */
struct lbw_local_claims {
    uint64_t
        generation; /* CLAIM: of the newest CLAIMS that was regarded, 0: of none; CLAIMS: of this one */
    uint32_t jobid; /* CLAIM: whose CPUs they take; 0: of a job that is to come */
    size_t n;
    struct lbw_local_claim {
        char host[LBW_LOCAL_HOST_MAX];
        double tasks;  /* >= 0; less the longer ago */
        uint32_t cpus; /* CLAIMS: of those that a step of the job asking cannot have */
    } claim[LBW_LOCAL_HOSTS_MAX];
};

/* Its fields in a message; within wire/ only. */
void lbw_claims_write(struct lbw_writer *w, const struct lbw_local_claims *claims);
size_t lbw_claims_fields(const struct lbw_local_claims *claims); /* beside those that each has */
bool lbw_claims_valid(const struct lbw_local_claims *claims);
/* What is wrong sets r->bad. */
void lbw_claims_read(struct lbw_reader *r, struct lbw_local_claims *ret_claims);

#endif
