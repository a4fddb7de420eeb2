/* SPDX-License-Identifier: BSD-3-Clause */
/* A stepped loop's ranks and its policy. */
#include "lbd/balancer/steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lbd/balancer/trace.h"

#define CHUNK_NS 1000000 /* stepped loops have no chunks, but the message has a field for them */

int lbd_steps_begin(const struct lbd_loops_config *config, const struct lbw_open *open,
                    int64_t now_ns, struct lbp_stepped **ret, struct lbp_firsts **ret_firsts,
                    struct lbx_error *err)
{
    /* Halos wider than a block are brought all the same, so none is too narrow. */
    struct lbp_stepped_config c = {
        .kind = open[0].kind == LBW_DOACROSS ? LBP_DOACROSS : LBP_STEPPED,
        .nranks = config->nranks,
        .n = open[0].n,
        .row_bytes = open[0].row_bytes,
        .pipelined = open[0].pipelined,
        .weight = config->weight,
        .hardware = config->hardware,
        .params = config->params,
        .t_interact_ns = config->t_interact_ns,
        .stable_ns = config->stable_ns,
        .first_epoch = 1,
    };
    int64_t *bound = calloc((size_t)config->nranks + 1, sizeof(*bound));
    int rc = 0;

    if (!bound)
        return lbx_error_set(err, -ENOMEM, "no memory for loop \"%s\"", open[0].name);
    for (uint32_t r = 0; r < config->nranks && rc == 0; r++) {
        if ((open[r].owned_first != bound[r] && open[r].owned_last > open[r].owned_first) ||
            open[r].pipelined != open[0].pipelined || open[r].row_bytes != open[0].row_bytes)
            rc = -EPROTO;
        bound[r + 1] = open[r].owned_last > open[r].owned_first ? open[r].owned_last : bound[r];
    }
    if (rc < 0 || bound[config->nranks] != c.n)
        rc = lbx_error_set(
            err, -EPROTO,
            "stepped loop \"%s\": the ranks' blocks do not join, or their rows differ",
            open[0].name);
    else {
        rc = lbp_firsts_create(config->nranks, bound, config->hardware, c.pipelined, !c.params.sync,
                               ret_firsts);
        if (rc < 0)
            rc = lbx_error_set(err, rc, "no memory for loop \"%s\"", open[0].name);
        else
            rc = lbp_stepped_create(&c, bound, now_ns, ret, err);
    }
    free(bound);
    return rc;
}

static void tell_plan(const struct lbd_loops_config *config, uint32_t loop,
                      const struct lbp_stepped_action *a, int64_t now_ns)
{
    static struct lbw_rank_msg msg; /* large; the daemon has one thread */
    struct lbw_layout *y = &msg.u.layout;
    bool all = config->nranks <= LBW_LAYOUT_RANKS_MAX;

    msg.type = LBW_LAYOUT;
    y->loop = loop;
    y->epoch = a->epoch;
    y->block = a->block;
    y->first = -1;
    y->nranks = config->nranks;
    for (uint32_t r = 0; all && r < config->nranks; r++)
        y->count[r] = a->bound[r + 1] - a->bound[r];
    lbd_trace_layout(config->trace, now_ns, loop, a, config->nranks);
    for (uint32_t r = 0; r < config->nranks; r++) {
        if (!all)
            y->first = a->bound[r];
        config->send(config->arg, r, &msg);
    }
}

static void tell_period(const struct lbd_loops_config *config, uint32_t loop, int64_t period_ns)
{
    const struct lbw_instruct instruct = {loop, period_ns, 0, CHUNK_NS};
    static struct lbw_rank_msg msg;

    msg.type = LBW_INSTRUCT;
    msg.u.instruct = instruct;
    for (uint32_t r = 0; r < config->nranks; r++)
        config->send(config->arg, r, &msg);
}

void lbd_steps_answer(const struct lbd_loops_config *config, uint32_t loop, uint32_t rank,
                      int64_t step)
{
    static struct lbw_rank_msg msg;

    msg.type = LBW_ANSWER;
    msg.u.answer = (struct lbw_answer){loop, step};
    config->send(config->arg, rank, &msg);
}

/* The wire's samples have the shape of the policy's; only the types differ. */
int lbd_steps_take(const struct lbd_loops_config *config, struct lbp_stepped *stepped,
                   struct lbp_firsts *firsts, uint32_t rank, const struct lbw_step *m,
                   int64_t now_ns, struct lbx_error *err)
{
    struct lbp_stepped_action action[LBP_STEPPED_ACTIONS];
    struct lbp_sample sample[LBW_SAMPLES_MAX];
    struct lbp_stepped_report report = {
        .rank = rank,
        .step = m->step,
        .steps = m->steps,
        .epoch = m->epoch,
        .first = m->first,
        .last = m->last,
        .wall_ns = m->wall_ns,
        .cpu_ns = m->cpu_ns,
        .wait_ns = m->wait_ns,
        .sample = sample,
        .nsamples = m->nsamples,
        .move_bytes = m->move_bytes,
        .move_wall_ns = m->move_wall_ns,
        .move_cpu_ns = m->move_cpu_ns,
        .shift_iterations = m->shift_elements,
        .shift_ns = m->shift_ns,
        .quota_cpus = m->quota_cpus,
        .quota_period_ns = m->quota_period_ns,
        .quota_group = m->quota_group,
    };
    size_t n = 0;
    int rc;

    for (size_t i = 0; i < m->nsamples; i++)
        sample[i] = (struct lbp_sample){m->sample[i].first, m->sample[i].last, m->sample[i].wall_ns,
                                        m->sample[i].cpu_ns};
    rc = lbp_stepped_report(stepped, &report, now_ns, action, &n);
    if (rc < 0)
        return lbx_error_set(err, rc == -EINVAL ? -EPROTO : rc,
                             "stepped loop %" PRIu32 ": rank %" PRIu32 " reports what cannot be",
                             m->loop, rank);
    lbp_firsts_report(firsts, &report, lbp_stepped_block(stepped), now_ns);
    for (size_t i = 0; i < n; i++) {
        if (action[i].type == LBP_STEPPED_PLAN)
            tell_plan(config, m->loop, &action[i], now_ns);
        else if (action[i].type == LBP_STEPPED_INSTRUCT)
            tell_period(config, m->loop, action[i].period_ns);
        else
            for (uint32_t r = 0; r < config->nranks; r++)
                lbd_steps_answer(config, m->loop, r, lbp_stepped_step(stepped, r));
    }
    return 0;
}
