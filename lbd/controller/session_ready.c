/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that have proved themselves: what they report and are acknowledged, and the rankings that they are sent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "lbd/controller/sessions_impl.h"

#define WAITING_MAX 512 /* messages of one node that are not on disk yet */
#define SPREAD_MS 100   /* between two handfuls of nodes that are sent the ranking */
#define FEW_NODES 64    /* each of them is told of all claims */
#define UNREAD_BYTES ((size_t)64 << 10)
#define SPREAD_LEAST 8 /* so many at once, at least */

int lbd_session_send(struct session *s)
{
    struct lbd_sessions *all = s->all;
    int rc;

    lbx_buf_consume(&all->body, lbx_buf_len(&all->body));
    rc = lbw_node_encode(&all->msg, &all->body);
    return rc < 0 ? rc : lbd_conn_send(&s->conn, lbx_buf_data(&all->body), lbx_buf_len(&all->body));
}

/* Remember what is to be acknowledged. */
static int await(struct session *s, uint64_t seq, uint64_t ticket)
{
    if (s->nwaiting == WAITING_MAX)
        return -ENOBUFS;
    if (s->nwaiting == s->waiting_size) {
        unsigned size = s->waiting_size ? 2 * s->waiting_size : 8;
        struct waiting *waiting = realloc(s->waiting, size * sizeof(*waiting));

        if (!waiting)
            return -ENOMEM;
        s->waiting = waiting;
        s->waiting_size = size;
    }
    s->waiting[s->nwaiting++] = (struct waiting){seq, ticket};
    return 0;
}

static int take_report(struct session *s)
{
    struct lbw_node_report *r = &s->all->msg.u.report;
    uint64_t ticket;

    s->conn.deadline_ns = lbx_clock_mono_ns() + SILENT_NS;
    ticket = lbd_hosts_report(s->all->config.hosts, s->host, r);
    return await(s, r->seq, ticket);
}

static int take_job(struct session *s)
{
    uint64_t seq = s->all->msg.u.job.seq;
    uint64_t ticket = lbd_hosts_job(s->all->config.hosts, s->host, &s->all->msg.u.job);

    if (seq == 0)
        return 0;
    return await(s, seq, ticket);
}

int lbd_session_take(struct session *s)
{
    const struct lbd_sessions_config *config = &s->all->config;

    switch (s->all->msg.type) {
    case LBW_N_REPORT:
        return take_report(s);
    case LBW_N_JOB:
        return take_job(s);
    case LBW_N_DECISIONS:
        config->on_decisions(config->data, &s->all->msg.u.decisions);
        return 0;
    case LBW_N_CLAIMS:
        s->places = true;
        memcpy(s->all->msg.u.claims.origin, s->name, sizeof(s->name));
        config->on_claims(config->data, &s->all->msg.u.claims);
        return 0;
    default:
        return -EPROTO;
    }
}

static bool is_told_claims(const struct session *s, const char *origin)
{
    const struct lbd_sessions *all = s->all;

    if (s->state != READY || s->conn.closing || strcmp(s->name, origin) == 0 ||
        lbx_buf_len(&s->conn.out) > UNREAD_BYTES)
        return false;
    return all->guard.connections <= FEW_NODES || s->places ||
           all->config.hosts->host[s->host].slurm == LBD_SLURM_ABSENT;
}

void lbd_sessions_pass_on(struct lbd_sessions *all, const struct lbw_node_claims *claims)
{
    all->msg.type = LBW_N_CLAIMS;
    if (claims != &all->msg.u.claims)
        all->msg.u.claims = *claims;
    lbx_buf_consume(&all->body, lbx_buf_len(&all->body));
    if (lbw_node_encode(&all->msg, &all->body) < 0)
        return;
    for (struct session *s = all->list; s; s = s->next)
        if (is_told_claims(s, claims->origin))
            (void)lbd_conn_send(&s->conn, lbx_buf_data(&all->body), lbx_buf_len(&all->body));
}

void lbd_sessions_acknowledge(struct lbd_sessions *all, uint64_t committed)
{
    for (struct session *s = all->list; s; s = s->next) {
        unsigned n = 0;

        while (n < s->nwaiting && s->waiting[n].ticket <= committed)
            n++;
        if (n == 0 || s->conn.closing)
            continue;
        all->msg.type = LBW_N_ACK;
        all->msg.u.acked_seq = s->waiting[n - 1].seq;
        s->nwaiting -= n;
        memmove(s->waiting, s->waiting + n, s->nwaiting * sizeof(*s->waiting));
        (void)lbd_session_send(s);
    }
}

void lbd_sessions_restart(struct lbd_sessions *all)
{
    for (struct session *s = all->list; s; s = s->next)
        if (s->nwaiting > 0)
            lbd_conn_close(&s->conn, -ENOBUFS);
}

/* Encode the ranking as it is now, once for all that are sent it at this moment. */
static int encode_parts(struct lbd_sessions *all)
{
    int64_t now_ns = lbx_clock_mono_ns();
    size_t first = 0, n = 0;
    int rc;

    do {
        if (n == all->nparts) {
            struct lbx_buf *part = realloc(all->part, (n + 1) * sizeof(*part));

            if (!part)
                return -ENOMEM;
            all->part = part;
            lbx_buf_init(&all->part[all->nparts++], LBX_FRAME_CAP);
        }
        all->msg.type = LBW_N_RANK;
        lbd_ranking_get(all->ranking, &first, now_ns, &all->msg.u.hosts);
        lbx_buf_consume(&all->part[n], lbx_buf_len(&all->part[n]));
        rc = lbw_node_encode(&all->msg, &all->part[n++]);
    } while (rc == 0 && all->msg.u.hosts.more);
    while (all->nparts > n)
        lbx_buf_fini(&all->part[--all->nparts]);
    return rc;
}

/*
 * A handful at a time: a ranking for each of n nodes has n lines, and what does not fit into the sockets stays in our memory.
 * Who has not read the last one is passed over.
 */
static void on_spread(uv_timer_t *timer)
{
    struct lbd_sessions *all = timer->data;
    unsigned left = all->spread_batch;
    bool encoded = false;

    for (struct session *s = all->list; s && left > 0; s = s->next) {
        if (!s->rank_due || s->state != READY || s->conn.closing)
            continue;
        s->rank_due = false;
        if (lbx_buf_len(&s->conn.out) > 0)
            continue;
        if (!encoded && encode_parts(all) < 0)
            break;
        encoded = true;
        for (size_t i = 0; i < all->nparts; i++)
            (void)lbd_conn_send(&s->conn, lbx_buf_data(&all->part[i]), lbx_buf_len(&all->part[i]));
        left--;
    }
    if (left > 0) /* none is due any more */
        uv_timer_stop(timer);
}

static void spread(struct lbd_sessions *all)
{
    if (!uv_is_active((uv_handle_t *)&all->spread) && !uv_is_closing((uv_handle_t *)&all->spread))
        uv_timer_start(&all->spread, on_spread, 0, SPREAD_MS);
}

void lbd_session_rank_later(struct session *s)
{
    s->rank_due = s->all->ranking != NULL;
    if (s->rank_due)
        spread(s->all);
}

void lbd_sessions_send_ranking(struct lbd_sessions *all, const struct lbd_ranking *ranking,
                               int64_t within_ns)
{
    unsigned n = 0, ticks = (unsigned)(within_ns / (SPREAD_MS * LBX_NS_PER_MS));

    for (struct session *s = all->list; s; s = s->next) {
        s->rank_due = s->state == READY;
        n += s->rank_due;
    }
    all->ranking = ranking;
    all->spread_batch = ticks > 0 ? (n + ticks - 1) / ticks : n;
    if (all->spread_batch < SPREAD_LEAST)
        all->spread_batch = SPREAD_LEAST;
    spread(all);
}
