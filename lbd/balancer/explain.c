/* SPDX-License-Identifier: BSD-3-Clause */
/* What was decided in this step and why. */
#include "lbd/balancer/explain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "lbd/balancer/trace.h"
#include "wire/rank.h"

#define HALF (LBD_EXPLAIN_RANKS / 2)

struct shown {
    uint32_t rank;
    struct lbp_seen seen;
};

struct kept {
    int64_t at_ns;
    char loop[LBW_NAME_MAX];
    struct lbp_decision d;
    int64_t left_out; /* further ones of the same call */
    uint32_t nshown;
    struct shown shown[LBD_EXPLAIN_RANKS];
};

struct lbd_explain {
    int64_t begin_ns;
    uint64_t next; /* number of the next decision: it goes to [next % RING] */
    struct kept ring[LBD_EXPLAIN_RING];
};

static const char *const kind_name[] = {
    [LBP_DECIDED_PLAN] = "plan",
    [LBP_DECIDED_PAIR] = "pair",
    [LBP_DECIDED_FINAL] = "final",
    [LBP_DECIDED_STEPS] = "steps",
};

static const char *const detail_name[LBP_DETAILS] = {
    [LBP_DETAIL_STAKE] = "stake",   [LBP_DETAIL_UNDONE] = "undone", [LBP_DETAIL_PART] = "part",
    [LBP_DETAIL_AMENDS] = "amends", [LBP_DETAIL_BACK] = "back",
};

int lbd_explain_create(int64_t begin_ns, struct lbd_explain **ret)
{
    struct lbd_explain *e = calloc(1, sizeof(*e));

    if (!e)
        return -ENOMEM;
    e->begin_ns = begin_ns;
    *ret = e;
    return 0;
}

void lbd_explain_destroy(struct lbd_explain *e)
{
    free(e);
}

static int by_rank(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;

    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Keep s among the n best of list, the worst of them last; up: small rates are better. */
static void insert(struct shown *list, uint32_t *n, struct shown s, bool up)
{
    uint32_t at = *n;

    while (at > 0 && (up ? s.seen.filtered_hz < list[at - 1].seen.filtered_hz
                         : s.seen.filtered_hz > list[at - 1].seen.filtered_hz))
        at--;
    if (at == HALF)
        return;
    if (*n < HALF)
        (*n)++;
    memmove(&list[at + 1], &list[at], (*n - at - 1) * sizeof(*list));
    list[at] = s;
}

/* All ranks, or the slowest and the fastest; in order of their numbers. */
static void choose(struct kept *k, const struct lbp_seen *seen, uint32_t nranks)
{
    uint32_t nslow = 0, nfast = 0;

    k->nshown = 0;
    if (!seen)
        return;
    if (nranks <= LBD_EXPLAIN_RANKS) {
        for (uint32_t r = 0; r < nranks; r++)
            k->shown[k->nshown++] = (struct shown){r, seen[r]};
        return;
    }
    for (uint32_t r = 0; r < nranks; r++)
        insert(k->shown, &nslow, (struct shown){r, seen[r]}, true);
    for (uint32_t r = 0; r < nranks; r++) {
        bool slow = false;

        for (uint32_t i = 0; i < nslow; i++)
            slow = slow || k->shown[i].rank == r;
        if (!slow)
            insert(k->shown + HALF, &nfast, (struct shown){r, seen[r]}, false);
    }
    k->nshown = nslow + nfast;
    qsort(k->shown, k->nshown, sizeof(*k->shown), by_rank);
}

void lbd_explain_add(struct lbd_explain *e, const char *loop, const struct lbp_decisions *d,
                     const struct lbp_seen *seen, uint32_t nranks, struct lbd_trace *trace,
                     int64_t now_ns)
{
    for (size_t i = 0; i < d->n; i++) {
        struct kept *k = &e->ring[e->next % LBD_EXPLAIN_RING];

        k->at_ns = now_ns;
        lbx_text_clean(loop, k->loop, sizeof(k->loop)); /* JSON takes UTF-8 alone */
        k->d = d->list[i];
        k->left_out = i + 1 == d->n ? d->left_out : 0;
        choose(k, seen, nranks);
        e->next++;
        if (trace)
            lbd_trace_decision(trace, now_ns, lbd_explain_json(e, e->next - 1));
    }
}

void lbd_explain_range(const struct lbd_explain *e, uint64_t *ret_first, uint64_t *ret_next)
{
    *ret_next = e->next;
    *ret_first = e->next > LBD_EXPLAIN_RING ? e->next - LBD_EXPLAIN_RING : 0;
}

bool lbd_explain_done(const struct lbd_explain *e, uint64_t first, uint64_t next)
{
    for (uint64_t i = first; i < next; i++)
        if (e->ring[i % LBD_EXPLAIN_RING].d.done)
            return true;
    return false;
}

/* JSON has no infinities: a rank without any speed never ends. */
static void put_real(json_t *o, const char *key, double v)
{
    if (isfinite(v))
        json_object_set_new(o, key, json_real(v));
}

static void put_s(json_t *o, const char *key, double ns)
{
    put_real(o, key, ns / 1e9);
}

static void put_int(json_t *o, const char *key, int64_t v)
{
    json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *pack_ranks(const struct kept *k)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < k->nshown; i++) {
        const struct shown *s = &k->shown[i];

        json_array_append_new(list, json_pack("[I,f,f,f]", (json_int_t)s->rank, s->seen.raw_hz,
                                              s->seen.filtered_hz, s->seen.share_ratio));
    }
    return list;
}

json_t *lbd_explain_json(const struct lbd_explain *e, uint64_t seq)
{
    const struct kept *k = &e->ring[seq % LBD_EXPLAIN_RING];
    const struct lbp_decision *d = &k->d;
    uint64_t first, next;
    json_t *o;

    lbd_explain_range(e, &first, &next);
    if (seq < first || seq >= next)
        return NULL;
    o = json_pack("{s:I, s:f, s:s, s:I, s:s, s:b}", "seq", (json_int_t)seq, "t_s",
                  (double)(k->at_ns - e->begin_ns) / 1e9, "loop", k->loop, "pass",
                  (json_int_t)d->pass, "kind", kind_name[d->kind], "done", d->done);
    if (!o)
        return NULL;
    if (d->kind != LBP_DECIDED_FINAL) {
        json_object_set_new(o, "reason", json_string(lbd_trace_reason(d->reason)));
        if (detail_name[d->detail])
            json_object_set_new(o, "detail", json_string(detail_name[d->detail]));
        put_real(o, "gain", d->gain_ratio);
        put_s(o, "before_s", d->before_ns);
        put_s(o, "after_s", d->after_ns);
        put_s(o, "cost_s", d->cost_ns);
        put_s(o, "benefit_s", d->benefit_ns);
        put_int(o, "moves", d->moves);
        put_int(o, "iterations", d->iterations);
    }
    if (d->kind == LBP_DECIDED_PLAN || d->kind == LBP_DECIDED_STEPS) {
        put_real(o, "needed", d->needed_ratio);
        put_real(o, "threshold", d->threshold_ratio);
        put_real(o, "noise", d->noise_ratio);
        put_s(o, "stable_s", d->stable_ns);
    }
    if (d->kind == LBP_DECIDED_STEPS)
        put_s(o, "account_s", d->account_ns);
    if (d->unmeasured_ns > 0)
        put_s(o, "unmeasured_s", d->unmeasured_ns);
    if (d->kind == LBP_DECIDED_PAIR) {
        put_int(o, "from", d->from);
        put_int(o, "to", d->to);
    }
    if (d->period_ns > 0)
        put_s(o, "period_s", (double)d->period_ns);
    if (k->left_out > 0)
        put_int(o, "left_out", k->left_out);
    if (k->nshown > 0)
        json_object_set_new(o, "ranks", pack_ranks(k));
    return o;
}
