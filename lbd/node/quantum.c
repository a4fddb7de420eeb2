/* SPDX-License-Identifier: BSD-3-Clause */
/* Measuring the scheduling quantum. */
#include "lbd/node/quantum.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "common/clock.h"

#define RUNS 32                             /* that each notes, at most */
#define ENOUGH 6                            /* that both have seen together */
#define STOP_LEAST_NS (200 * LBX_NS_PER_US) /* shorter ones are interrupts */
#define LEAST_NS (60 * LBX_NS_PER_MS)
#define MOST_NS (500 * LBX_NS_PER_MS)
#define STACK_BYTES (64 * 1024)

struct rival {
    int cpu;
    const atomic_bool *cancel;
    atomic_int *seen;     /* by both */
    int64_t run_ns[RUNS]; /* from the end of one stop to the next */
    int n;
};

static void *compete(void *data)
{
    struct rival *r = data;
    int64_t begin_ns, last_ns, now_ns, run_from_ns;
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)r->cpu, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
    begin_ns = last_ns = run_from_ns = lbx_clock_mono_ns();
    do {
        now_ns = lbx_clock_mono_ns();
        if (now_ns - last_ns >= STOP_LEAST_NS) {
            if (r->n < RUNS && run_from_ns > begin_ns) { /* the first was under way already */
                r->run_ns[r->n++] = last_ns - run_from_ns;
                atomic_fetch_add(r->seen, 1);
            }
            run_from_ns = now_ns;
        }
        last_ns = now_ns;
    } while (!atomic_load_explicit(r->cancel, memory_order_relaxed) &&
             now_ns - begin_ns < MOST_NS &&
             (now_ns - begin_ns < LEAST_NS || atomic_load(r->seen) < ENOUGH));
    return NULL;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int lbd_quantum_measure(int cpu, const atomic_bool *cancel, int64_t *ret_ns)
{
    atomic_int seen = 0;
    struct rival rival[2] = {{.cpu = cpu, .cancel = cancel, .seen = &seen},
                             {.cpu = cpu, .cancel = cancel, .seen = &seen}};
    pthread_t thread[2];
    pthread_attr_t attr;
    int64_t all[2 * RUNS];
    int n = 0, nthreads = 0;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (int i = 0; i < 2; i++)
        nthreads += pthread_create(&thread[nthreads], &attr, compete, &rival[nthreads]) == 0;
    pthread_attr_destroy(&attr);
    for (int i = 0; i < nthreads; i++)
        pthread_join(thread[i], NULL);
    if (nthreads < 2)
        return -EAGAIN;
    if (atomic_load(cancel))
        return -ECANCELED;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < rival[i].n; k++)
            all[n++] = rival[i].run_ns[k];
    if (n < ENOUGH) {
        *ret_ns = 0;
        return 0;
    }
    qsort(all, (size_t)n, sizeof(all[0]), compare_times);
    *ret_ns = all[n * 9 / 10]; /* who wakes up cuts some short */
    return 0;
}
