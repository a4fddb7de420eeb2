/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that runs a web server.  A thread of libmicrohttpd's own is told to end while it may be answering.  The answer
 * to what is no request is not queued then, and is sent all the same: a null pointer (0.9.75).  This thread has ended
 * before the server is told to.
 */
#ifndef LBD_METRICS_HTTP_LOOP_H
#define LBD_METRICS_HTTP_LOOP_H

#include <microhttpd.h>

struct lbd_http_loop;

/*
 * Run a server that was started with MHD_USE_EPOLL and without a thread; it is borrowed, and nobody else's until
 * lbd_http_loop_stop.  Returns 0, -ENOMEM or another negative errno.  *ret owned by the caller.
 */
int lbd_http_loop_start(struct MHD_Daemon *daemon, struct lbd_http_loop **ret)
    __attribute__((warn_unused_result));

/* When it returns the server is not being run any more; what it was answering is left as it is.  NULL is fine. */
void lbd_http_loop_stop(struct lbd_http_loop *l);

#endif
