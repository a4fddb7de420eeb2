/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of idle hosts. */
#include "wire/idle.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "wire/claims.h"
#include "wire/flat.h"

#define HOST_FIELDS 6

static bool is_positive(double x)
{
    return isfinite(x) && x > 0;
}

static bool is_valid(const struct lbw_local_idle_host *h)
{
    return memchr(h->host, 0, sizeof(h->host)) && lbw_host_name_valid(h->host) && h->cpus > 0 &&
           h->cpus <= LBW_LOCAL_CLAIM_MOST && is_positive(h->core_speed) &&
           is_positive(h->capacity) && isfinite(h->claimed) && h->claimed >= 0 &&
           h->claimed <= LBW_LOCAL_CLAIM_MOST && h->held_cpus <= LBW_LOCAL_CLAIM_MOST;
}

void lbw_idle_write(struct lbw_writer *w, const struct lbw_local_idle *idle)
{
    lbw_write_i64(w, idle->age_ns);
    lbw_write_u64(w, idle->generation);
    lbw_write_u64(w, idle->n);
    for (size_t i = 0; i < idle->n; i++) {
        const struct lbw_local_idle_host *h = &idle->host[i];

        lbw_write_str(w, h->host);
        lbw_write_u64(w, h->cpus);
        lbw_write_f64(w, h->core_speed);
        lbw_write_f64(w, h->capacity);
        lbw_write_f64(w, h->claimed);
        lbw_write_u64(w, h->held_cpus);
    }
}

size_t lbw_idle_fields(const struct lbw_local_idle *idle)
{
    return HOST_FIELDS * idle->n;
}

bool lbw_idle_valid(const struct lbw_local_idle *idle)
{
    if (idle->n > LBW_LOCAL_HOSTS_MAX || idle->age_ns < 0)
        return false;
    for (size_t i = 0; i < idle->n; i++)
        if (!is_valid(&idle->host[i]))
            return false;
    return true;
}

void lbw_idle_read(struct lbw_reader *r, struct lbw_local_idle *ret_idle)
{
    ret_idle->age_ns = lbw_read_i64(r, 0, INT64_MAX);
    ret_idle->generation = lbw_read_u64(r, UINT64_MAX);
    ret_idle->n = (size_t)lbw_read_u64(r, LBW_LOCAL_HOSTS_MAX);
    for (size_t i = 0; i < ret_idle->n && !r->bad; i++) {
        struct lbw_local_idle_host *h = &ret_idle->host[i];

        lbw_read_str(r, h->host, sizeof(h->host));
        h->cpus = (uint32_t)lbw_read_u64(r, LBW_LOCAL_CLAIM_MOST);
        h->core_speed = lbw_read_f64(r, 0, DBL_MAX);
        h->capacity = lbw_read_f64(r, 0, DBL_MAX);
        h->claimed = lbw_read_f64(r, 0, LBW_LOCAL_CLAIM_MOST);
        h->held_cpus = (uint32_t)lbw_read_u64(r, LBW_LOCAL_CLAIM_MOST);
        if (!is_valid(h))
            r->bad = true;
    }
}
