/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of a list of claims. */
#include "wire/claims.h"

#include <math.h>
#include <string.h>

#include "wire/flat.h"

#define CLAIM_FIELDS 3

static bool is_valid(const struct lbw_local_claim *c)
{
    return memchr(c->host, 0, sizeof(c->host)) && lbw_host_name_valid(c->host) &&
           isfinite(c->tasks) && c->tasks >= 0 && c->tasks <= LBW_LOCAL_CLAIM_MOST &&
           c->cpus <= LBW_LOCAL_CLAIM_MOST;
}

void lbw_claims_write(struct lbw_writer *w, const struct lbw_local_claims *claims)
{
    lbw_write_u64(w, claims->generation);
    lbw_write_u64(w, claims->jobid);
    lbw_write_u64(w, claims->n);
    for (size_t i = 0; i < claims->n; i++) {
        lbw_write_str(w, claims->claim[i].host);
        lbw_write_f64(w, claims->claim[i].tasks);
        lbw_write_u64(w, claims->claim[i].cpus);
    }
}

size_t lbw_claims_fields(const struct lbw_local_claims *claims)
{
    return CLAIM_FIELDS * claims->n;
}

bool lbw_claims_valid(const struct lbw_local_claims *claims)
{
    if (claims->n > LBW_LOCAL_HOSTS_MAX)
        return false;
    for (size_t i = 0; i < claims->n; i++)
        if (!is_valid(&claims->claim[i]))
            return false;
    return true;
}

void lbw_claims_read(struct lbw_reader *r, struct lbw_local_claims *ret_claims)
{
    ret_claims->generation = lbw_read_u64(r, UINT64_MAX);
    ret_claims->jobid = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    ret_claims->n = (size_t)lbw_read_u64(r, LBW_LOCAL_HOSTS_MAX);
    for (size_t i = 0; i < ret_claims->n && !r->bad; i++) {
        struct lbw_local_claim *c = &ret_claims->claim[i];

        lbw_read_str(r, c->host, sizeof(c->host));
        c->tasks = lbw_read_f64(r, 0, LBW_LOCAL_CLAIM_MOST);
        c->cpus = (uint32_t)lbw_read_u64(r, LBW_LOCAL_CLAIM_MOST);
        if (!is_valid(c))
            r->bad = true;
    }
}
