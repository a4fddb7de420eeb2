/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to the history. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lbd/controller/store_impl.h"

void lbd_ask_destroy(struct lbd_ask *ask)
{
    if (!ask)
        return;
    for (size_t i = 0; i < ask->n && ask->job; i++)
        free(ask->job[i].host);
    free(ask->job);
    free(ask->point);
    free(ask);
}

static void append(struct lbd_ask **list, struct lbd_ask *ask)
{
    while (*list)
        list = &(*list)->next;
    ask->next = NULL;
    *list = ask;
}

int lbd_store_ask(struct lbd_store *s, struct lbd_ask *ask)
{
    bool points = ask->what == LBD_ASK_POINTS;
    bool full;

    ask->n = 0;
    ask->rc = -ECANCELED;
    ask->point = points ? calloc(ask->max, sizeof(*ask->point)) : NULL;
    ask->job = points ? NULL : calloc(ask->max, sizeof(*ask->job));
    if (!ask->point && !ask->job)
        return -ENOMEM;
    pthread_mutex_lock(&s->lock);
    full = s->nasked == LBD_STORE_ASKS_MAX;
    if (!full) {
        append(&s->asked, ask);
        s->nasked++;
        pthread_cond_signal(&s->wake);
    }
    pthread_mutex_unlock(&s->lock);
    return full ? -EBUSY : 0;
}

static int read_one(struct lbd_store *s, struct lbd_ask *a)
{
    if (!s->db)
        return -ENODATA;
    switch (a->what) {
    case LBD_ASK_POINTS:
        return lbd_db_read_points(s->db, a->host, a->resolution, a->from_s, a->to_s, a->max,
                                  a->point, &a->n);
    case LBD_ASK_JOBS:
        return lbd_db_read_jobs(s->db, a->from_s, a->to_s, a->max, a->job, &a->n);
    case LBD_ASK_JOB:
        return lbd_db_read_job(s->db, a->jobid, a->max, a->job, &a->n);
    }
    return -EINVAL;
}

void lbd_store_read(struct lbd_store *s)
{
    struct lbd_ask *a;

    for (;;) {
        pthread_mutex_lock(&s->lock);
        a = s->asked;
        if (a)
            s->asked = a->next;
        pthread_mutex_unlock(&s->lock);
        if (!a)
            return;
        a->rc = read_one(s, a);
        if (a->rc == -EUCLEAN || a->rc == -EIO)
            lbd_writer_fail(s, a->rc, LBD_OP_READ);
        pthread_mutex_lock(&s->lock);
        append(&s->answered, a);
        pthread_mutex_unlock(&s->lock);
        s->on_commit(s->data);
    }
}

void lbd_store_answer(struct lbd_store *s)
{
    struct lbd_ask *list, *next;

    pthread_mutex_lock(&s->lock);
    list = s->answered;
    s->answered = NULL;
    for (struct lbd_ask *a = list; a; a = a->next)
        s->nasked--;
    pthread_mutex_unlock(&s->lock);
    for (; list; list = next) {
        next = list->next;
        list->done(list);
    }
}
