/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranking of the hosts. */
#include "lbd/controller/rank.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_NS LBD_RANKING_UNUSED_NS /* a host not heard of for so long is not ranked */

static int compare_hosts(const void *a, const void *b)
{
    const struct lbw_local_host *x = a, *y = b;

    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return strcmp(x->host, y->host);
}

static double index_of(const struct lbp_index_weights *weights, const struct lbd_host *h)
{
    const struct lbw_node_report *r = &h->report;

    return lbp_index(weights, r->hardware_s, h->prospect.workload_ratio, r->users, r->terminals,
                     r->fresh_tasks);
}

int lbd_rank_hosts(struct lbd_host *host, size_t nhost, const struct lbp_index_weights *weights,
                   struct lbd_ranking *ranking, int64_t now_ns, int64_t now_s)
{
    struct lbw_local_host *list = malloc((nhost ? nhost : 1) * sizeof(*list));
    struct lbw_local_hosts *part = malloc(sizeof(*part));
    size_t n = 0, first = 0;
    int rc = list && part ? 0 : -ENOMEM;

    for (size_t i = 0; i < nhost && rc == 0; i++) {
        struct lbd_host *h = &host[i];

        if (!h->reported || now_ns - h->at_ns > UNKNOWN_NS || h->slurm > LBD_SLURM_UP)
            continue;
        lbd_outlook_apply(h->outlook, &h->report, now_s, &h->prospect);
        h->index = index_of(weights, h);
        list[n] = (struct lbw_local_host){.core_speed = h->prospect.core_speed,
                                          .capacity = h->prospect.capacity,
                                          .hardware = h->report.hardware,
                                          .index = h->index,
                                          .stable_ns = h->prospect.stable_ns,
                                          .age_ns = now_ns > h->at_ns ? now_ns - h->at_ns : 0};
        memcpy(list[n++].host, h->name, sizeof(h->name));
    }
    if (rc == 0)
        qsort(list, n, sizeof(*list), compare_hosts);
    lbd_ranking_drop_part(ranking);
    while (rc == 0) {
        part->n = n - first > LBW_LOCAL_HOSTS_MAX ? LBW_LOCAL_HOSTS_MAX : n - first;
        memcpy(part->host, list + first, part->n * sizeof(*list));
        first += part->n;
        part->more = first < n;
        rc = lbd_ranking_part(ranking, part, now_ns);
        if (!part->more)
            break;
    }
    free(list);
    free(part);
    return rc;
}
