/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl history HOST: what a host reported, as a picture or as JSON. */
#ifndef LBD_CTL_HISTORY_H
#define LBD_CTL_HISTORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

#define LBD_HISTORY_LINES 8

struct lbd_history_wish {
    const char *host;
    const char *of;       /* a column of the answer, as external_cpus */
    int64_t from_s, to_s; /* since 1970 */
    size_t columns;       /* of the terminal */
    bool braille;
};

/*
 * A time: a duration before now_s ("2h", "30m", "3d"), "now", or a local date as 2026-11-21, 2026-11-21T18:30.
 * Returns 0 or -EINVAL.
 */
int lbd_history_time(const char *text, int64_t now_s, int64_t *ret_s)
    __attribute__((warn_unused_result));

/* What to ask for: as fine as the picture can show and the database has.  "raw", "5m" or "1h". */
const char *lbd_history_resolution(int64_t span_s, size_t dots);

/*
 * Ask for all of it, page by page, coarser where nothing finer is left.
 * Returns 0 with *ret {host, resolution, columns, rows}, or as lbd_ctl_ask.
 */
int lbd_history_ask(const char *socket, const struct lbd_history_wish *w, json_t **ret,
                    struct lbx_error *err) __attribute__((warn_unused_result));

/*
 * The mean of the rows in each of n equal parts of the time, NAN where there is none; a row holds for its resolution.
 * Returns the number of parts with a value, or -EINVAL: the answer has no such column.
 */
int lbd_history_bin(const json_t *answer, const struct lbd_history_wish *w, size_t n, double *ret_v)
    __attribute__((warn_unused_result));

/* The picture.  Returns 0 or -EINVAL as above. */
int lbd_history_print(FILE *f, const json_t *answer, const struct lbd_history_wish *w)
    __attribute__((warn_unused_result));

#endif
