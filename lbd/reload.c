/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration, read once more. */
#include "lbd/reload.h"

#include <errno.h>

#include "common/log.h"
#include "lbd/conf.h"
#include "lbd/notify.h"

int lbd_reload_read(const struct lbd_options *options, struct lbx_policyconf *ret_conf,
                    struct lbx_error *err)
{
    int rc = lbd_conf_read(options->config, ret_conf, err);

    if (rc == -ENOENT && !options->config_given) {
        lbx_policyconf_init(ret_conf);
        rc = 0;
    }
    return rc;
}

static void read_again(uv_work_t *work)
{
    struct lbd_reload *r = work->data;

    r->conf_err.code = 0;
    r->conf_rc = lbd_reload_read(r->options, &r->conf, &r->conf_err);
    r->web_err.code = 0;
    r->web_rc = lbd_serve_reload(r->serve, &r->web_err);
}

static void after_read(uv_work_t *work, int status)
{
    struct lbd_reload *r = work->data;

    r->running = false;
    if (status == 0 && r->conf_rc == 0) {
        r->take(r->data, &r->conf);
        lbx_log(LBX_LOG_INFO, "%s is in force", r->options->config);
    } else if (status == 0) {
        r->failures++;
        lbx_log(LBX_LOG_ERROR, "%s; the old configuration stays in force", r->conf_err.text);
    }
    if (status == 0 && r->web_rc < 0) {
        r->failures++;
        lbx_log(LBX_LOG_ERROR, "%s; the old one stays in force", r->web_err.text);
    }
    if (r->stopping) {
        r->stopped(r->data);
        return;
    }
    lbd_notify("READY=1");
    if (r->again)
        lbd_reload_start(r);
}

void lbd_reload_start(struct lbd_reload *r)
{
    r->work.data = r;
    r->again = r->running;
    if (r->running)
        return;
    lbd_notify("RELOADING=1");
    r->running = uv_queue_work(r->loop, &r->work, read_again, after_read) == 0;
}

void lbd_reload_stop(struct lbd_reload *r)
{
    r->stopping = true;
    if (!r->running)
        r->stopped(r->data);
}
