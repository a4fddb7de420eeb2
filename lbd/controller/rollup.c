/* SPDX-License-Identifier: BSD-3-Clause */
/* Means of a coarser table out of a finer one. */
#include "lbd/controller/rollup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOST_BITS 20
#define HOST_MASK ((INT64_C(1) << HOST_BITS) - 1)
#define STEP_ROWS 4000
#define AGAIN_S 3600 /* behind the last means at start: nodes keep reports for an hour */

void lbd_rollup_reset(struct lbd_rollup *r)
{
    free(r->sum);
    r->sum = NULL;
    r->nsum = 0;
    r->slot_s = -1;
    r->begun = false;
}

int64_t lbd_rollup_done_s(const struct lbd_rollup *r)
{
    int64_t next_s = r->next_key >> HOST_BITS;

    return !r->begun ? 0 : r->slot_s >= 0 ? r->slot_s : next_s - next_s % lbd_resolution_s[r->to];
}

static void begin_at(struct lbd_rollup *r, int64_t at_s)
{
    if (r->nsum)
        memset(r->sum, 0, r->nsum * sizeof(*r->sum));
    r->next_key = (at_s > 0 ? at_s : 0) << HOST_BITS;
    r->slot_s = -1;
    r->begun = true;
}

/* The first time of which the finer table has all: what was before may be purged in part. */
static int find_whole(const struct lbd_rollup *r, struct lbd_db *db, int64_t *ret_s)
{
    int64_t first_s, last_s, width = lbd_resolution_s[r->to];
    int rc = lbd_db_span(db, r->from, INT64_C(1) << 42, &first_s, &last_s);

    if (rc == 0)
        *ret_s = first_s < 0 ? 0 : (first_s + width - 1) / width * width;
    return rc;
}

/* An hour behind what there is, but never where that could replace whole means by those of a part. */
static int find_begin(struct lbd_rollup *r, struct lbd_db *db, int64_t until_s)
{
    int64_t first_s, last_s, whole_s = 0, width = lbd_resolution_s[r->to];
    int rc = lbd_db_span(db, r->to, until_s, &first_s, &last_s);

    if (rc == 0)
        rc = find_whole(r, db, &whole_s);
    if (rc < 0)
        return rc;
    if (last_s < 0) {
        begin_at(r, 0);
        return 0;
    }
    first_s = last_s - last_s % AGAIN_S - AGAIN_S; /* a multiple of either width */
    if (first_s < whole_s)
        first_s = whole_s < last_s + width ? whole_s : last_s + width;
    begin_at(r, first_s);
    return 0;
}

int lbd_rollup_again(struct lbd_rollup *r, struct lbd_db *db, int64_t at_s)
{
    int64_t whole_s, width = lbd_resolution_s[r->to];
    int rc;

    if (!r->begun || at_s >= lbd_rollup_done_s(r))
        return 0;
    rc = find_whole(r, db, &whole_s);
    at_s -= at_s % width;
    if (at_s < whole_s)
        at_s = whole_s;
    if (rc == 0 && at_s < lbd_rollup_done_s(r))
        begin_at(r, at_s);
    return rc;
}

static int make_room(struct lbd_rollup *r, size_t id)
{
    size_t n = id + 1 + r->nsum / 2;
    struct lbd_db_sum *sum;

    if (id < r->nsum)
        return 0;
    sum = realloc(r->sum, n * sizeof(*sum));
    if (!sum)
        return -ENOMEM;
    memset(sum + r->nsum, 0, (n - r->nsum) * sizeof(*sum));
    r->sum = sum;
    r->nsum = n;
    return 0;
}

/* Add a row; false at the first of the next time, and when there is no memory. */
static bool add_row(void *data, int64_t key, const struct lbd_db_sum *row)
{
    struct lbd_rollup *r = data;
    int64_t at_s = key >> HOST_BITS, slot_s = at_s - at_s % lbd_resolution_s[r->to];
    size_t id = (size_t)(key & HOST_MASK);

    if (r->slot_s >= 0 && slot_s != r->slot_s)
        return false;
    if (make_room(r, id) < 0) {
        r->failed = true;
        return false;
    }
    r->slot_s = slot_s;
    r->sum[id].reports += row->reports;
    for (int i = 0; i < LBD_DB_VALUES; i++)
        r->sum[id].value[i] += row->value[i];
    r->next_key = key + 1;
    return true;
}

int lbd_rollup_step(struct lbd_rollup *r, struct lbd_db *db, int64_t until_s)
{
    int n = 0, rc = 0;

    if (r->begun && r->next_key >> HOST_BITS > until_s + AGAIN_S)
        r->begun = false; /* the clock was set back */
    if (!r->begun)
        rc = find_begin(r, db, until_s);
    if (rc == 0)
        rc = lbd_db_each(db, r->from, r->next_key, until_s << HOST_BITS, STEP_ROWS, add_row, r, &n);
    if (r->failed) {
        lbd_rollup_reset(r); /* a part must not be taken for the whole */
        r->failed = false;
        return -ENOMEM;
    }
    if (rc < 0)
        return rc;
    if (n == STEP_ROWS)
        return 1;
    if (r->slot_s < 0) { /* nothing is left */
        if (r->next_key < until_s << HOST_BITS)
            r->next_key = until_s << HOST_BITS;
        return 0;
    }
    rc = lbd_db_put_means(db, r->to, r->slot_s, r->sum, r->nsum);
    if (rc < 0)
        return rc;
    begin_at(r, r->slot_s + lbd_resolution_s[r->to]);
    return 1;
}
