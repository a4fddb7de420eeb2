/* SPDX-License-Identifier: BSD-3-Clause */
/* A byte queue with a limit. */
#include "common/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 256

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

/* Doubled until `need` fits, and never above the limit; need <= limit. */
static size_t grown_size(const struct lbx_buf *b, size_t need)
{
    size_t size = b->size ? b->size : FIRST_BYTES;

    while (size < need)
        size = size > b->limit / 2 ? b->limit : size * 2;
    return size < b->limit ? size : b->limit;
}

int lbx_buf_room(struct lbx_buf *b, size_t n, uint8_t **ret_room)
{
    size_t len = lbx_buf_len(b);
    uint8_t *base;

    if (len > b->limit || n > b->limit - len)
        return -EMSGSIZE;
    if (n > b->size - b->tail && b->head > 0) {
        memmove(b->base, b->base + b->head, len);
        b->head = 0;
        b->tail = len;
    }
    if (n > b->size - b->tail || !b->base) {
        size_t size = grown_size(b, len + n);

        base = realloc(b->base, size);
        if (!base)
            return -ENOMEM;
        b->base = base;
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
