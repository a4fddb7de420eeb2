/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGHUP: policy.conf and web.yml read once more, on another thread, since names of users may take a while to look up.  What
 * is wrong is logged and the old configuration stays in force.
 */
#ifndef LBD_RELOAD_H
#define LBD_RELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "common/error.h"
#include "common/policyconf.h"
#include "lbd/options.h"
#include "lbd/serve.h"

struct lbd_reload {
    /* set by the owner before the first call; borrowed */
    uv_loop_t *loop;
    const struct lbd_options *options;
    struct lbd_serve *serve;                               /* NULL is fine */
    void (*take)(void *data, struct lbx_policyconf *conf); /* a new one, now the owner's */
    void (*stopped)(void *data);
    void *data;

    uint64_t failures; /* files that could not be read or are wrong */

    /* private */
    uv_work_t work;
    bool running, again, stopping;
    struct lbx_policyconf conf;
    struct lbx_error conf_err, web_err;
    int conf_rc, web_rc;
};

/* Read policy.conf as options say: a missing one is the defaults, unless it was named.  As lbd_conf_read. */
int lbd_reload_read(const struct lbd_options *options, struct lbx_policyconf *ret_conf,
                    struct lbx_error *err) __attribute__((warn_unused_result));

/* Begin, or begin again when what runs is done. */
void lbd_reload_start(struct lbd_reload *r);

/* Call `stopped`, at once or when what runs is done; nothing is taken any more after it. */
void lbd_reload_stop(struct lbd_reload *r);

#endif
