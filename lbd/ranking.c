/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts, best first, as last heard. */
#include "lbd/ranking.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void lbd_ranking_fini(struct lbd_ranking *r)
{
    if (!r)
        return;
    free(r->host);
    free(r->next);
    memset(r, 0, sizeof(*r));
}

void lbd_ranking_drop_part(struct lbd_ranking *r)
{
    r->nnext = 0;
}

static int reserve(struct lbd_ranking *r, size_t n)
{
    size_t size = r->next_size ? r->next_size : 16;
    struct lbw_local_host *next;

    if (n > LBD_RANKING_HOSTS_MAX)
        return -ENOSPC;
    if (n <= r->next_size)
        return 0;
    while (size < n)
        size *= 2;
    next = realloc(r->next, size * sizeof(*next));
    if (!next)
        return -ENOMEM;
    r->next = next;
    r->next_size = size;
    return 0;
}

int lbd_ranking_part(struct lbd_ranking *r, const struct lbw_local_hosts *part, int64_t now_ns)
{
    int rc = reserve(r, r->nnext + part->n);

    if (rc < 0) {
        r->nnext = 0;
        return rc;
    }
    if (part->n > 0)
        memcpy(r->next + r->nnext, part->host, part->n * sizeof(part->host[0]));
    r->nnext += part->n;
    if (part->more)
        return 0;
    free(r->host);
    r->host = r->next;
    r->n = r->nnext;
    r->at_ns = now_ns;
    r->next = NULL;
    r->nnext = r->next_size = 0;
    return 0;
}

int64_t lbd_ranking_age_ns(const struct lbd_ranking *r, int64_t now_ns)
{
    return r->at_ns ? now_ns - r->at_ns : INT64_MAX;
}

void lbd_ranking_get(const struct lbd_ranking *r, size_t *first, int64_t now_ns,
                     struct lbw_local_hosts *ret_hosts)
{
    int64_t age_ns = lbd_ranking_age_ns(r, now_ns);
    size_t n = r->n - *first;

    if (n > LBW_LOCAL_HOSTS_MAX)
        n = LBW_LOCAL_HOSTS_MAX;
    ret_hosts->n = n;
    for (size_t i = 0; i < n; i++) {
        struct lbw_local_host *h = &ret_hosts->host[i];

        *h = r->host[*first + i];
        h->age_ns = h->age_ns > INT64_MAX - age_ns ? INT64_MAX : h->age_ns + age_ns;
    }
    *first += n;
    ret_hosts->more = *first < r->n;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int lbd_ranking_among(const struct lbd_ranking *r, char *names, int64_t now_ns,
                      struct lbw_local_hosts *ret_hosts)
{
    int64_t age_ns = lbd_ranking_age_ns(r, now_ns);
    size_t most = 1, n = 0;
    char **name, *save = NULL;

    for (const char *c = names; *c; c++)
        most += *c == ',';
    name = malloc(most * sizeof(*name));
    if (!name)
        return -ENOMEM;
    for (char *at = strtok_r(names, ",", &save); at; at = strtok_r(NULL, ",", &save))
        name[n++] = at;
    qsort(name, n, sizeof(*name), compare_names);
    ret_hosts->n = 0;
    ret_hosts->more = 0;
    for (size_t i = 0; i < r->n && n > 0 && ret_hosts->n < LBW_LOCAL_HOSTS_MAX; i++) {
        const struct lbw_local_host *h = &r->host[i];
        const char *key = h->host;

        if (age_ns > LBD_RANKING_UNUSED_NS || h->age_ns > LBD_RANKING_UNUSED_NS - age_ns ||
            !bsearch(&key, name, n, sizeof(*name), compare_names))
            continue;
        ret_hosts->host[ret_hosts->n] = *h;
        ret_hosts->host[ret_hosts->n++].age_ns += age_ns;
    }
    free(name);
    return 0;
}

int64_t lbd_ranking_stable_ns(const struct lbd_ranking *r, const char *host, int64_t now_ns)
{
    if (lbd_ranking_age_ns(r, now_ns) > LBD_RANKING_UNUSED_NS)
        return 0;
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->host[i].host, host) == 0)
            return r->host[i].stable_ns;
    return 0;
}
