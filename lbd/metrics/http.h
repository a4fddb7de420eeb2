/* SPDX-License-Identifier: BSD-3-Clause */
/* /metrics over HTTP, in a thread of its own; bounded in connections, time and memory. */
#ifndef LBD_METRICS_HTTP_H
#define LBD_METRICS_HTTP_H

#include <stdint.h>

#include "common/error.h"
#include "lbd/metrics/metrics.h"

struct lbd_http;

/*
 * Serve m at a numeric address ("": all).  m is borrowed until lbd_http_stop.
 * Returns 0 or a negative errno with err.
 */
int lbd_http_start(const char *address, uint16_t port, struct lbd_metrics *m, struct lbx_error *err,
                   struct lbd_http **ret_http) __attribute__((warn_unused_result));
void lbd_http_stop(struct lbd_http *h); /* NULL is fine */

#endif
