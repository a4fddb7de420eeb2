/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node has to tell the controller. */
#include "lbd/node/backlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void drop_first(struct lbd_backlog *b)
{
    free(b->ring[b->first].job);
    b->first = (b->first + 1) % LBD_BACKLOG_MAX;
    b->n--;
}

void lbd_backlog_fini(struct lbd_backlog *b)
{
    if (!b)
        return;
    while (b->n > 0)
        drop_first(b);
    free(b->ring);
    memset(b, 0, sizeof(*b));
}

/* A place at the end, numbered and stamped; NULL: out of memory. */
static struct lbd_kept *add(struct lbd_backlog *b, int64_t now_ns)
{
    struct lbd_kept *k;

    if (!b->ring)
        b->ring = calloc(LBD_BACKLOG_MAX, sizeof(*b->ring));
    if (!b->ring || b->n == LBD_BACKLOG_MAX)
        b->dropped++;
    if (!b->ring)
        return NULL;
    if (b->n == LBD_BACKLOG_MAX)
        drop_first(b);
    k = &b->ring[(b->first + b->n++) % LBD_BACKLOG_MAX];
    k->seq = ++b->last_seq;
    k->at_ns = now_ns;
    k->job = NULL;
    return k;
}

int lbd_backlog_report(struct lbd_backlog *b, const struct lbw_node_report *report, int64_t now_ns)
{
    struct lbd_kept *k = add(b, now_ns);

    if (!k)
        return -ENOMEM;
    k->report = *report;
    return 0;
}

int lbd_backlog_job(struct lbd_backlog *b, const struct lbw_job *job, int64_t now_ns)
{
    size_t n = lbw_job_bytes(job);
    struct lbw_job *copy = malloc(n);
    struct lbd_kept *k;

    if (!copy) {
        b->dropped++;
        return -ENOMEM;
    }
    k = add(b, now_ns);
    if (!k) {
        free(copy);
        return -ENOMEM;
    }
    memcpy(copy, job, n);
    k->job = copy;
    return 0;
}

void lbd_backlog_acknowledge(struct lbd_backlog *b, uint64_t seq)
{
    while (b->n > 0 && b->ring[b->first].seq <= seq) {
        drop_first(b);
        b->acknowledged++;
    }
}

const struct lbd_kept *lbd_backlog_at(const struct lbd_backlog *b, unsigned i)
{
    return &b->ring[(b->first + i) % LBD_BACKLOG_MAX];
}

void lbd_backlog_message(const struct lbd_kept *k, int64_t now_ns, struct lbw_node_msg *ret_msg)
{
    if (k->job) {
        ret_msg->type = LBW_N_JOB;
        memcpy(&ret_msg->u.job, k->job, lbw_job_bytes(k->job));
        ret_msg->u.job.seq = k->seq;
        ret_msg->u.job.age_ns += now_ns - k->at_ns;
        return;
    }
    ret_msg->type = LBW_N_REPORT;
    ret_msg->u.report = k->report;
    ret_msg->u.report.seq = k->seq;
    ret_msg->u.report.age_ns = now_ns - k->at_ns;
    ret_msg->u.report.bench_age_ns += now_ns - k->at_ns;
}
