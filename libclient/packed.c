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

/* Add what iteration i takes, packed.  Returns 0 or -EOVERFLOW. */
static int add_one(struct lb_loop *l, int64_t i, uint64_t *sum)
{
    size_t bytes = l->pack.bytes(l->pack.arg, i);
    uint64_t more;

    /* what no memory will ever do for is no lack of it */
    if (bytes > INT64_MAX / 2 ||
        __builtin_add_overflow(*sum, sizeof(struct head) + padded(bytes), &more) ||
        more > INT64_MAX / 2)
        return -EOVERFLOW;
    *sum = more;
    return 0;
}

int lbc_packed_fit(struct lb_loop *l, const struct lbx_span *span, size_t n, int64_t most,
                   struct lbx_span *ret_span, size_t *ret_n, int64_t *ret_bytes)
{
    uint64_t sum = 0, more = 0;

    for (size_t s = 0; s < n; s++) {
        struct lbx_span whole = span[s];

        for (int64_t i = whole.first; i < whole.last; i++) {
            if (add_one(l, i, &more) == 0 && (sum == 0 || (int64_t)more <= most)) {
                sum = more;
                continue;
            }
            if (sum == 0)
                return -EOVERFLOW;
            ret_span[s] = (struct lbx_span){whole.first, i};
            *ret_n = s + (i > whole.first);
            *ret_bytes = (int64_t)sum;
            return 0;
        }
        ret_span[s] = whole;
    }
    *ret_n = n;
    *ret_bytes = (int64_t)sum;
    return 0;
}

/* All iterations' sizes are asked for first, so that a lack of memory is known before anything is packed. */
static int measure(struct lb_loop *l, const struct lbx_span *span, size_t n, uint64_t *ret_bytes)
{
    uint64_t sum = 0;
    int rc = 0;

    for (size_t s = 0; s < n && rc == 0; s++)
        for (int64_t i = span[s].first; i < span[s].last && rc == 0; i++)
            rc = add_one(l, i, &sum);
    if (rc == 0)
        *ret_bytes = sum;
    return rc;
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
