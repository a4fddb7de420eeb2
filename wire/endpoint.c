/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a step's balancer listens, and its key. */
#include "wire/endpoint.h"

#include <errno.h>

#include "wire/flat.h"

#define TYPE_ENDPOINT 1

int lbw_endpoint_encode(const struct lbw_endpoint *e, struct lbx_buf *out)
{
    struct lbw_writer w;

    if (e->naddresses > LBW_ENDPOINT_ADDRESSES_MAX)
        return -EINVAL;
    lbw_write_begin(&w, out, 7 + e->naddresses, LBW_ENDPOINT_VERSION, TYPE_ENDPOINT);
    lbw_write_u64(&w, e->port);
    lbw_write_bytes(&w, e->key, sizeof(e->key));
    lbw_write_str(&w, e->context);
    lbw_write_str(&w, e->policy);
    lbw_write_u64(&w, e->naddresses);
    for (size_t i = 0; i < e->naddresses; i++)
        lbw_write_str(&w, e->address[i]);
    return lbw_write_end(&w);
}

int lbw_endpoint_decode(const uint8_t *body, size_t n, struct lbw_endpoint *ret_endpoint)
{
    struct lbw_endpoint *e = ret_endpoint;
    struct lbw_reader r;
    uint32_t type;

    if (lbw_read_begin(&r, body, n, LBW_ENDPOINT_VERSION, &type) < 0 || type != TYPE_ENDPOINT)
        return -EPROTO;
    e->port = (uint16_t)lbw_read_u64(&r, UINT16_MAX);
    lbw_read_bytes(&r, e->key, sizeof(e->key));
    lbw_read_str(&r, e->context, sizeof(e->context));
    lbw_read_str(&r, e->policy, sizeof(e->policy));
    e->naddresses = lbw_read_u64(&r, LBW_ENDPOINT_ADDRESSES_MAX);
    for (size_t i = 0; i < e->naddresses; i++)
        lbw_read_str(&r, e->address[i], sizeof(e->address[i]));
    return lbw_read_end(&r);
}
