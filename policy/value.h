/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of keys, out of a person's text. Each function returns 0, or -EINVAL with a message that names the key and says what would
 * be right; its output is untouched then.  Pure, no allocation, whatever the locale.
 */
#ifndef LBP_VALUE_H
#define LBP_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define LBP_NS_PER_S INT64_C(1000000000)
#define LBP_MICRO INT64_C(1000000) /* ratios are kept to so many parts */
#define LBP_SHOWN_MAX 40           /* bytes of a person's text that are shown again */

/* A piece of the text, borrowed; not ended by a NUL. */
struct lbp_piece {
    const char *at;
    size_t n;
};

bool lbp_piece_is(struct lbp_piece p, const char *name);

/* The piece as it can be shown in a message: cut, and without bytes that a terminal might obey. */
struct lbp_shown {
    char text[LBP_SHOWN_MAX + 4];
};
struct lbp_shown lbp_piece_show(struct lbp_piece p);

/* A duration as a person writes it, "10ms": in the largest unit in which it is whole. */
struct lbp_shown lbp_duration_show(int64_t ns);

/* As 50ms, 0.5s, 5m, 1h or 2 (seconds). */
int lbp_value_duration(struct lbp_piece value, const char *key, int64_t min_ns, int64_t max_ns,
                       int64_t *ret_ns, struct lbx_error *err) __attribute__((warn_unused_result));

/* From 0 to max_micro parts of LBP_MICRO. */
int lbp_value_ratio(struct lbp_piece value, const char *key, int64_t max_micro, double *ret_ratio,
                    struct lbx_error *err) __attribute__((warn_unused_result));

/* A whole number from 1 to max. */
int lbp_value_number(struct lbp_piece value, const char *key, int64_t max, int64_t *ret,
                     struct lbx_error *err) __attribute__((warn_unused_result));

/* yes or no. */
int lbp_value_choice(struct lbp_piece value, const char *key, bool *ret, struct lbx_error *err)
    __attribute__((warn_unused_result));

/* The name of a file, ended by a NUL; ret_path[out] [size]. */
int lbp_value_path(struct lbp_piece value, const char *key, size_t size, char *ret_path,
                   struct lbx_error *err) __attribute__((warn_unused_result));

#endif
