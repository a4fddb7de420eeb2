/* SPDX-License-Identifier: BSD-3-Clause */
/* What a balancer of free-running loops has moved, and what of it came back. */
#include "tests/sim/moved.h"

#include <stdlib.h>

#include "policy/balance.h"

int __real_lbp_balance_report(struct lbp_balance *b, const struct lbp_report *r, int64_t now_ns,
                              struct lbp_actions *out);
int __real_lbp_balance_tick(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out);
int __wrap_lbp_balance_report(struct lbp_balance *b, const struct lbp_report *r, int64_t now_ns,
                              struct lbp_actions *out);
int __wrap_lbp_balance_tick(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out);

static struct {
    struct moved sum;
    int64_t n;
    uint32_t
        *gave; /* [n] a bit for each rank that gave the iteration away; NULL: nothing is counted */
    int *back; /* [n] how often it came back to one */
    struct lbp_action *told; /* [ntold] moves, by epoch from 1 on */
    size_t ntold, size;
} now;

void moved_begin(int64_t n)
{
    now.sum = (struct moved){0};
    now.n = n;
    now.ntold = 0;
    now.gave = calloc((size_t)n + 1, sizeof(*now.gave));
    now.back = calloc((size_t)n + 1, sizeof(*now.back));
    if (!now.gave || !now.back)
        abort();
}

struct moved moved_end(void)
{
    free(now.gave);
    free(now.back);
    free(now.told);
    now.gave = NULL;
    now.back = NULL;
    now.told = NULL;
    now.size = now.ntold = 0;
    return now.sum;
}

/* A source gave so many of a move's iterations away: those at its end (sim/rank.c). */
static void given(const struct lbp_action *a, int64_t iterations)
{
    now.sum.moves++;
    now.sum.iterations += iterations;
    for (int64_t i = a->last - iterations; i < a->last; i++) {
        if (now.gave[i] & UINT32_C(1) << a->dest) {
            now.sum.back++;
            if (++now.back[i] > now.sum.most)
                now.sum.most = now.back[i];
        }
        now.gave[i] |= UINT32_C(1) << a->rank;
    }
}

static const struct lbp_action *told(uint64_t epoch)
{
    for (size_t i = now.ntold; i-- > 0;)
        if (now.told[i].epoch == epoch)
            return &now.told[i];
    abort(); /* a move that nobody asked for */
}

static void look(const struct lbp_balance *b, const struct lbp_actions *out, size_t from)
{
    const struct lbp_decisions *d = lbp_balance_decisions(b);

    for (size_t i = 0; i < d->n; i++)
        now.sum.plans += d->list[i].kind == LBP_DECIDED_PLAN && d->list[i].done;
    for (size_t i = from; i < out->n; i++) {
        if (out->action[i].type != LBP_MOVE)
            continue;
        if (now.ntold == now.size) {
            now.size = now.size ? 2 * now.size : 64;
            now.told = realloc(now.told, now.size * sizeof(*now.told));
            if (!now.told)
                abort();
        }
        now.told[now.ntold++] = out->action[i];
    }
}

int __wrap_lbp_balance_report(struct lbp_balance *b, const struct lbp_report *r, int64_t now_ns,
                              struct lbp_actions *out)
{
    size_t from = out->n;
    int ret;

    for (size_t i = 0; now.gave && i < r->ndone; i++)
        if (r->done[i].role == LBP_SENT)
            given(told(r->done[i].epoch), r->done[i].iterations);
    ret = __real_lbp_balance_report(b, r, now_ns, out);
    if (now.gave)
        look(b, out, from);
    return ret;
}

int __wrap_lbp_balance_tick(struct lbp_balance *b, int64_t now_ns, struct lbp_actions *out)
{
    size_t from = out->n;
    int ret = __real_lbp_balance_tick(b, now_ns, out);

    if (now.gave)
        look(b, out, from);
    return ret;
}
