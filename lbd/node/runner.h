/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the benchmark in a thread beside the loop, one at a time, and can be stopped within milliseconds of CPU time. */
#ifndef LBD_NODE_RUNNER_H
#define LBD_NODE_RUNNER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

#include "lbd/node/bench.h"
#include "lbd/node/saved.h"

struct lbd_runner {
    uv_async_t done;
    uv_thread_t thread;
    atomic_bool cancel;
    bool running;
    int rc;
    struct lbd_bench_result result;
    char path[1024]; /* where a result is saved, "": nowhere; the owner's to fill, as the next */
    struct lbd_saved saved; /* boot and model */
    /* rc: of lbd_bench_run, or -EBUSY when a job runs here; result only when it is 0 */
    void (*on_done)(struct lbd_runner *r, int rc, const struct lbd_bench_result *result);
    void *data; /* the owner's */
};

int lbd_runner_init(struct lbd_runner *r, uv_loop_t *loop,
                    void (*on_done)(struct lbd_runner *r, int rc,
                                    const struct lbd_bench_result *result),
                    void *data) __attribute__((warn_unused_result));

/* Returns 0, -EBUSY (one runs), or another negative errno. */
int lbd_runner_start(struct lbd_runner *r) __attribute__((warn_unused_result));

/* Let a running benchmark end soon with -ECANCELED. */
void lbd_runner_cancel(struct lbd_runner *r);

/* Cancel, wait for the thread, close the handle; on_done is not called any more. */
void lbd_runner_close(struct lbd_runner *r);

#endif
