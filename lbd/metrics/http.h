/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * /metrics over HTTP or HTTPS, in a thread of its own; bounded in connections, time and memory.  /sd: where the other lbds are,
 * for Prometheus' service discovery.
 */
#ifndef LBD_METRICS_HTTP_H
#define LBD_METRICS_HTTP_H

#include <stdint.h>

#include "common/error.h"
#include "lbd/metrics/metrics.h"

#define LBD_HTTP_HEADER_S 2  /* until a request is there */
#define LBD_HTTP_ANSWER_S 10 /* until its answer is away */
#define LBD_HTTP_CONNECTIONS 48
#define LBD_HTTP_CONNECTIONS_EACH 24 /* of one address */

struct lbd_http;

/*
 * Serve m at a numeric address ("": all).  m is borrowed until lbd_http_stop.
 * web: path of a web.yml, borrowed likewise; NULL: neither TLS nor users.  When it is wrong nothing is served.
 * Returns 0 or a negative errno with err.
 */
int lbd_http_start(const char *address, uint16_t port, const char *web, struct lbd_metrics *m,
                   struct lbx_error *err, struct lbd_http **ret_http)
    __attribute__((warn_unused_result));
/* Where it listens: the port given, or the one that was chosen for 0. */
uint16_t lbd_http_port(const struct lbd_http *h);
void lbd_http_stop(struct lbd_http *h); /* NULL is fine */

/*
 * Read web.yml again, and its certificates.  On failure (with err) the old one stays in force; no scrape is refused meanwhile.
 * Any thread, one at a time.
 */
int lbd_http_reload(struct lbd_http *h, struct lbx_error *err) __attribute__((warn_unused_result));

/* What /sd answers: JSON, copied; NULL: it is not known (why is told then).  Any thread. */
void lbd_http_set_targets(struct lbd_http *h, const char *json, const char *why);

/* Whether /sd was asked since the last call. */
bool lbd_http_targets_asked(struct lbd_http *h);

#endif
