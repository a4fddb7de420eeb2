/* SPDX-License-Identifier: BSD-3-Clause */
/* A byte queue with a limit. */
#include "common/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void lbx_buf_init(struct lbx_buf *b, size_t limit_bytes)
{
    assert(limit_bytes > 0);
    memset(b, 0, sizeof(*b));
    b->limit = limit_bytes;
}

void lbx_buf_fini(struct lbx_buf *b)
{
    if (!b)
        return;
    free(b->base);
    b->base = NULL;
    b->head = b->tail = b->size = 0;
}

size_t lbx_buf_len(const struct lbx_buf *b)
{
    return b->tail - b->head;
}

uint8_t *lbx_buf_data(const struct lbx_buf *b)
{
    return b->base ? b->base + b->head : NULL;
}

int lbx_buf_room(struct lbx_buf *b, size_t n, uint8_t **ret_room)
{
    size_t len = lbx_buf_len(b);
    size_t size = b->size ? b->size : 256;
    uint8_t *base;

    if (n > b->limit || len > b->limit - n)
        return -EMSGSIZE;
    if (b->tail + n > b->size && b->head > 0) {
        memmove(b->base, b->base + b->head, len);
        b->head = 0;
        b->tail = len;
    }
    if (len + n > b->size) {
        while (size < len + n)
            size *= 2;
        base = realloc(b->base, size);
        if (!base)
            return -ENOMEM;
        b->base = base;
        b->size = size;
    }
    if (!b->base) { /* n == 0 on an empty buffer */
        b->base = malloc(size);
        if (!b->base)
            return -ENOMEM;
        b->size = size;
    }
    *ret_room = b->base + b->tail;
    return 0;
}

void lbx_buf_wrote(struct lbx_buf *b, size_t n)
{
    assert(n <= b->size - b->tail);
    b->tail += n;
}

int lbx_buf_append(struct lbx_buf *b, const void *data, size_t n)
{
    uint8_t *room;
    int rc = lbx_buf_room(b, n, &room);

    if (rc < 0)
        return rc;
    if (n > 0)
        memcpy(room, data, n);
    lbx_buf_wrote(b, n);
    return 0;
}

void lbx_buf_consume(struct lbx_buf *b, size_t n)
{
    assert(n <= lbx_buf_len(b));
    b->head += n;
    if (b->head == b->tail)
        b->head = b->tail = 0;
}
