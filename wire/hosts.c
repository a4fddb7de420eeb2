/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of a list of hosts. */
#include "wire/hosts.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "wire/flat.h"

#define HOST_FIELDS 7

/* Host names are printed, logged, put into labels and files: letters, digits, dot, dash,
 * underscore. */
bool lbw_host_name_valid(const char *name)
{
    static const char valid[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";

    return name[0] && name[strspn(name, valid)] == '\0';
}

static bool is_positive(double v)
{
    return isfinite(v) && v > 0;
}

static bool is_valid_host(const struct lbw_local_host *h)
{
    return memchr(h->host, 0, sizeof(h->host)) && lbw_host_name_valid(h->host) &&
           is_positive(h->core_speed) && is_positive(h->capacity) && is_positive(h->hardware) &&
           isfinite(h->index) && h->stable_ns >= 0 && h->age_ns >= 0;
}

void lbw_hosts_write(struct lbw_writer *w, const struct lbw_local_hosts *hosts)
{
    lbw_write_u64(w, hosts->more);
    lbw_write_u64(w, hosts->n);
    for (size_t i = 0; i < hosts->n; i++) {
        const struct lbw_local_host *h = &hosts->host[i];

        lbw_write_str(w, h->host);
        lbw_write_f64(w, h->core_speed);
        lbw_write_f64(w, h->capacity);
        lbw_write_f64(w, h->hardware);
        lbw_write_f64(w, h->index);
        lbw_write_i64(w, h->stable_ns);
        lbw_write_i64(w, h->age_ns);
    }
}

size_t lbw_hosts_fields(const struct lbw_local_hosts *hosts)
{
    return 2 + HOST_FIELDS * hosts->n;
}

bool lbw_hosts_valid(const struct lbw_local_hosts *hosts)
{
    if (hosts->more > 1 || hosts->n > LBW_LOCAL_HOSTS_MAX)
        return false;
    for (size_t i = 0; i < hosts->n; i++)
        if (!is_valid_host(&hosts->host[i]))
            return false;
    return true;
}

void lbw_hosts_read(struct lbw_reader *r, struct lbw_local_hosts *ret_hosts)
{
    ret_hosts->more = (uint32_t)lbw_read_u64(r, 1);
    ret_hosts->n = (size_t)lbw_read_u64(r, LBW_LOCAL_HOSTS_MAX);
    for (size_t i = 0; i < ret_hosts->n && !r->bad; i++) {
        struct lbw_local_host *h = &ret_hosts->host[i];

        lbw_read_str(r, h->host, sizeof(h->host));
        h->core_speed = lbw_read_f64(r, 0, DBL_MAX);
        h->capacity = lbw_read_f64(r, 0, DBL_MAX);
        h->hardware = lbw_read_f64(r, 0, DBL_MAX);
        h->index = lbw_read_f64(r, -DBL_MAX, DBL_MAX);
        h->stable_ns = lbw_read_i64(r, 0, INT64_MAX);
        h->age_ns = lbw_read_i64(r, 0, INT64_MAX);
        if (!is_valid_host(h))
            r->bad = true;
    }
}
