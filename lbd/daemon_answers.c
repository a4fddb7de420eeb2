/* SPDX-License-Identifier: BSD-3-Clause */
/* What an lbd answers on its socket, and what lbctl may change of it. */
#include <errno.h>

#include "common/clock.h"
#include "lbd/daemon_impl.h"
#include "lbd/node/steps.h"
#include "lbd/retention.h"
#include "lbd/rules.h"
#include "lbd/stepfiles.h"

struct lbd_view lbd_daemon_view(const struct lbd *d)
{
    return (struct lbd_view){.options = d->options,
                             .conf = &d->conf,
                             .node = d->node,
                             .uplink = d->uplink,
                             .controller = d->controller,
                             .weights = d->weights,
                             .slurm = d->slurm,
                             .ranking = &d->ranking,
                             .server = d->server,
                             .spread = d->spread,
                             .started_wall_ns = d->started_wall_ns,
                             .reload_failures = d->reload.failures,
                             .jobs = d->jobs,
                             .foreseen = &d->foreseen,
                             .hands = &d->hands};
}

static bool may_command(void *data, uid_t uid)
{
    const struct lbd *d = data;

    for (size_t i = 0; i < d->conf.nusers; i++)
        if (d->conf.user[i] == uid)
            return true;
    return false;
}

static char *command(void *data, uint64_t request, const char *text, struct lbx_error *err)
{
    struct lbd_view v = lbd_daemon_view(data);

    return lbd_command(&v, request, text, err);
}

/* The step that a peer speaks for; false: none. */
static bool step_of(struct lbd *d, const struct lbd_peer *peer, struct lbd_stepfile *ret)
{
    const struct lbd_step *step = d->node ? lbd_node_step_of(d->node, peer->pid) : NULL;
    const struct lbd_speaker *known;

    if (step) {
        *ret = (struct lbd_stepfile){step->jobid, step->stepid};
        lbd_speakers_know(&d->speakers, step->jobid, step->stepid, peer->uid, peer->pid);
        return true;
    }
    known = lbd_speakers_find(&d->speakers, peer->uid, peer->pid);
    if (known)
        *ret = (struct lbd_stepfile){known->jobid, known->stepid};
    return known != NULL;
}

static int job(void *data, const struct lbd_peer *peer, const char *json, struct lbx_error *err)
{
    struct lbd *d = data;
    struct lbd_stepfile s;

    if (!step_of(d, peer, &s)) {
        lbd_jobs_refused(d->jobs, LBD_JOBS_STRANGER);
        return lbx_error_set(err, -EPERM, "job figures: process %d belongs to no step of this host",
                             (int)peer->pid);
    }
    return lbd_jobs_take(d->jobs, peer->uid, s.jobid, s.stepid, json, lbx_clock_mono_ns(), err);
}

static int decisions(void *data, const struct lbd_peer *peer, const char *json,
                     struct lbx_error *err)
{
    struct lbd *d = data;
    struct lbd_stepfile s;
    int rc;

    if (!step_of(d, peer, &s))
        return lbx_error_set(err, -EPERM, "decisions: process %d belongs to no step of this host",
                             (int)peer->pid);
    rc = lbd_decisions_take(d->decisions, peer->uid, s.jobid, s.stepid, json, lbx_clock_mono_ns(),
                            err);
    if (d->uplink && rc != -EINVAL && rc != -EBUSY)
        lbd_uplink_decisions(d->uplink, s.jobid, s.stepid, peer->uid, json);
    return rc;
}

static char *explain(void *data, uid_t uid, bool all, const char *text, struct lbx_error *err)
{
    struct lbd *d = data;

    return lbd_decisions_answer(d->decisions, uid, all, text, lbx_clock_mono_ns(), err);
}

static int64_t load_interval_ns(void *data)
{
    const struct lbd *d = data;

    return d->conf.load_interval_ns;
}

static void rule(void *data, const struct lbw_local_scope *scope, struct lbw_local_rule *ret_rule)
{
    const struct lbd *d = data;

    lbd_rules_for(&d->conf, scope, ret_rule);
}

static struct lbp_index_weights weights_of(const struct lbx_policyconf *c)
{
    return (struct lbp_index_weights){c->index_scale, c->index_user, c->index_terminal,
                                      c->index_task};
}

struct lbd_node_settings lbd_daemon_node_settings(const struct lbd *d)
{
    return (struct lbd_node_settings){.load_interval_ns = d->conf.load_interval_ns,
                                      .benchmark_interval_ns = d->conf.benchmark_interval_ns,
                                      .jitter = d->conf.jitter_ratio,
                                      .weights = weights_of(&d->conf)};
}

struct lbd_controller_settings lbd_daemon_controller_settings(const struct lbd *d)
{
    struct lbd_controller_settings s = {.state = d->options->state,
                                        .listen_address = d->options->listen.host,
                                        .listen_port = d->options->listen.port,
                                        .weights = weights_of(&d->conf),
                                        .max_bytes = d->conf.database_bytes_max,
                                        .verify_address = d->conf.verify_address,
                                        .load_interval_ns = d->conf.load_interval_ns};

    lbd_retention(&d->conf, d->options->state, &s.keep);
    return s;
}

void lbd_daemon_apply(struct lbd *d)
{
    struct lbd_node_settings node = lbd_daemon_node_settings(d);
    struct lbd_controller_settings controller = lbd_daemon_controller_settings(d);

    if (d->node && !d->stopping)
        lbd_node_set(d->node, &node);
    if (d->controller && !d->stopping)
        lbd_controller_set(d->controller, &controller);
}

static void probe(void *data, int64_t interval_ns)
{
    struct lbd *d = data;

    if (interval_ns > 0)
        d->conf.load_interval_ns = interval_ns;
    lbd_node_probe(d->node, interval_ns);
}

static void set_weights(void *data, const struct lbp_index_weights *w)
{
    struct lbd *d = data;

    d->conf.index_scale = w->scale;
    d->conf.index_user = w->user;
    d->conf.index_terminal = w->terminal;
    d->conf.index_task = w->task;
    lbd_daemon_apply(d);
}

void lbd_daemon_answers(struct lbd *d, struct lbd_local_sources *ret)
{
    d->hands = (struct lbd_hands){probe, set_weights, d};
    *ret = (struct lbd_local_sources){.ranking = &d->ranking,
                                      .node = d->node,
                                      .spread = d->spread,
                                      .vacant = d->vacant,
                                      .may_command = may_command,
                                      .command = command,
                                      .load_interval_ns = load_interval_ns,
                                      .rule = rule,
                                      .job = job,
                                      .decisions = decisions,
                                      .explain = explain,
                                      .data = d};
}
