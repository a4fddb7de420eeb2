/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that is given lines and answers by lines: started when it is needed, and again when it has died. */
#ifndef LBD_HELPER_H
#define LBD_HELPER_H

#include <stdbool.h>
#include <uv.h>

#include "common/buf.h"

struct lbd_helper {
    uv_loop_t *loop;
    uv_process_t process;
    uv_pipe_t to, from;
    struct lbx_buf in;
    void (*on_line)(void *data, char *line); /* without its end */
    void (*on_end)(void *data);              /* it has ended, however */
    void *data;
    char chunk[4096];
    int open; /* handles that are not closed yet */
    bool running;
};

void lbd_helper_init(struct lbd_helper *h, uv_loop_t *loop);

/* Start it when it does not run.  Returns 0 or a negative errno. */
int lbd_helper_start(struct lbd_helper *h, const char *path) __attribute__((warn_unused_result));

/* Send a text; copied.  Returns 0 or a negative errno. */
int lbd_helper_send(struct lbd_helper *h, const char *text) __attribute__((warn_unused_result));

/* The end of its input, when all is written. */
void lbd_helper_finish(struct lbd_helper *h);

/*
 * Close what leads to it and from it, and with kill end it; it runs until on_end.  Without kill it goes on by itself, and who
 * goes on too must have waited for its end, or a zombie stays.
 */
void lbd_helper_drop(struct lbd_helper *h, bool kill);
void lbd_helper_fini(struct lbd_helper *h);

#endif
