/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the benchmark in a thread beside the loop. */
#include "lbd/node/runner.h"

#include <errno.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/node/busy.h"

#define STACK_BYTES (512 * 1024) /* hwloc has large variables */

static void run(void *data)
{
    struct lbd_runner *r = data;

    r->rc = lbd_busy_with_job("/proc") ? -EBUSY : lbd_bench_run(&r->cancel, &r->result);
    if (r->rc == 0 && r->path[0]) {
        r->saved.result = r->result;
        r->saved.at_ns = lbx_clock_wall_ns();
        if (lbd_saved_write(r->path, &r->saved) < 0)
            lbx_log(LBX_LOG_DEBUG, "%s: not written: the next start measures first", r->path);
    }
    uv_async_send(&r->done);
}

static void on_async(uv_async_t *async)
{
    struct lbd_runner *r = async->data;

    if (!r->running)
        return;
    uv_thread_join(&r->thread);
    r->running = false;
    r->on_done(r, r->rc, &r->result);
}

int lbd_runner_init(struct lbd_runner *r, uv_loop_t *loop,
                    void (*on_done)(struct lbd_runner *r, int rc,
                                    const struct lbd_bench_result *result),
                    void *data)
{
    r->running = false;
    r->on_done = on_done;
    r->data = data;
    r->done.data = r;
    return uv_async_init(loop, &r->done, on_async);
}

int lbd_runner_start(struct lbd_runner *r)
{
    uv_thread_options_t options = {.flags = UV_THREAD_HAS_STACK_SIZE, .stack_size = STACK_BYTES};
    int rc;

    if (r->running)
        return -EBUSY;
    atomic_store(&r->cancel, false);
    rc = uv_thread_create_ex(&r->thread, &options, run, r);
    r->running = rc == 0;
    return rc;
}

void lbd_runner_cancel(struct lbd_runner *r)
{
    atomic_store(&r->cancel, true);
}

void lbd_runner_close(struct lbd_runner *r)
{
    lbd_runner_cancel(r);
    if (r->running)
        uv_thread_join(&r->thread);
    r->running = false;
    uv_close((uv_handle_t *)&r->done, NULL);
}
