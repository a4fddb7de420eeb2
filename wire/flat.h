/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flat messages: one msgpack array of integers, doubles and strings, nothing nested.
 *
 * Writing uses msgpack-c.  Reading is our own: msgpack-c allocates what an array's header claims
 * before it looks at the bytes that follow, so that five bytes of a peer ask for gigabytes; this
 * reader allocates nothing and takes only the flat subset.
 */
#ifndef LBW_FLAT_H
#define LBW_FLAT_H

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

struct lbw_writer {
    msgpack_packer packer;
    struct lbx_buf *out;
    size_t start; /* length of out before this message */
    int error;    /* first failure of out, negative errno */
};

/* Begin a message of exactly nfields fields, version and type among them.  w must not be moved
 * until lbw_write_end. */
void lbw_write_begin(struct lbw_writer *w, struct lbx_buf *out, size_t nfields, uint32_t version,
                     uint32_t type);
void lbw_write_u64(struct lbw_writer *w, uint64_t v);
void lbw_write_i64(struct lbw_writer *w, int64_t v);
void lbw_write_f64(struct lbw_writer *w, double v);
void lbw_write_str(struct lbw_writer *w, const char *s); /* up to its NUL */
void lbw_write_bytes(struct lbw_writer *w, const void *p, size_t n);
/* Returns 0, or the first failure (-EMSGSIZE, -ENOMEM): then out is as it was before
 * lbw_write_begin. */
int lbw_write_end(struct lbw_writer *w) __attribute__((warn_unused_result));

struct lbw_reader {
    const uint8_t *p, *end;
    size_t left; /* fields not read yet */
    bool bad;    /* something was not as asked: every later read gives 0, and lbw_read_end fails */
};

/*
 * Begin to read one message; the array must be the whole body.
 * Returns 0, or -EPROTO (no array, another version).
 */
int lbw_read_begin(struct lbw_reader *r, const uint8_t *body, size_t n, uint32_t version,
                   uint32_t *ret_type) __attribute__((warn_unused_result));
uint64_t lbw_read_u64(struct lbw_reader *r, uint64_t most);
int64_t lbw_read_i64(struct lbw_reader *r, int64_t least, int64_t most);
double lbw_read_f64(struct lbw_reader *r, double least, double most); /* finite, within */
/* Copies with a NUL; the string must fit and hold no NUL. */
void lbw_read_str(struct lbw_reader *r, char *ret_text, size_t size);
/* Exactly n bytes. */
void lbw_read_bytes(struct lbw_reader *r, void *ret_bytes, size_t n);
/* Returns 0 when every read was right, no field is left and no byte trails; else -EPROTO. */
int lbw_read_end(struct lbw_reader *r) __attribute__((warn_unused_result));

#endif
