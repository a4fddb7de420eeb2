/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times by which connections must have got on.  The web server closes those on which nothing happens; one that sends or reads
 * a byte now and then it would keep for ever.  A thread shuts down what is late; it sleeps while there are no connections.
 */
#ifndef LBD_METRICS_DEADLINE_H
#define LBD_METRICS_DEADLINE_H

#include <stdint.h>

struct lbd_deadlines;

/* NULL: no memory, or no thread. */
struct lbd_deadlines *lbd_deadlines_create(void);
void lbd_deadlines_destroy(struct lbd_deadlines *d); /* NULL is fine */

/* Watch a socket from now on, or give one that is watched another time.  Beyond a limit of 256 it is not watched. */
void lbd_deadlines_set(struct lbd_deadlines *d, int fd, int64_t until_ns);
/* Before it is closed. */
void lbd_deadlines_remove(struct lbd_deadlines *d, int fd);

#endif
