/* SPDX-License-Identifier: BSD-3-Clause */
/* The balanced job steps that run, as the nodes tell: in memory alone, newest figures of each. */
#ifndef LBD_CONTROLLER_RUNNING_H
#define LBD_CONTROLLER_RUNNING_H

#include <stddef.h>
#include <stdint.h>

#include "wire/job.h"

#define LBD_RUNNING_MAX 4096
#define LBD_RUNNING_SILENT_S 60 /* a balancer speaks each 5 s */

struct lbd_running_job {
    uint32_t from;       /* the host that told, as the controller counts them */
    int64_t at_ns;       /* when the figures were taken, monotonic */
    struct lbw_job *job; /* only the first nhost of its hosts are there */
};

struct lbd_running {
    size_t n, size;
    struct lbd_running_job *entry; /* [n], in order of coming */
};

void lbd_running_fini(struct lbd_running *r); /* NULL is fine */

/* Take figures: a running step is kept (copied), one that has ended leaves.  What cannot be kept is left out. */
void lbd_running_take(struct lbd_running *r, uint32_t from, const struct lbw_job *job,
                      int64_t now_ns);

/* Forget those of which nothing was heard. */
void lbd_running_expire(struct lbd_running *r, int64_t now_ns);

#endif
