/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepting connections on the loop, also when descriptors run out. */
#ifndef LBD_LISTENER_H
#define LBD_LISTENER_H

#include <uv.h>

struct lbd_listener {
    uv_poll_t poll;
    int fd;
    int spare; /* given up for a moment when descriptors run out */
    void (*on_accept)(struct lbd_listener *l, int fd); /* fd is the owner's from then on */
    void *data;                                        /* the owner's */
};

/* Take over the listening fd (closed on failure too).  Returns 0 or a negative errno. */
int lbd_listener_open(struct lbd_listener *l, uv_loop_t *loop, int fd,
                      void (*on_accept)(struct lbd_listener *l, int fd), void *data)
    __attribute__((warn_unused_result));

/* Stop; the struct must live until the loop has run once more. */
void lbd_listener_close(struct lbd_listener *l);

#endif
