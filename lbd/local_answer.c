/* SPDX-License-Identifier: BSD-3-Clause */
/* What lbd answers on its unix socket. */
#include "lbd/local_server_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

static int send_ok(struct lbd_local_client *c)
{
    c->server->msg.type = LBW_L_OK;
    return lbd_local_send(c);
}

static int answer_self(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbw_local_host self;

    if (!s->sources.node)
        return lbd_local_send_text(c, LBW_L_ERROR, "this lbd has no node role");
    if (lbd_node_self(s->sources.node, &self) < 0)
        return lbd_local_send_text(c, LBW_L_ERROR, "not measured yet");
    self.stable_ns = lbd_ranking_stable_ns(s->sources.ranking, self.host, lbx_clock_mono_ns());
    s->msg.type = LBW_L_HOSTS;
    s->msg.u.hosts.more = 0;
    s->msg.u.hosts.n = 1;
    s->msg.u.hosts.host[0] = self;
    return lbd_local_send(c);
}

int lbd_local_refuse_ranking(struct lbd_local_client *c, int64_t now_ns)
{
    bool never = lbd_ranking_age_ns(c->server->sources.ranking, now_ns) == INT64_MAX;

    return lbd_local_send_text(c, LBW_L_ERROR,
                               never ? LBW_LOCAL_NO_RANKING : LBW_LOCAL_STALE_RANKING);
}

static int answer_rank(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    int64_t now_ns = lbx_clock_mono_ns();
    size_t first = 0;
    int rc;

    if (lbd_ranking_age_ns(s->sources.ranking, now_ns) > LBD_RANKING_UNUSED_NS)
        return lbd_local_refuse_ranking(c, now_ns);
    do {
        s->msg.type = LBW_L_HOSTS;
        lbd_ranking_get(s->sources.ranking, &first, now_ns, &s->msg.u.hosts);
        rc = lbd_local_send(c);
    } while (rc == 0 && s->msg.u.hosts.more);
    return rc;
}

static int answer_scope(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbw_local_scope scope = s->msg.u.scope;

    s->msg.type = LBW_L_RULE;
    s->sources.rule(s->sources.data, &scope, &s->msg.u.rule);
    return lbd_local_send(c);
}

void lbd_local_count_placement(struct lbd_local_server *s, int64_t asked_ns)
{
    static const double bounds_s[LBD_PLACE_BUCKETS - 1] = {.001, .005, .02, .1, .5, 2, 10};
    double took_s = (double)(lbx_clock_mono_ns() - asked_ns) / 1e9;
    int i = 0;

    while (i < LBD_PLACE_BUCKETS - 1 && took_s > bounds_s[i])
        i++;
    s->stats.place_counts[i]++;
    s->stats.place_sum_s += took_s;
}

static int answer_place(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    int64_t now_ns = lbx_clock_mono_ns();
    char *names;
    int rc;

    if (lbd_ranking_age_ns(s->sources.ranking, now_ns) > LBD_RANKING_UNUSED_NS)
        return lbd_local_refuse_ranking(c, now_ns);
    names = strdup(s->msg.u.text.text);
    rc = names ? lbd_ranking_among(s->sources.ranking, names, now_ns, &s->msg.u.hosts) : -ENOMEM;
    free(names);
    if (rc < 0)
        return lbd_local_send_text(c, LBW_L_ERROR, strerror(-rc));
    s->msg.type = LBW_L_HOSTS;
    rc = lbd_local_send(c);
    lbd_local_count_placement(s, now_ns);
    return rc;
}

static int take_claim(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbw_local_claims *want = malloc(sizeof(*want));
    int rc = s->sources.spread ? -ENOMEM : -ENOTSUP;

    if (want && s->sources.spread) {
        memcpy(want, &s->msg.u.claims, sizeof(*want));
        rc = lbd_spread_take(s->sources.spread, c->peer.uid, c->peer.pid, want,
                             s->sources.load_interval_ns(s->sources.data), &s->msg.u.claims);
    }
    free(want);
    if (rc < 0)
        return lbd_local_send_text(c, LBW_L_ERROR, strerror(-rc));
    s->msg.type = rc == 1 ? LBW_L_CLAIMS : LBW_L_OK;
    return lbd_local_send(c);
}

static int take_notice(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbw_local_notice notice = s->msg.u.notice;
    int rc;

    if (c->peer.uid != 0)
        return lbd_local_send_text(c, LBW_L_ERROR, "only root's slurmstepd tells of tasks");
    if (!s->sources.node)
        return lbd_local_send_text(c, LBW_L_ERROR, "this lbd has no node role");
    rc = lbd_node_notice(s->sources.node, &notice, c->peer.pid);
    return rc < 0 ? lbd_local_send_text(c, LBW_L_ERROR, strerror(-rc)) : send_ok(c);
}

/* Root, our own user, and whom policy.conf names. */
static bool may_command(const struct lbd_local_client *c)
{
    const struct lbd_local_server *s = c->server;

    return c->peer.uid == 0 || c->peer.uid == geteuid() ||
           s->sources.may_command(s->sources.data, c->peer.uid);
}

static int take_command(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbx_error err = {0};
    char *json;
    int rc;

    if (!may_command(c))
        return lbd_local_send_text(
            c, LBW_L_ERROR,
            "permission denied: ask as root, or name your user in lbctl_users of "
            "policy.conf");
    c->request = ++s->next_request;
    json = s->sources.command(s->sources.data, c->request, s->msg.u.text.text, &err);
    if (!json && err.code == -EINPROGRESS) { /* the next question waits for this answer */
        c->conn.deadline_ns = INT64_MAX;
        lbd_conn_pause(&c->conn, true);
        return 0;
    }
    c->request = 0;
    rc = lbd_local_send_text(c, json ? LBW_L_TEXT : LBW_L_ERROR, json ? json : err.text);
    free(json);
    return rc;
}

void lbd_local_server_answer(struct lbd_local_server *s, uint64_t request, const char *json,
                             const struct lbx_error *err)
{
    struct lbd_local_client *c = s->clients;

    while (c && c->request != request)
        c = c->next;
    if (!c || c->conn.closing)
        return;
    c->request = 0;
    c->conn.deadline_ns = lbx_clock_mono_ns() + LBD_LOCAL_IDLE_NS;
    if (lbd_local_send_text(c, json ? LBW_L_TEXT : LBW_L_ERROR, json ? json : err->text) == 0)
        lbd_conn_pause(&c->conn, false);
}

static int take_job(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbx_error err = {0};
    int rc = s->sources.job(s->sources.data, &c->peer, s->msg.u.text.text, &err);

    return rc < 0 ? lbd_local_send_text(c, LBW_L_ERROR, err.text) : send_ok(c);
}

static int take_decisions(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbx_error err = {0};
    int rc = s->sources.decisions(s->sources.data, &c->peer, s->msg.u.text.text, &err);

    return rc < 0 ? lbd_local_send_text(c, LBW_L_ERROR, err.text) : send_ok(c);
}

static int answer_explain(struct lbd_local_client *c)
{
    struct lbd_local_server *s = c->server;
    struct lbx_error err = {0};
    char *json =
        s->sources.explain(s->sources.data, c->peer.uid, may_command(c), s->msg.u.text.text, &err);
    int rc = lbd_local_send_text(c, json ? LBW_L_TEXT : LBW_L_ERROR, json ? json : err.text);

    free(json);
    return rc;
}

int lbd_local_answer(struct lbd_local_client *c)
{
    switch (c->server->msg.type) {
    case LBW_L_SELF:
        return answer_self(c);
    case LBW_L_RANK:
        return answer_rank(c);
    case LBW_L_SCOPE:
        return answer_scope(c);
    case LBW_L_PLACE:
        return answer_place(c);
    case LBW_L_IDLE:
        return lbd_local_answer_idle(c);
    case LBW_L_CLAIM:
        return take_claim(c);
    case LBW_L_NOTICE:
        return take_notice(c);
    case LBW_L_COMMAND:
        return take_command(c);
    case LBW_L_JOB:
        return take_job(c);
    case LBW_L_DECISIONS:
        return take_decisions(c);
    case LBW_L_EXPLAIN:
        return answer_explain(c);
    default: /* an answer is no request */
        return -EPROTO;
    }
}
