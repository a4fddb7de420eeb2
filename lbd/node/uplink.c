/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's connection to the controller. */
#include "lbd/node/uplink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/auth.h"
#include "common/clock.h"
#include "common/log.h"
#include "lbd/conn.h"
#include "lbd/jitter.h"
#include "lbd/node/backlog.h"
#include "lbd/node/dial.h"

#define RETRY_LEAST_NS LBX_NS_PER_S
#define RETRY_MOST_NS (60 * LBX_NS_PER_S)
#define JITTER .5
#define SILENT_NS (90 * LBX_NS_PER_S) /* no ranking and no acknowledgement: the controller hangs */
#define OUT_BYTES ((size_t)1 << 20)

struct lbd_uplink {
    uv_loop_t *loop;
    uv_timer_t retry;
    struct lbd_dial dial;
    struct lbd_conn conn;
    struct lbd_address address;
    struct lbd_ranking *ranking;
    void (*hear)(void *data, const struct lbw_node_claims *claims); /* NULL: nowhere */
    void *hear_data;
    bool dialling, open, stopped;
    int64_t wait_ns, heard_ns;
    struct lbd_backlog backlog;
    uint64_t sent_seq; /* of the last one sent in this connection */
    struct lbd_uplink_stats stats;
    struct lbw_node_msg msg; /* large: one for all */
    struct lbx_buf body;
};

void lbd_uplink_boot_id(char ret_boot[LBW_NODE_BOOT_MAX])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    memset(ret_boot, 0, LBW_NODE_BOOT_MAX);
    if (f && fgets(ret_boot, LBW_NODE_BOOT_MAX, f))
        ret_boot[strcspn(ret_boot, "\n")] = '\0';
    if (f)
        fclose(f);
}

static void on_retry(uv_timer_t *timer);

static void retry_later(struct lbd_uplink *u)
{
    if (u->stopped)
        return;
    uv_timer_start(&u->retry, on_retry, lbd_jitter_ms(u->wait_ns, JITTER), 0);
    u->wait_ns = u->wait_ns * 2 > RETRY_MOST_NS ? RETRY_MOST_NS : u->wait_ns * 2;
}

static void send_now(struct lbd_uplink *u)
{
    lbx_buf_consume(&u->body, lbx_buf_len(&u->body));
    if (lbw_node_encode(&u->msg, &u->body) == 0)
        (void)lbd_conn_send(&u->conn, lbx_buf_data(&u->body), lbx_buf_len(&u->body));
}

/* Send what has not been sent in this connection. */
static void send_pending(struct lbd_uplink *u)
{
    int64_t now_ns = lbx_clock_mono_ns();

    for (unsigned i = 0; i < u->backlog.n && u->open && !u->conn.closing; i++) {
        const struct lbd_kept *k = lbd_backlog_at(&u->backlog, i);

        if (k->seq <= u->sent_seq)
            continue;
        lbd_backlog_message(k, now_ns, &u->msg);
        send_now(u);
        u->sent_seq = k->seq;
    }
}

static int on_frame(struct lbd_conn *conn, const uint8_t *body, size_t n)
{
    struct lbd_uplink *u = conn->data;

    if (lbw_node_decode(body, n, &u->msg) < 0)
        return -EPROTO;
    u->heard_ns = lbx_clock_mono_ns();
    u->wait_ns = RETRY_LEAST_NS; /* it works */
    if (u->msg.type == LBW_N_ACK) {
        lbd_backlog_acknowledge(&u->backlog, u->msg.u.acked_seq);
        return 0;
    }
    if (u->msg.type == LBW_N_RANK)
        return lbd_ranking_part(u->ranking, &u->msg.u.hosts, u->heard_ns);
    if (u->msg.type != LBW_N_CLAIMS)
        return -EPROTO;
    if (u->hear)
        u->hear(u->hear_data, &u->msg.u.claims);
    return 0;
}

static void on_close(struct lbd_conn *conn, int reason)
{
    struct lbd_uplink *u = conn->data;

    u->open = u->stats.connected = false;
    lbd_ranking_drop_part(u->ranking);
    if (u->stopped)
        return;
    u->stats.failures++;
    snprintf(u->stats.reason, sizeof(u->stats.reason), "connection lost: %s", lbd_conn_why(reason));
    lbx_log(LBX_LOG_WARNING, "controller %s: %s", u->address.host, u->stats.reason);
    retry_later(u);
}

static const struct lbd_conn_ops uplink_ops = {.on_frame = on_frame, .on_close = on_close};

static void on_dialled(struct lbd_dial *d, int rc)
{
    struct lbd_uplink *u = d->data;

    u->dialling = false;
    if (rc == 0 && u->stopped)
        close(d->fd);
    if (rc == 0 && !u->stopped) {
        rc = lbd_conn_open(&u->conn, u->loop, d->fd, &uplink_ops, OUT_BYTES, true);
        if (rc < 0)
            lbx_error_set(&d->err, rc, "%s", strerror(-rc));
    }
    if (rc < 0 || u->stopped) {
        lbx_buf_fini(&d->in);
        if (u->stopped)
            return;
        u->stats.failures++;
        if (strcmp(u->stats.reason, d->err.text) != 0) /* the same again is no news */
            lbx_log(LBX_LOG_WARNING, "controller %s: %s", u->address.host, d->err.text);
        snprintf(u->stats.reason, sizeof(u->stats.reason), "%s", d->err.text);
        retry_later(u);
        return;
    }
    u->conn.data = u;
    u->conn.channel = d->channel;
    u->conn.in = d->in;
    lbx_channel_fini(&d->channel);
    u->open = u->stats.connected = true;
    u->stats.reason[0] = '\0';
    u->heard_ns = lbx_clock_mono_ns();
    u->sent_seq = 0;
    lbx_log(LBX_LOG_INFO, "connected with controller %s", u->address.host);
    send_pending(u);
    lbd_conn_pause(&u->conn, false); /* frames may have come behind the proof */
}

static void on_retry(uv_timer_t *timer)
{
    struct lbd_uplink *u = timer->data;

    u->dial.address = u->address;
    u->dial.data = u;
    if (lbd_dial_start(&u->dial, u->loop, on_dialled) < 0)
        retry_later(u);
    else
        u->dialling = true;
}

int lbd_uplink_create(uv_loop_t *loop, const struct lbd_address *controller, const char *host,
                      struct lbd_ranking *ranking, struct lbd_uplink **ret_uplink)
{
    struct lbd_uplink *u = calloc(1, sizeof(*u));

    if (!u)
        return -ENOMEM;
    u->loop = loop;
    u->address = *controller;
    u->ranking = ranking;
    u->wait_ns = RETRY_LEAST_NS;
    lbx_buf_init(&u->body, LBX_FRAME_CAP);
    snprintf(u->dial.proof.host, sizeof(u->dial.proof.host), "%s", host);
    lbd_uplink_boot_id(u->dial.proof.boot);
    lbx_auth_random(&u->dial.proof.instance, sizeof(u->dial.proof.instance));
    uv_timer_init(loop, &u->retry);
    u->retry.data = u;
    uv_timer_start(&u->retry, on_retry, 0, 0);
    *ret_uplink = u;
    return 0;
}

void lbd_uplink_stop(struct lbd_uplink *u)
{
    u->stopped = true;
    uv_close((uv_handle_t *)&u->retry, NULL);
    if (u->dialling)
        uv_cancel((uv_req_t *)&u->dial.work);
    if (u->open)
        lbd_conn_close(&u->conn, -ECANCELED);
}

void lbd_uplink_destroy(struct lbd_uplink *u)
{
    if (!u)
        return;
    lbx_buf_fini(&u->body);
    lbd_backlog_fini(&u->backlog);
    free(u);
}

void lbd_uplink_job(struct lbd_uplink *u, const struct lbw_job *job)
{
    size_t n = lbw_job_bytes(job);

    if (!job->ended) { /* newer figures come soon: these are not worth keeping */
        if (u->open && !u->conn.closing) {
            u->msg.type = LBW_N_JOB;
            memcpy(&u->msg.u.job, job, n);
            u->msg.u.job.seq = 0;
            send_now(u);
        }
        return;
    }
    if (lbd_backlog_job(&u->backlog, job, lbx_clock_mono_ns()) == 0)
        send_pending(u);
}

/* Whether what is lost with the connection, and serves only now, can go now. */
static bool can_pass_on(const struct lbd_uplink *u)
{
    return u->open && !u->conn.closing && lbx_buf_len(&u->conn.out) <= OUT_BYTES / 4;
}

bool lbd_uplink_claims(struct lbd_uplink *u, const struct lbw_node_claims *claims)
{
    if (!can_pass_on(u))
        return false;
    u->msg.type = LBW_N_CLAIMS;
    u->msg.u.claims = *claims;
    send_now(u);
    return true;
}

void lbd_uplink_on_claims(struct lbd_uplink *u,
                          void (*hear)(void *data, const struct lbw_node_claims *claims),
                          void *data)
{
    u->hear = hear;
    u->hear_data = data;
}

void lbd_uplink_decisions(struct lbd_uplink *u, uint32_t jobid, uint32_t stepid, uint32_t uid,
                          const char *text)
{
    struct lbw_node_decisions *m = &u->msg.u.decisions;

    if (!can_pass_on(u) || strlen(text) > LBW_LOCAL_TEXT_MAX)
        return;
    u->msg.type = LBW_N_DECISIONS;
    m->jobid = jobid;
    m->stepid = stepid;
    m->uid = uid;
    memcpy(m->text, text, strlen(text) + 1);
    send_now(u);
}

void lbd_uplink_report(struct lbd_uplink *u, const struct lbw_node_report *report)
{
    int64_t now_ns = lbx_clock_mono_ns();

    if (lbd_backlog_report(&u->backlog, report, now_ns) < 0)
        return;
    if (u->open && now_ns - u->heard_ns > SILENT_NS)
        lbd_conn_close(&u->conn, -ETIMEDOUT);
    else
        send_pending(u);
}

void lbd_uplink_stats(const struct lbd_uplink *u, struct lbd_uplink_stats *ret)
{
    *ret = u->stats;
    ret->dropped = u->backlog.dropped;
    ret->acknowledged = u->backlog.acknowledged;
    ret->pending = u->backlog.n;
}
