/* SPDX-License-Identifier: BSD-3-Clause */
/* Repetitions of one kernel. */
#include "lbd/node/worker.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common/clock.h"

#define STACK_BYTES (64 * 1024)
#define PATIENCE 8 /* a thread works so many times its time for the others at most */

/* Threads of one repetition. */
struct crowd {
    const struct lbd_work *work;
    atomic_uint ready, unfinished; /* threads */
    unsigned n;
};

struct hand {
    struct crowd *crowd;
    void *area;
    int cpu;
    double hz;
};

/* Mapped, so that it is given back when done; populated, so that page faults are not measured. */
static int map_area(const struct lbd_work *w, void **ret_area)
{
    *ret_area = NULL;
    if (w->area_bytes == 0)
        return 0;
    *ret_area = mmap(NULL, w->area_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (*ret_area != MAP_FAILED)
        return 0;
    *ret_area = NULL;
    return -ENOMEM;
}

static void unmap_area(const struct lbd_work *w, void *area)
{
    if (area)
        munmap(area, w->area_bytes);
}

/* One repetition: operations per CPU second, or 0 when cancelled.  unfinished: others that must have had their time; or NULL. */
static double repeat(const struct lbd_work *w, void *area, atomic_uint *unfinished)
{
    static _Atomic uint64_t sink; /* the compiler must believe that results matter */
    int64_t start_ns = lbx_clock_thread_cpu_ns(), used_ns;
    uint64_t ops = 0;
    bool done = false;

    for (;;) {
        if (atomic_load_explicit(w->cancel, memory_order_relaxed))
            return 0;
        atomic_store_explicit(&sink, w->kernel->run(area, w->area_bytes, ops + (uint64_t)start_ns),
                              memory_order_relaxed);
        ops += w->kernel->batch_ops;
        used_ns = lbx_clock_thread_cpu_ns() - start_ns;
        if (!done && used_ns >= w->repetition_ns) {
            done = true;
            if (unfinished)
                atomic_fetch_sub(unfinished, 1);
        }
        if (done &&
            (!unfinished || atomic_load(unfinished) == 0 || used_ns > PATIENCE * w->repetition_ns))
            return (double)ops * 1e9 / (double)used_ns;
    }
}

/* Where it is not allowed any more, it is measured where it is. */
static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

int lbd_worker_alone(const struct lbd_work *w, int cpu, size_t n, double *ret_hz)
{
    cpu_set_t before;
    bool pinned = cpu >= 0 && sched_getaffinity(0, sizeof(before), &before) == 0;
    void *area;
    int rc;

    if (pinned)
        pin(cpu);
    rc = map_area(w, &area); /* in memory that is near */
    for (size_t i = 0; i < n && rc == 0; i++) {
        ret_hz[i] = repeat(w, area, NULL);
        if (ret_hz[i] <= 0)
            rc = -ECANCELED;
    }
    unmap_area(w, area);
    if (pinned)
        (void)sched_setaffinity(0, sizeof(before), &before);
    return rc;
}

static void *work(void *data)
{
    struct hand *h = data;
    struct crowd *c = h->crowd;

    pin(h->cpu);
    atomic_fetch_add(&c->ready, 1);
    while (atomic_load(&c->ready) < c->n &&
           !atomic_load_explicit(c->work->cancel, memory_order_relaxed))
        sched_yield();
    h->hz = repeat(c->work, h->area, &c->unfinished);
    return NULL;
}

/* One repetition on all cores. */
static int repeat_all(struct hand *hand, pthread_t *thread, size_t n, double *ret_hz)
{
    struct crowd *c = hand[0].crowd;
    pthread_attr_t attr;
    size_t started = 0;
    double sum = 0;
    bool all = true;

    atomic_store(&c->ready, 0);
    atomic_store(&c->unfinished, (unsigned)n);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (started < n && pthread_create(&thread[started], &attr, work, &hand[started]) == 0)
        started++;
    pthread_attr_destroy(&attr);
    if (started < n) { /* those that are there must not wait for the others */
        atomic_fetch_add(&c->ready, (unsigned)(n - started));
        atomic_fetch_sub(&c->unfinished, (unsigned)(n - started));
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(thread[i], NULL);
        sum += hand[i].hz;
        all = all && hand[i].hz > 0;
    }
    if (!all)
        return -ECANCELED;
    *ret_hz = sum;
    return started < n ? -EAGAIN : 0;
}

int lbd_worker_all(const struct lbd_work *w, const int *cpu, size_t ncpus, size_t n, double *ret_hz)
{
    struct crowd crowd = {.work = w, .n = (unsigned)ncpus};
    struct hand *hand = calloc(ncpus, sizeof(*hand));
    pthread_t *thread = calloc(ncpus, sizeof(*thread));
    int rc = hand && thread ? 0 : -ENOMEM;

    for (size_t i = 0; i < ncpus && rc == 0; i++) {
        hand[i].crowd = &crowd;
        hand[i].cpu = cpu[i];
        rc = map_area(w, &hand[i].area);
    }
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = repeat_all(hand, thread, ncpus, &ret_hz[i]);
    for (size_t i = 0; i < ncpus && hand; i++)
        unmap_area(w, hand[i].area);
    free(hand);
    free(thread);
    return rc;
}
