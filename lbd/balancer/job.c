/* SPDX-License-Identifier: BSD-3-Clause */
/* One job step's balancing. */
#include "lbd/balancer/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/log.h"
#include "lbd/balancer/loops.h"
#include "lbd/balancer/peer.h"
#include "lbd/balancer/summary.h"
#include "lbd/balancer/trace.h"

/* A rank silent for so long does other work, or is heard no more though it speaks: it hears nothing before it is heard
 * again, so that the latter goes on alone. */
#define UNHEARD_NS (10 * LBX_NS_PER_S)
#define BEAT_MS (LBW_BEAT_NS / LBX_NS_PER_MS)
#define JOIN_MS \
    5000 /* all ranks join within so long after the first; they start together (lb_init is collective) */
#define STRANGERS 64 /* connections above one a rank: for those that are not proved yet */

struct rank {
    struct lbd_peer *peer; /* NULL: not here */
    bool joined, left;
    bool waits; /* see lbw_rank_waits */
    int64_t heard_ns;
    double weight, hardware;
    int64_t stable_ns;
    char host[LBW_HOST_MAX];
};

struct lbd_job {
    struct lbd_job_config config;
    uv_loop_t *loop;
    uv_timer_t wake, beat, deadline;
    uint32_t nranks; /* 0 until the first has joined */
    uint32_t njoined, nleft, npeers;
    uint32_t nwait;    /* ranks */
    struct rank *rank; /* [nranks_most] */
    struct lbd_loops *loops;
    bool asked; /* rank 0 waits for the summary */
    bool over;
};

static void finish(struct lbd_job *j)
{
    if (j->over)
        return;
    j->over = true;
    uv_close((uv_handle_t *)&j->wake, NULL);
    uv_close((uv_handle_t *)&j->beat, NULL);
    uv_close((uv_handle_t *)&j->deadline, NULL);
    j->config.over(j->config.arg);
}

void lbd_job_stop(struct lbd_job *j, const char *why)
{
    const struct lbw_rank_msg stop = {.type = LBW_STOP};

    if (j->over)
        return;
    if (why)
        lbx_log(LBX_LOG_WARNING, "balancing stops: %s", why);
    for (uint32_t r = 0; r < j->config.nranks_most; r++) {
        if (!j->rank[r].peer)
            continue;
        if (lbd_peer_send(j->rank[r].peer, &stop) < 0)
            lbx_log(LBX_LOG_INFO, "rank %" PRIu32 " does not read any more", r);
        lbd_peer_close(j->rank[r].peer);
        j->rank[r].peer = NULL;
    }
    finish(j);
}

static void rearm_wake(struct lbd_job *j);

static void send_to_rank(void *arg, uint32_t rank, const struct lbw_rank_msg *msg)
{
    struct lbd_job *j = arg;

    /* a rank that reads no more shows itself by its closed connection or its full queue: then all is stopped there */
    if (j->rank[rank].peer && lbd_peer_send(j->rank[rank].peer, msg) < 0)
        lbx_log(LBX_LOG_WARNING, "rank %" PRIu32 " does not read its messages", rank);
}

/* 0 is not known.  The job's speeds stay only as long as those of the host that changes first. */
static int64_t shorter(int64_t a, int64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* All ranks are here: what they expect of their hosts becomes the policy's first guess. */
static int start(struct lbd_job *j)
{
    struct lbd_loops_config config = {.nranks = j->nranks,
                                      .params = j->config.params,
                                      .trace = j->config.trace,
                                      .explain = j->config.explain,
                                      .send = send_to_rank,
                                      .arg = j};
    struct lbw_rank_msg msg = {.type = LBW_START};
    double *weight = calloc(2 * (size_t)j->nranks, sizeof(*weight)), *hardware;
    size_t npolicies;
    int rc;

    if (!weight)
        return -ENOMEM;
    config.weight = weight;
    config.hardware = hardware = weight + j->nranks;
    for (uint32_t r = 0; r < j->nranks; r++) {
        int64_t rtt_ns = lbd_peer_rtt_ns(j->rank[r].peer);

        weight[r] = j->rank[r].weight;
        if (weight[r] <= 0)
            config.weight = NULL;
        hardware[r] = j->rank[r].hardware;
        if (hardware[r] <= 0)
            config.hardware = NULL;
        if (rtt_ns > config.t_interact_ns)
            config.t_interact_ns = rtt_ns;
        config.stable_ns = shorter(config.stable_ns, j->rank[r].stable_ns);
    }
    rc = lbd_loops_create(&config, &j->loops);
    lbd_trace_start(j->config.trace, lbx_clock_mono_ns(), j->nranks, j->config.endpoint->policy,
                    config.weight);
    free(weight);
    if (rc < 0)
        return rc;
    msg.u.start.nranks = j->nranks;
    snprintf(msg.u.start.policy, sizeof(msg.u.start.policy), "%s",
             lbp_policy_table(&npolicies)[j->config.params.policy].name);
    for (uint32_t r = 0; r < j->nranks; r++)
        send_to_rank(j, r, &msg);
    uv_timer_stop(&j->deadline);
    for (uint32_t r = 0; r < j->nranks && !j->over; r++)
        if (j->rank[r].peer)
            lbd_peer_resume(j->rank[r].peer);
    return 0;
}

static void on_join_deadline(uv_timer_t *h)
{
    lbd_job_stop(h->data, "not all ranks have joined");
}

static int take_join(struct lbd_job *j, uint32_t rank, const struct lbw_join *m,
                     struct lbx_error *err)
{
    if (j->rank[rank].joined)
        return lbx_error_set(err, -EPROTO, "rank %" PRIu32 " joins twice", rank);
    if (j->nranks == 0) {
        j->nranks = m->nranks;
        uv_timer_start(&j->deadline, on_join_deadline, JOIN_MS, 0);
    }
    if (m->nranks != j->nranks || rank >= j->nranks || j->nranks > j->config.nranks_most)
        return lbx_error_set(err, -EPROTO,
                             "rank %" PRIu32 " speaks of %" PRIu32 " ranks, others of %" PRIu32,
                             rank, m->nranks, j->nranks);
    j->rank[rank].joined = true;
    j->rank[rank].weight = m->weight;
    j->rank[rank].hardware = m->hardware;
    j->rank[rank].stable_ns = m->stable_ns;
    memcpy(j->rank[rank].host, m->host, sizeof(j->rank[rank].host));
    if (++j->njoined == j->nranks)
        return start(j);
    lbd_peer_pause(
        j->rank[rank].peer); /* it may open loops before the others are here: that waits */
    return 0;
}

static const char *host_of(const void *arg, uint32_t rank)
{
    return lbd_job_host(arg, rank);
}

/* Rank 0 gets its summary when all others have told their totals and left. */
static void answer(struct lbd_job *j)
{
    static struct lbw_rank_msg msg; /* large */
    size_t npolicies;

    if (!j->asked || j->over || j->nleft + 1 < j->njoined)
        return;
    j->asked = false;
    msg.type = LBW_SUMMARY;
    lbd_summary(lbd_job_loops(j), lbd_job_ranks(j), host_of, j,
                lbp_policy_table(&npolicies)[j->config.params.policy].name, msg.u.summary.text,
                sizeof(msg.u.summary.text));
    send_to_rank(j, 0, &msg);
}

static void on_beat(uv_timer_t *h);

/* Beats are as often as the ranks that need them oftenest. */
static void hear_waits(struct lbd_job *j, uint32_t rank, bool waits)
{
    j->nwait += (uint32_t)waits - (uint32_t)j->rank[rank].waits;
    j->rank[rank].waits = waits;
    if (waits && !j->over && uv_timer_get_due_in(&j->beat) > BEAT_MS)
        uv_timer_start(&j->beat, on_beat, BEAT_MS, 0);
}

static void take_leave(struct lbd_job *j, uint32_t rank)
{
    struct lbd_peer *p = j->rank[rank].peer;

    j->rank[rank].peer = NULL;
    j->rank[rank].left = true;
    lbd_peer_close(p);
    if (++j->nleft == j->njoined)
        finish(j);
    else
        answer(j);
}

static bool on_proved(void *owner, struct lbd_peer *p, uint32_t rank)
{
    struct lbd_job *j = owner;

    if (j->over || rank >= j->config.nranks_most || j->rank[rank].peer || j->rank[rank].left)
        return false;
    j->rank[rank].peer = p;
    return true;
}

static void on_message(void *owner, struct lbd_peer *p, const struct lbw_rank_msg *msg)
{
    struct lbd_job *j = owner;
    uint32_t rank = lbd_peer_rank(p);
    struct lbx_error err = {0};
    int rc;

    j->rank[rank].heard_ns = lbx_clock_mono_ns();
    hear_waits(j, rank, lbw_rank_waits(msg));
    lbd_peer_hold(p, false);
    if (msg->type == LBW_JOIN)
        rc = take_join(j, rank, &msg->u.join, &err);
    else if (!j->rank[rank].joined)
        rc = lbx_error_set(&err, -EPROTO, "rank %" PRIu32 " speaks before it joins", rank);
    else if (msg->type == LBW_LEAVE) {
        take_leave(j, rank);
        return;
    } else if (msg->type == LBW_ASK) {
        j->asked = rank == 0;
        answer(j);
        return;
    } else
        rc = lbd_loops_message(j->loops, rank, msg, lbx_clock_mono_ns(), &err);
    if (rc < 0)
        lbd_job_stop(j, err.text[0] ? err.text : strerror(-rc));
    else
        rearm_wake(j);
}

static void on_closed(void *owner, struct lbd_peer *p, int error)
{
    struct lbd_job *j = owner;
    uint32_t rank = lbd_peer_rank(p);
    struct lbx_error err;

    j->npeers--;
    if (rank >= j->config.nranks_most || j->rank[rank].peer != p) {
        lbx_log(LBX_LOG_WARNING, "a stranger is refused: %s", strerror(-error));
        return;
    }
    j->rank[rank].peer = NULL;
    lbx_error_set(&err, error, "rank %" PRIu32 " is lost: %s", rank, strerror(-error));
    lbd_job_stop(j, err.text);
}

static const struct lbd_peer_events peer_events = {on_proved, on_message, on_closed};

void lbd_job_accept(struct lbd_job *j, int fd)
{
    int rc;

    if (j->over || j->npeers >= j->config.nranks_most + STRANGERS) {
        close(fd);
        return;
    }
    rc = lbd_peer_open(j->loop, fd, j->config.endpoint, &peer_events, j);
    if (rc < 0)
        lbx_log(LBX_LOG_WARNING, "cannot take a connection: %s", strerror(-rc));
    else
        j->npeers++;
}

static void on_wake(uv_timer_t *h)
{
    struct lbd_job *j = h->data;
    struct lbx_error err;

    if (lbd_loops_tick(j->loops, lbx_clock_mono_ns(), &err) < 0)
        lbd_job_stop(j, err.text);
    else
        rearm_wake(j);
}

static void rearm_wake(struct lbd_job *j)
{
    int64_t wake_ns, left_ns;

    if (j->over || !j->loops)
        return;
    wake_ns = lbd_loops_wake_ns(j->loops);
    if (wake_ns == INT64_MAX) {
        uv_timer_stop(&j->wake);
        return;
    }
    left_ns = wake_ns - lbx_clock_mono_ns();
    if (left_ns < 0)
        left_ns = 0;
    uv_update_time(j->loop);
    uv_timer_start(&j->wake, on_wake, (uint64_t)((left_ns + LBX_NS_PER_MS - 1) / LBX_NS_PER_MS), 0);
}

/* A rank that hears nothing for long takes us for dead. */
static void on_beat(uv_timer_t *h)
{
    static const struct lbw_rank_msg beat = {.type = LBW_BEAT}; /* large */
    struct lbd_job *j = h->data;
    int64_t now_ns = lbx_clock_mono_ns();

    for (uint32_t r = 0; r < j->nranks; r++) {
        int64_t every_ns = LBW_BEAT_NS * (j->rank[r].waits ? 1 : LBW_BUSY);

        if (!j->rank[r].peer || !j->rank[r].joined)
            continue;
        if (now_ns - j->rank[r].heard_ns >= UNHEARD_NS)
            lbd_peer_hold(j->rank[r].peer, true);
        else if (now_ns - lbd_peer_last_sent_ns(j->rank[r].peer) >= every_ns / 2)
            send_to_rank(j, r, &beat);
    }
    uv_timer_start(h, on_beat, j->nwait > 0 ? BEAT_MS : LBD_JOB_BEAT_MS, 0);
}

int lbd_job_create(uv_loop_t *loop, const struct lbd_job_config *config, struct lbd_job **ret)
{
    struct lbd_job *j = calloc(1, sizeof(*j));

    if (!j)
        return -ENOMEM;
    j->rank = calloc(config->nranks_most, sizeof(*j->rank));
    if (!j->rank) {
        free(j);
        return -ENOMEM;
    }
    j->config = *config;
    j->loop = loop;
    uv_timer_init(loop, &j->wake);
    uv_timer_init(loop, &j->beat);
    uv_timer_init(loop, &j->deadline);
    j->wake.data = j->beat.data = j->deadline.data = j;
    uv_timer_start(&j->beat, on_beat, LBD_JOB_BEAT_MS, 0);
    *ret = j;
    return 0;
}

const struct lbd_loops *lbd_job_loops(const struct lbd_job *j)
{
    return j->loops;
}

uint32_t lbd_job_ranks(const struct lbd_job *j)
{
    return j->njoined;
}

const char *lbd_job_host(const struct lbd_job *j, uint32_t rank)
{
    return j->rank[rank].host;
}

bool lbd_job_joined(const struct lbd_job *j)
{
    return j->njoined > 0;
}

void lbd_job_destroy(struct lbd_job *j)
{
    if (!j)
        return;
    lbd_loops_destroy(j->loops);
    free(j->rank);
    free(j);
}
