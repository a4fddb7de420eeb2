/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller's memory on disk: its thread. */
#include "lbd/controller/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/controller/store_impl.h"

#define STACK_BYTES (512 * 1024)

/* Sleep until something is due: a question, a commit one interval after the first row that waits for it, housekeeping, the end. */
static bool wait_for_work(struct lbd_store *s, int64_t *commit_ns)
{
    bool stop;

    pthread_mutex_lock(&s->lock);
    while (!s->stop && !s->asked) {
        int64_t now_ns = lbx_clock_mono_ns(), until_ns = s->keep_ns;
        struct timespec until;

        if (*commit_ns == 0 && (s->n > 0 || s->nbatch > 0))
            *commit_ns = now_ns + s->settings.commit_interval_ns;
        if (*commit_ns != 0 && *commit_ns < until_ns)
            until_ns = *commit_ns;
        if (now_ns >= until_ns)
            break;
        until.tv_sec = until_ns / LBX_NS_PER_S;
        until.tv_nsec = until_ns % LBX_NS_PER_S;
        pthread_cond_timedwait(&s->wake, &s->lock, &until);
    }
    stop = s->stop;
    pthread_mutex_unlock(&s->lock);
    return !stop;
}

static void *run(void *data)
{
    struct lbd_store *s = data;
    int64_t commit_ns = 0;

    while (wait_for_work(s, &commit_ns)) {
        lbd_store_read(s);
        if (commit_ns != 0 && lbx_clock_mono_ns() >= commit_ns) {
            commit_ns = 0;
            lbd_writer_work(s);
        }
        if (lbx_clock_mono_ns() >= s->keep_ns)
            lbd_writer_keep(s);
    }
    s->reopen_ns = 0;   /* the last try does not wait for its turn */
    lbd_writer_work(s); /* what came last */
    return NULL;
}

static int start_thread(struct lbd_store *s)
{
    pthread_condattr_t clock;
    pthread_attr_t attr;
    int rc;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &clock);
    pthread_condattr_destroy(&clock);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    rc = pthread_create(&s->thread, &attr, run, s);
    pthread_attr_destroy(&attr);
    return -rc;
}

int lbd_store_create(const struct lbd_store_settings *settings,
                     void (*on_host)(void *data, const struct lbd_db_host *host, int64_t at_s,
                                     const struct lbw_node_report *report),
                     void (*on_commit)(void *data), void *data, struct lbd_store **ret_store)
{
    struct lbd_store *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return -ENOMEM;
    s->settings = *settings;
    s->on_commit = on_commit;
    s->data = data;
    s->next_ticket = 1;
    s->keep_ns = lbx_clock_mono_ns() + LBX_NS_PER_S; /* first the reports of those that wait */
    lbd_keep_init(&s->keep);
    pthread_mutex_init(&s->lock, NULL);
    if (lbd_writer_open(s) && lbd_db_load(s->db, on_host, data) < 0)
        lbx_log(LBX_LOG_WARNING, "%s: hosts not read: %s", settings->path, lbd_db_reason(s->db));
    rc = start_thread(s);
    if (rc < 0) {
        lbd_db_close(s->db);
        pthread_cond_destroy(&s->wake);
        pthread_mutex_destroy(&s->lock);
        free(s->queue);
        free(s);
        return rc;
    }
    *ret_store = s;
    return 0;
}

void lbd_store_destroy(struct lbd_store *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    lbd_keep_fini(&s->keep);
    lbd_db_close(s->db);
    while (s->asked) { /* as they came: cancelled */
        struct lbd_ask *a = s->asked;

        s->asked = a->next;
        a->done(a);
    }
    lbd_store_answer(s);
    lbd_rows_free(s->queue, s->n);
    lbd_rows_free(s->batch, s->nbatch);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->wake);
    free(s->queue);
    free(s->batch);
    free(s->known);
    free(s);
}

void lbd_store_set(struct lbd_store *s, const struct lbd_keep_settings *keep)
{
    pthread_mutex_lock(&s->lock);
    s->settings.keep = *keep;
    pthread_mutex_unlock(&s->lock);
}

void lbd_store_stats(struct lbd_store *s, struct lbd_store_stats *ret)
{
    pthread_mutex_lock(&s->lock);
    *ret = s->stats;
    ret->max_bytes = s->settings.max_bytes;
    ret->backup = s->settings.keep.backup[0] != '\0';
    ret->snapshot = s->settings.keep.snapshot[0] != '\0';
    ret->snapshot_interval_s = s->settings.keep.snapshot_interval_s;
    pthread_mutex_unlock(&s->lock);
}
