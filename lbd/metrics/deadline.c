/* SPDX-License-Identifier: BSD-3-Clause */
/* Times by which connections must have got on. */
#include "lbd/metrics/deadline.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "common/clock.h"

#define WATCHED_MAX 256
#define STACK_BYTES ((size_t)64 * 1024)

struct lbd_deadlines {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool stop;
    unsigned n;
    struct {
        int fd;
        int64_t until_ns; /* INT64_MAX: shut down already */
    } watched[WATCHED_MAX];
};

/* Under the lock: shut down what is late; returns when the next one will be. */
static int64_t shut_late(struct lbd_deadlines *d, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;

    for (unsigned i = 0; i < d->n; i++) {
        if (d->watched[i].until_ns <= now_ns) {
            shutdown(d->watched[i].fd, SHUT_RDWR);
            d->watched[i].until_ns = INT64_MAX;
        }
        if (d->watched[i].until_ns < next_ns)
            next_ns = d->watched[i].until_ns;
    }
    return next_ns;
}

static void *run(void *data)
{
    struct lbd_deadlines *d = data;
    struct timespec until;
    int64_t next_ns;

    pthread_mutex_lock(&d->lock);
    while (!d->stop) {
        next_ns = shut_late(d, lbx_clock_mono_ns());
        until.tv_sec = next_ns / LBX_NS_PER_S;
        until.tv_nsec = next_ns % LBX_NS_PER_S;
        if (next_ns == INT64_MAX)
            pthread_cond_wait(&d->wake, &d->lock);
        else
            pthread_cond_timedwait(&d->wake, &d->lock, &until);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

struct lbd_deadlines *lbd_deadlines_create(void)
{
    struct lbd_deadlines *d = calloc(1, sizeof(*d));
    pthread_condattr_t clock;
    pthread_attr_t attr;
    int rc;

    if (!d)
        return NULL;
    pthread_mutex_init(&d->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&d->wake, &clock);
    pthread_condattr_destroy(&clock);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    rc = pthread_create(&d->thread, &attr, run, d);
    pthread_attr_destroy(&attr);
    if (rc == 0)
        return d;
    pthread_cond_destroy(&d->wake);
    pthread_mutex_destroy(&d->lock);
    free(d);
    return NULL;
}

void lbd_deadlines_destroy(struct lbd_deadlines *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    d->stop = true;
    pthread_cond_signal(&d->wake);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->wake);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

void lbd_deadlines_set(struct lbd_deadlines *d, int fd, int64_t until_ns)
{
    unsigned i = 0;

    pthread_mutex_lock(&d->lock);
    while (i < d->n && d->watched[i].fd != fd)
        i++;
    if (i < WATCHED_MAX) {
        if (i == d->n)
            d->n++;
        d->watched[i].fd = fd;
        d->watched[i].until_ns = until_ns;
        pthread_cond_signal(&d->wake);
    }
    pthread_mutex_unlock(&d->lock);
}

void lbd_deadlines_remove(struct lbd_deadlines *d, int fd)
{
    pthread_mutex_lock(&d->lock);
    for (unsigned i = 0; i < d->n; i++)
        if (d->watched[i].fd == fd)
            d->watched[i--] = d->watched[--d->n];
    pthread_mutex_unlock(&d->lock);
}
