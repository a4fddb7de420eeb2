/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Giving the endpoint (address and key) to rank 0: by a socket in a folder of the user's when the Slurm plugin started us, by
 * an inherited socket when rank 0 did.
 */
#ifndef LBD_HANDOVER_H
#define LBD_HANDOVER_H

#include <uv.h>

#include "common/error.h"
#include "wire/endpoint.h"

struct lbd_handover;

/*
 * Make dir (0700; it must not exist) and serve the endpoint at dir/balancer.sock, to processes of our own uid that descend
 * from our parent: tasks of our own step.  Equal uid is not equal job.
 * endpoint: borrowed.  Returns 0 or a negative errno with a text.
 */
int lbd_handover_serve(uv_loop_t *loop, const char *dir, const struct lbw_endpoint *endpoint,
                       struct lbd_handover **ret, struct lbx_error *err)
    __attribute__((warn_unused_result));

/* Write the endpoint to fd, and call over(arg) when its other end is closed.  fd is transferred. */
int lbd_handover_write(uv_loop_t *loop, int fd, const struct lbw_endpoint *endpoint,
                       void (*over)(void *), void *arg, struct lbd_handover **ret,
                       struct lbx_error *err) __attribute__((warn_unused_result));

/* Close it and remove the folder.  Freed once the loop has turned; NULL is fine. */
void lbd_handover_close(struct lbd_handover *h);

#endif
