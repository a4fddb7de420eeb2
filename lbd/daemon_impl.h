/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two halves of the daemon share: its parts and their life (daemon.c), what it answers on its socket (daemon_answers.c). */
#ifndef LBD_DAEMON_IMPL_H
#define LBD_DAEMON_IMPL_H

#include "lbd/commands.h"
#include "lbd/daemon.h"
#include "lbd/decisions.h"
#include "lbd/jobs.h"
#include "lbd/reload.h"
#include "lbd/serve.h"
#include "lbd/speakers.h"

struct lbd {
    const struct lbd_options *options;
    uv_loop_t loop;
    uv_signal_t term, interrupt, hup;
    uv_timer_t watchdog, tidy;
    struct lbx_policyconf conf;
    struct lbd_node *node;
    struct lbd_uplink *uplink;
    struct lbd_controller *controller;
    struct lbd_weights *weights;
    struct lbd_slurmnodes *slurm;
    struct lbd_ranking ranking;
    struct lbd_local_server *server;
    struct lbd_spread *spread;
    struct lbd_vacant *vacant;
    struct lbd_serve *serve; /* NULL: nothing is served */
    uint32_t
        self; /* this host's number at the controller in this process; UINT32_MAX: not joined */
    int64_t started_wall_ns;
    struct lbd_jobs *jobs;
    struct lbd_foreseen foreseen;
    struct lbd_decisions *decisions;
    struct lbd_speakers speakers;
    struct lbd_hands hands;
    struct lbd_reload reload;
    bool stopping;
};

struct lbd_view lbd_daemon_view(const struct lbd *d);

/* What the configuration says for the roles. */
struct lbd_node_settings lbd_daemon_node_settings(const struct lbd *d);
struct lbd_controller_settings lbd_daemon_controller_settings(const struct lbd *d);

/* Give it to them. */
void lbd_daemon_apply(struct lbd *d);

/* Who answers on the socket, when all parts but that are there; sets d->hands too. */
void lbd_daemon_answers(struct lbd *d, struct lbd_local_sources *ret);

#endif
