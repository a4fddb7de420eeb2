/* SPDX-License-Identifier: BSD-3-Clause */
/* The balanced job steps that run. */
#include "lbd/controller/running.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

void lbd_running_fini(struct lbd_running *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        free(r->entry[i].job);
    free(r->entry);
    *r = (struct lbd_running){0};
}

static void remove_at(struct lbd_running *r, size_t i)
{
    free(r->entry[i].job);
    r->n--;
    memmove(&r->entry[i], &r->entry[i + 1], (r->n - i) * sizeof(*r->entry));
}

static size_t find(const struct lbd_running *r, uint32_t from, const struct lbw_job *job)
{
    size_t i = 0;

    while (i < r->n && (r->entry[i].from != from || r->entry[i].job->jobid != job->jobid ||
                        r->entry[i].job->stepid != job->stepid))
        i++;
    return i;
}

static int make_room(struct lbd_running *r)
{
    size_t size = r->size ? 2 * r->size : 16;
    struct lbd_running_job *entry;

    if (r->n < r->size)
        return 0;
    if (r->n >= LBD_RUNNING_MAX)
        return -1;
    entry = realloc(r->entry, size * sizeof(*entry));
    if (!entry)
        return -1;
    r->entry = entry;
    r->size = size;
    return 0;
}

void lbd_running_take(struct lbd_running *r, uint32_t from, const struct lbw_job *job,
                      int64_t now_ns)
{
    size_t i = find(r, from, job), bytes = lbw_job_bytes(job);
    struct lbw_job *copy;

    if (job->ended) {
        if (i < r->n)
            remove_at(r, i);
        return;
    }
    if (i == r->n && make_room(r) < 0)
        return;
    copy = malloc(bytes);
    if (!copy)
        return;
    memcpy(copy, job, bytes);
    if (i == r->n)
        r->n++;
    else
        free(r->entry[i].job);
    r->entry[i] = (struct lbd_running_job){from, now_ns - job->age_ns, copy};
}

void lbd_running_expire(struct lbd_running *r, int64_t now_ns)
{
    for (size_t i = r->n; i-- > 0;)
        if (now_ns - r->entry[i].at_ns > LBD_RUNNING_SILENT_S * LBX_NS_PER_S)
            remove_at(r, i);
}
