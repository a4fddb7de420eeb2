/* SPDX-License-Identifier: BSD-3-Clause */
/* Flat msgpack messages. */
#include "wire/flat.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static int write_to_buf(void *data, const char *bytes, size_t n)
{
    struct lbw_writer *w = data;

    if (w->error == 0)
        w->error = lbx_buf_append(w->out, bytes, n);
    return w->error;
}

void lbw_write_begin(struct lbw_writer *w, struct lbx_buf *out, size_t nfields, uint32_t version,
                     uint32_t type)
{
    w->out = out;
    w->start = lbx_buf_len(out);
    w->error = 0;
    msgpack_packer_init(&w->packer, w, write_to_buf);
    msgpack_pack_array(&w->packer, nfields);
    lbw_write_u64(w, version);
    lbw_write_u64(w, type);
}

void lbw_write_u64(struct lbw_writer *w, uint64_t v)
{
    msgpack_pack_uint64(&w->packer, v);
}

void lbw_write_i64(struct lbw_writer *w, int64_t v)
{
    msgpack_pack_int64(&w->packer, v);
}

void lbw_write_f64(struct lbw_writer *w, double v)
{
    msgpack_pack_double(&w->packer, v);
}

void lbw_write_str(struct lbw_writer *w, const char *s)
{
    msgpack_pack_str_with_body(&w->packer, s, strlen(s));
}

void lbw_write_bytes(struct lbw_writer *w, const void *p, size_t n)
{
    msgpack_pack_bin_with_body(&w->packer, p, n);
}

int lbw_write_end(struct lbw_writer *w)
{
    if (w->error < 0) /* take back what was appended of it */
        w->out->tail = w->out->head + w->start;
    return w->error;
}

/* n bytes of the body, big endian; 0 and bad when they are not there. */
static uint64_t take_be(struct lbw_reader *r, size_t n)
{
    uint64_t v = 0;

    if ((size_t)(r->end - r->p) < n) {
        r->bad = true;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        v = v << 8 | *r->p++;
    return v;
}

/* The first byte of the next field; counts it. */
static uint8_t take_tag(struct lbw_reader *r)
{
    if (r->bad || r->left == 0 || r->p == r->end) {
        r->bad = true;
        return 0xc1; /* never used by msgpack */
    }
    r->left--;
    return *r->p++;
}

int lbw_read_begin(struct lbw_reader *r, const uint8_t *body, size_t n, uint32_t version,
                   uint32_t *ret_type)
{
    uint8_t tag;
    uint32_t type;

    *r = (struct lbw_reader){body, body + n, 0, false};
    if (n == 0)
        return -EPROTO;
    tag = *r->p++;
    if ((tag & 0xf0) == 0x90)
        r->left = tag & 0x0f;
    else if (tag == 0xdc)
        r->left = take_be(r, 2);
    else if (tag == 0xdd)
        r->left = take_be(r, 4);
    else
        return -EPROTO;
    if (lbw_read_u64(r, UINT32_MAX) != version)
        return -EPROTO;
    type = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    if (r->bad)
        return -EPROTO;
    *ret_type = type;
    return 0;
}

/* Any msgpack integer as magnitude and sign. */
static uint64_t take_int(struct lbw_reader *r, bool *ret_negative)
{
    uint8_t tag = take_tag(r);
    size_t width = (size_t)1 << (tag & 3);
    uint64_t v;

    *ret_negative = false;
    if (tag < 0x80)
        return tag;
    if (tag >= 0xe0) {
        *ret_negative = true;
        return 256u - tag;
    }
    if (tag >= 0xcc && tag <= 0xcf)
        return take_be(r, width);
    if (tag < 0xd0 || tag > 0xd3) {
        r->bad = true;
        return 0;
    }
    v = take_be(r, width);
    if (!(v >> (8 * width - 1)))
        return v;
    *ret_negative = true;
    return width == 8 ? 0 - v : (UINT64_C(1) << (8 * width)) - v;
}

uint64_t lbw_read_u64(struct lbw_reader *r, uint64_t most)
{
    bool negative;
    uint64_t v = take_int(r, &negative);

    if (negative || v > most)
        r->bad = true;
    return r->bad ? 0 : v;
}

int64_t lbw_read_i64(struct lbw_reader *r, int64_t least, int64_t most)
{
    bool negative;
    uint64_t magnitude = take_int(r, &negative);
    int64_t v;

    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        r->bad = true;
        return 0;
    }
    v = negative ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
    if (v < least || v > most)
        r->bad = true;
    return r->bad ? 0 : v;
}

double lbw_read_f64(struct lbw_reader *r, double least, double most)
{
    uint8_t tag = take_tag(r);
    uint64_t bits;
    double v;

    if (tag != 0xcb)
        r->bad = true;
    bits = take_be(r, r->bad ? 0 : 8);
    memcpy(&v, &bits, sizeof(v));
    if (!r->bad && !(isfinite(v) && v >= least && v <= most))
        r->bad = true;
    return r->bad ? 0 : v;
}

/* n bytes that follow; NULL and bad when they are not there. */
static const uint8_t *take_body(struct lbw_reader *r, uint64_t n)
{
    const uint8_t *p = r->p;

    if (r->bad || (uint64_t)(r->end - r->p) < n) {
        r->bad = true;
        return NULL;
    }
    r->p += n;
    return p;
}

void lbw_read_str(struct lbw_reader *r, char *ret_text, size_t size)
{
    uint8_t tag = take_tag(r);
    const uint8_t *p;
    uint64_t n = 0;

    if ((tag & 0xe0) == 0xa0)
        n = tag & 0x1f;
    else if (tag >= 0xd9 && tag <= 0xdb)
        n = take_be(r, (size_t)1 << (tag - 0xd9));
    else
        r->bad = true;
    p = take_body(r, n);
    ret_text[0] = '\0';
    if (!p || n >= size || memchr(p, 0, n)) {
        r->bad = true;
        return;
    }
    memcpy(ret_text, p, n);
    ret_text[n] = '\0';
}

void lbw_read_bytes(struct lbw_reader *r, void *ret_bytes, size_t n)
{
    uint8_t tag = take_tag(r);
    const uint8_t *p;
    uint64_t told = 0;

    if (tag >= 0xc4 && tag <= 0xc6)
        told = take_be(r, (size_t)1 << (tag - 0xc4));
    else
        r->bad = true;
    p = take_body(r, told);
    if (!p || told != n) {
        r->bad = true;
        memset(ret_bytes, 0, n);
        return;
    }
    memcpy(ret_bytes, p, n);
}

int lbw_read_end(struct lbw_reader *r)
{
    return r->bad || r->left != 0 || r->p != r->end ? -EPROTO : 0;
}
