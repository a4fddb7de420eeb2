/* SPDX-License-Identifier: BSD-3-Clause */
/* What lbd serves to people: the page of metrics, brought up to date every few seconds, and where the other lbds are. */
#ifndef LBD_SERVE_H
#define LBD_SERVE_H

#include <uv.h>

#include "common/error.h"
#include "lbd/metrics/metrics.h"
#include "lbd/options.h"

#define LBD_SERVE_EXPOSE_MS 5000 /* the page is at most so old */

struct lbd_serve;

/*
 * options: borrowed.  expose: called on the loop, to set metrics.  What cannot be served is logged: metrics are a service to
 * people, and a port that is taken, or a web.yml that is wrong, stops no jobs, and so not lbd.
 * Returns NULL when nothing is served.
 */
struct lbd_serve *lbd_serve_create(uv_loop_t *loop, const struct lbd_options *options,
                                   void (*expose)(void *data, struct lbd_metrics *metrics),
                                   void *data);
/* NULL is fine for all of these. */
void lbd_serve_stop(struct lbd_serve *s);
void lbd_serve_destroy(struct lbd_serve *s); /* after the loop has run out */

struct lbd_metrics *lbd_serve_metrics(struct lbd_serve *s);

/* Read web.yml again; the old one stays in force when there is a mistake in it.  Any thread; not at once with lbd_serve_stop. */
int lbd_serve_reload(struct lbd_serve *s, struct lbx_error *err)
    __attribute__((warn_unused_result));

#endif
