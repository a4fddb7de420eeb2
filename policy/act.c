/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing down what the ranks are to do. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policy/balance_impl.h"

/* Moves of one source that are under way at once: its reports have room for 32. */
#define UNDER_WAY_MAX 24
/* Messages for one transfer: the rest can follow with the next plan. */
#define SPANS_PER_TRANSFER 16

static int append(struct lbp_actions *out, const struct lbp_action *action)
{
    if (out->n == out->size) {
        size_t size = out->size ? 2 * out->size : 16;
        struct lbp_action *grown = realloc(out->action, size * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        out->action = grown;
        out->size = size;
    }
    out->action[out->n++] = *action;
    return 0;
}

void lbp_actions_fini(struct lbp_actions *a)
{
    if (!a)
        return;
    free(a->action);
    memset(a, 0, sizeof(*a));
}

int lbp_act_final(struct lbp_balance *b, struct lbp_actions *out)
{
    struct lbp_action action = {.type = LBP_FINAL, .pass = b->model.pass};
    struct lbp_decision d = {
        .kind = LBP_DECIDED_FINAL, .done = true, .from = UINT32_MAX, .to = UINT32_MAX};
    int ret = append(out, &action);

    if (ret == 0)
        lbp_act_say(b, &d);
    if (ret == 0)
        lbp_model_final(&b->model);
    return ret;
}

void lbp_act_say(struct lbp_balance *b, const struct lbp_decision *d)
{
    if (b->said.n == LBP_DECISIONS_MAX) {
        b->said.left_out++;
        return;
    }
    b->said.list[b->said.n] = *d;
    b->said.list[b->said.n].pass = b->model.pass;
    b->said.list[b->said.n++].period_ns = b->period_ns;
}

void lbp_act_say_moves(struct lbp_balance *b, struct lbp_decision *d, const struct lbp_actions *out,
                       size_t begin)
{
    for (size_t i = begin; i < out->n; i++)
        if (out->action[i].type == LBP_MOVE) {
            d->moves++;
            d->iterations += out->action[i].last - out->action[i].first;
        }
    d->done = d->moves > 0;
    lbp_act_say(b, d);
}

void lbp_act_refuse(struct lbp_balance *b, const struct lbp_decision *d)
{
    if (b->refused_pass != b->model.pass)
        memset(b->refused, 0, b->model.nranks * sizeof(*b->refused));
    b->refused_pass = b->model.pass;
    if (!b->refused[d->to])
        lbp_act_say(b, d);
    b->refused[d->to] = true;
}

int lbp_act_final_again(int64_t pass, struct lbp_actions *out)
{
    struct lbp_action action = {.type = LBP_FINAL, .pass = pass};

    return append(out, &action);
}

int lbp_act_answer(uint32_t rank, int64_t asks, struct lbp_actions *out)
{
    struct lbp_action action = {.type = LBP_ANSWER, .rank = rank, .asks = asks};

    return append(out, &action);
}

static bool differs(int64_t told, int64_t now, double ratio)
{
    return told <= 0 || fabs((double)(now - told)) > ratio * (double)told;
}

int lbp_act_instruct(struct lbp_balance *b, uint32_t rank, int64_t period_ns, int64_t low_ns,
                     int64_t chunk_ns, int64_t now_ns, struct lbp_actions *out)
{
    struct lbp_rank *r = &b->model.rank[rank];
    struct lbp_action action = {.type = LBP_INSTRUCT,
                                .rank = rank,
                                .pass = b->model.pass,
                                .period_ns = period_ns,
                                .low_ns = low_ns,
                                .chunk_ns = chunk_ns};
    int ret;

    if (!differs(r->period_ns, period_ns, 0.2) && !differs(r->low_ns, low_ns, 0.5) &&
        !differs(r->chunk_ns, chunk_ns, 0.2))
        return 0;
    ret = append(out, &action);
    if (ret == 0) {
        int64_t heard = now_ns + (int64_t)(2 * b->model.message_ns);

        /* a shorter period is obeyed from the first hook after the message */
        if (r->told_ns + period_ns > r->due_ns)
            r->due_ns = r->told_ns + period_ns;
        else
            r->due_ns = r->told_ns + period_ns > heard ? r->told_ns + period_ns : heard;
        r->period_ns = period_ns;
        r->low_ns = low_ns;
        r->chunk_ns = chunk_ns;
    }
    return ret;
}

int lbp_act_move(struct lbp_balance *b, const struct lbp_transfer *t, int64_t iterations,
                 enum lbp_reason reason, int64_t now_ns, struct lbp_actions *out)
{
    struct lbp_model *m = &b->model;
    struct lbp_rank *from = &m->rank[t->from];
    double work = t->work;
    bool moved = false;
    int under_way = 0;

    for (const struct lbp_flight *f = from->out; f; f = f->next_out)
        under_way++;
    for (int spans = 0; spans < SPANS_PER_TRANSFER && from->left.n > 0; spans++) {
        struct lbx_span s = from->left.span[from->left.n - 1];
        int64_t k = s.last - s.first;
        struct lbp_action action = {.type = LBP_MOVE,
                                    .rank = t->from,
                                    .dest = t->to,
                                    .pass = m->pass,
                                    .epoch = b->epoch,
                                    .last = s.last,
                                    .reason = reason};
        int ret;

        if (under_way++ >= UNDER_WAY_MAX)
            break; /* it does not come to a hook: no use in telling it more */
        if (iterations > 0)
            k = iterations < k ? iterations : k;
        else
            k = lbp_profile_take(&m->profile, s.first, s.last, work);
        if (k <= 0)
            break;
        action.first = s.last - k;
        ret = append(out, &action);
        if (ret < 0)
            return ret;
        ret = lbp_model_move(m, b->epoch, t->from, t->to, action.first, action.last, now_ns,
                             now_ns + (int64_t)fmin(t->arrive, 1e15));
        if (ret < 0) {
            out->n--;
            return ret;
        }
        b->epoch++;
        moved = true;
        work -= lbp_profile_work(&m->profile, action.first, action.last);
        if (iterations > 0 && (iterations -= k) == 0)
            break;
        if (!(work > 0))
            break;
    }
    if (moved)
        b->decisions[reason]++;
    return 0;
}
