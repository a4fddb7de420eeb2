/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of the store: rows that wait to be written, and the tickets of those that were. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lbd/controller/store_impl.h"

void lbd_rows_free(struct lbd_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (row[i].kind == ROW_JOB)
            free(row[i].u.job);
}

static uint64_t put(struct lbd_store *s, const struct lbd_row *row)
{
    uint64_t ticket = 0;

    pthread_mutex_lock(&s->lock);
    if (s->n == s->size && s->n < 2 * LBD_STORE_ROWS_MAX) {
        size_t size = s->size ? 2 * s->size : 16;
        struct lbd_row *queue = realloc(s->queue, size * sizeof(*queue));

        if (queue) {
            s->queue = queue;
            s->size = size;
        }
    }
    if (s->n < s->size) {
        s->queue[s->n++] = *row;
        ticket = s->next_ticket++;
        if (s->n == 1)
            pthread_cond_signal(&s->wake);
    } else {
        s->stats.dropped++;
    }
    pthread_mutex_unlock(&s->lock);
    return ticket;
}

uint64_t lbd_store_put_host(struct lbd_store *s, uint32_t index, const struct lbd_db_host *host)
{
    struct lbd_row row = {.kind = ROW_HOST, .index = index, .u.host = *host};

    return put(s, &row);
}

uint64_t lbd_store_put_report(struct lbd_store *s, uint32_t index, int64_t at_s,
                              const struct lbw_node_report *report)
{
    struct lbd_row row = {.kind = ROW_REPORT, .index = index, .at_s = at_s, .u.report = *report};

    return put(s, &row);
}

uint64_t lbd_store_put_event(struct lbd_store *s, uint32_t index, int64_t at_s, const char *what,
                             const char *detail)
{
    struct lbd_row row = {.kind = ROW_EVENT, .index = index, .at_s = at_s};

    snprintf(row.u.event.what, sizeof(row.u.event.what), "%s", what);
    snprintf(row.u.event.detail, sizeof(row.u.event.detail), "%s", detail);
    return put(s, &row);
}

uint64_t lbd_store_put_job(struct lbd_store *s, const struct lbd_db_job *job)
{
    struct lbd_db_job *copy = malloc(sizeof(*copy) + job->nhost * sizeof(*copy->host));
    struct lbd_row row = {.kind = ROW_JOB, .index = UINT32_MAX, .at_s = job->ended_s};
    uint64_t ticket;

    if (!copy) {
        pthread_mutex_lock(&s->lock);
        s->stats.dropped++;
        pthread_mutex_unlock(&s->lock);
        return 0;
    }
    *copy = *job;
    copy->host = (struct lbd_db_job_host *)(copy + 1);
    if (job->nhost > 0)
        memcpy(copy->host, job->host, job->nhost * sizeof(*copy->host));
    row.u.job = copy;
    ticket = put(s, &row);
    if (ticket == 0)
        free(copy);
    return ticket;
}

uint64_t lbd_store_committed(struct lbd_store *s, uint64_t *ret_dropped)
{
    uint64_t ticket;

    pthread_mutex_lock(&s->lock);
    ticket = s->committed;
    *ret_dropped = s->stats.dropped;
    pthread_mutex_unlock(&s->lock);
    return ticket;
}
