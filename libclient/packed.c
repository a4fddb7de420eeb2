/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that travels with iterations and is not rows. */
#include "libclient/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 16 /* of each iteration's data, as malloc's */

/* In front of each iteration's data; the data is padded up to ALIGN. */
struct head {
    uint64_t bytes, zero;
};

static uint64_t padded(uint64_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

int lb_loop_pack(lb_loop *l, const struct lb_pack *pack)
{
    if (!l || !pack || pack->struct_bytes < sizeof(*pack) || !pack->bytes || !pack->pack ||
        !pack->unpack)
        return -EINVAL;
    if (l->started)
        return -EBUSY;
    l->pack = *pack;
    return 0;
}

/* All iterations' sizes are asked for first, so that a lack of memory is known before anything is packed. */
static int measure(struct lb_loop *l, const struct lbx_span *span, size_t n, uint64_t *ret_bytes)
{
    uint64_t sum = 0;

    /* what no memory will ever do for is no lack of it */
    for (size_t s = 0; s < n; s++) {
        for (int64_t i = span[s].first; i < span[s].last; i++) {
            size_t bytes = l->pack.bytes(l->pack.arg, i);

            if (bytes > INT64_MAX / 2 ||
                __builtin_add_overflow(sum, sizeof(struct head) + padded(bytes), &sum) ||
                sum > INT64_MAX / 2)
                return -EOVERFLOW;
        }
    }
    *ret_bytes = sum;
    return 0;
}

int lbc_packed_make(struct lb_loop *l, const struct lbx_span *span, size_t n, void **ret_data,
                    int64_t *ret_bytes)
{
    uint64_t bytes = 0;
    char *data, *at;
    int rc = measure(l, span, n, &bytes);

    if (rc < 0)
        return rc;
    data = at = calloc(1, bytes + 1); /* zeros where it is padded */
    if (!data)
        return -ENOMEM;
    for (size_t s = 0; s < n; s++) {
        for (int64_t i = span[s].first; i < span[s].last; i++) {
            struct head h = {l->pack.bytes(l->pack.arg, i), 0};

            memcpy(at, &h, sizeof(h));
            l->pack.pack(l->pack.arg, i, at + sizeof(h));
            at += sizeof(h) + padded(h.bytes);
        }
    }
    *ret_data = data;
    *ret_bytes = (int64_t)bytes;
    return 0;
}

/* Does the data hold as many iterations as it should, to the byte? */
static int check(const struct lbx_span *span, size_t n, const char *at, uint64_t left)
{
    for (size_t s = 0; s < n; s++) {
        for (int64_t i = span[s].first; i < span[s].last; i++) {
            struct head h;

            if (left < sizeof(h))
                return -EPROTO;
            memcpy(&h, at, sizeof(h));
            left -= sizeof(h);
            if (h.bytes > left || padded(h.bytes) > left)
                return -EPROTO;
            left -= padded(h.bytes);
            at += sizeof(h) + padded(h.bytes);
        }
    }
    return left == 0 ? 0 : -EPROTO;
}

int lbc_packed_take(struct lb_loop *l, const struct lbx_span *span, size_t n, const void *data,
                    int64_t bytes)
{
    const char *at = data;
    int rc = check(span, n, at, (uint64_t)bytes);

    for (size_t s = 0; rc == 0 && s < n; s++) {
        for (int64_t i = span[s].first; i < span[s].last; i++) {
            struct head h;

            memcpy(&h, at, sizeof(h));
            l->pack.unpack(l->pack.arg, i, at + sizeof(h), h.bytes);
            at += sizeof(h) + padded(h.bytes);
        }
    }
    return rc;
}
