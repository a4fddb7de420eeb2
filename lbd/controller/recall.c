/* SPDX-License-Identifier: BSD-3-Clause */
/* What the database remembers of a host's load. */
#include "lbd/controller/recall.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"

#define RAW_S 900
#define HOURS_S (14 * 86400)

struct recall {
    void *data;
    uint32_t index;
    void (*take)(void *data, uint32_t index, enum lbd_resolution resolution,
                 const struct lbd_db_point *point, size_t n);
};

static void on_read(struct lbd_ask *a)
{
    struct recall *r = a->data;

    if (a->rc == 0 && a->n > 0)
        r->take(r->data, r->index, a->resolution, a->point, a->n);
    free(r);
    lbd_ask_destroy(a);
}

static void ask(struct lbd_store *store, const char *host, const struct recall *recall,
                enum lbd_resolution resolution, int64_t span_s, size_t max)
{
    struct lbd_ask *a = calloc(1, sizeof(*a));
    struct recall *r = malloc(sizeof(*r));

    if (a && r) {
        *r = *recall;
        *a = (struct lbd_ask){.what = LBD_ASK_POINTS, .resolution = resolution, .max = max};
        snprintf(a->host, sizeof(a->host), "%s", host);
        a->to_s = lbx_clock_wall_ns() / LBX_NS_PER_S;
        a->from_s = a->to_s - span_s;
        a->data = r;
        a->done = on_read;
        if (lbd_store_ask(store, a) == 0)
            return;
    }
    free(r);
    lbd_ask_destroy(a); /* too many ask at once: this one learns by itself */
}

void lbd_recall_start(struct lbd_store *store, const char *host, void *data, uint32_t index,
                      void (*take)(void *data, uint32_t index, enum lbd_resolution resolution,
                                   const struct lbd_db_point *point, size_t n))
{
    struct recall r = {data, index, take};

    ask(store, host, &r, LBD_1H, HOURS_S, HOURS_S / 3600 + 1);
    ask(store, host, &r, LBD_RAW, RAW_S, RAW_S);
}
