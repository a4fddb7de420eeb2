/* SPDX-License-Identifier: BSD-3-Clause */
/* A byte queue with a limit: bytes are appended at its end and consumed at its front. */
#ifndef LBX_BUF_H
#define LBX_BUF_H

#include <stddef.h>
#include <stdint.h>

struct lbx_buf {
    uint8_t *base;
    size_t head;  /* first byte that is not consumed */
    size_t tail;  /* behind the last byte */
    size_t size;  /* bytes allocated */
    size_t limit; /* most bytes that it may hold, and allocate; may be set to another value > 0 */
};

/* limit_bytes: the most it will ever hold, > 0.  Allocates nothing. */
void lbx_buf_init(struct lbx_buf *b, size_t limit_bytes);
void lbx_buf_fini(struct lbx_buf *b); /* NULL and repeated calls are fine */

size_t lbx_buf_len(const struct lbx_buf *b);

/* The first byte, borrowed until the next call that is not len or data; perhaps NULL when empty. */
uint8_t *lbx_buf_data(const struct lbx_buf *b);

/*
 * Make room for n bytes behind the end.
 * ret_room[out]  where to write, borrowed until the next call; call lbx_buf_wrote with what was
 *                written, n at most
 * Returns 0, -EMSGSIZE when the limit would be passed, -ENOMEM; on failure the bytes are unchanged.
 */
int lbx_buf_room(struct lbx_buf *b, size_t n, uint8_t **ret_room)
    __attribute__((warn_unused_result));
void lbx_buf_wrote(struct lbx_buf *b, size_t n);

/* Append a copy; data is not within b.  Returns as lbx_buf_room. */
int lbx_buf_append(struct lbx_buf *b, const void *data, size_t n)
    __attribute__((warn_unused_result));

/* Drop n bytes at the front; n <= lbx_buf_len. */
void lbx_buf_consume(struct lbx_buf *b, size_t n);

#endif
