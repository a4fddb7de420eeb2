/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on lbd's unix socket: encoding, decoding, and asking once with a deadline. */
#include "wire/local.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/frame.h"
#include "common/sock.h"
#include "wire/flat.h"

static void put_notice(struct lbw_writer *w, const struct lbw_local_notice *notice)
{
    lbw_write_u64(w, notice->begin);
    lbw_write_u64(w, notice->jobid);
    lbw_write_u64(w, notice->stepid);
    lbw_write_u64(w, notice->ntasks);
}

static void put_scope(struct lbw_writer *w, const struct lbw_local_scope *scope)
{
    lbw_write_str(w, scope->partition);
    lbw_write_str(w, scope->account);
}

static void put_idle_question(struct lbw_writer *w, const struct lbw_local_idle_question *question)
{
    lbw_write_str(w, question->partition);
    lbw_write_i64(w, question->wait_ns);
}

static void put_rule(struct lbw_writer *w, const struct lbw_local_rule *rule)
{
    lbw_write_u64(w, rule->opt_out);
    lbw_write_u64(w, rule->place);
    lbw_write_u64(w, rule->trace);
    lbw_write_i64(w, rule->least_period_ns);
    lbw_write_i64(w, rule->least_chunk_ns);
    lbw_write_str(w, rule->policy);
    lbw_write_str(w, rule->allowed);
}

/* How many fields the message has, version and type among them; 0 for an unknown type. */
static size_t count_fields(uint32_t type)
{
    switch ((enum lbw_local_type)type) {
    case LBW_L_SELF:
    case LBW_L_RANK:
    case LBW_L_OK:
        return 2;
    case LBW_L_NOTICE:
        return 6;
    case LBW_L_COMMAND:
    case LBW_L_JOB:
    case LBW_L_DECISIONS:
    case LBW_L_EXPLAIN:
    case LBW_L_PLACE:
    case LBW_L_TEXT:
    case LBW_L_ERROR:
        return 3;
    case LBW_L_SCOPE:
        return 4;
    case LBW_L_RULE:
        return 9;
    case LBW_L_HOSTS:
        return 2; /* and those of the list */
    case LBW_L_CLAIM:
    case LBW_L_CLAIMS:
    case LBW_L_IDLE_HOSTS:
        return 5; /* likewise */
    case LBW_L_IDLE:
        return 4;
    }
    return 0;
}

static bool is_claims(enum lbw_local_type type)
{
    return type == LBW_L_CLAIM || type == LBW_L_CLAIMS;
}

#define ENDED(text) (memchr((text), 0, sizeof(text)) != NULL)

static bool is_valid_rule(const struct lbw_local_rule *rule)
{
    return rule->opt_out <= 1 && rule->place <= 1 && rule->trace <= 1 &&
           rule->least_period_ns >= 0 && rule->least_chunk_ns >= 0 && ENDED(rule->policy) &&
           ENDED(rule->allowed);
}

static int check_message(const struct lbw_local_msg *msg)
{
    switch (msg->type) {
    case LBW_L_SELF:
    case LBW_L_RANK:
    case LBW_L_OK:
        return 0;
    case LBW_L_NOTICE:
        return msg->u.notice.begin > 1 ? -EINVAL : 0;
    case LBW_L_COMMAND:
    case LBW_L_JOB:
    case LBW_L_DECISIONS:
    case LBW_L_EXPLAIN:
    case LBW_L_PLACE:
    case LBW_L_TEXT:
    case LBW_L_ERROR:
        return memchr(msg->u.text.text, 0, sizeof(msg->u.text.text)) ? 0 : -EINVAL;
    case LBW_L_HOSTS:
        return lbw_hosts_valid(&msg->u.hosts) ? 0 : -EINVAL;
    case LBW_L_SCOPE:
        return ENDED(msg->u.scope.partition) && ENDED(msg->u.scope.account) ? 0 : -EINVAL;
    case LBW_L_RULE:
        return is_valid_rule(&msg->u.rule) ? 0 : -EINVAL;
    case LBW_L_CLAIM:
    case LBW_L_CLAIMS:
        return lbw_claims_valid(&msg->u.claims) ? 0 : -EINVAL;
    case LBW_L_IDLE:
        return ENDED(msg->u.idle_question.partition) && msg->u.idle_question.wait_ns >= 0 ? 0
                                                                                          : -EINVAL;
    case LBW_L_IDLE_HOSTS:
        return lbw_idle_valid(&msg->u.idle) ? 0 : -EINVAL;
    }
    return -EINVAL;
}

int lbw_local_encode(const struct lbw_local_msg *msg, struct lbx_buf *out)
{
    size_t nfields = count_fields(msg->type);
    struct lbw_writer w;
    int rc = check_message(msg);

    if (rc < 0)
        return rc;
    if (msg->type == LBW_L_HOSTS)
        nfields += lbw_hosts_fields(&msg->u.hosts);
    else if (is_claims(msg->type))
        nfields += lbw_claims_fields(&msg->u.claims);
    else if (msg->type == LBW_L_IDLE_HOSTS)
        nfields += lbw_idle_fields(&msg->u.idle);
    lbw_write_begin(&w, out, nfields, LBW_LOCAL_VERSION, msg->type);
    if (msg->type == LBW_L_HOSTS)
        lbw_hosts_write(&w, &msg->u.hosts);
    else if (is_claims(msg->type))
        lbw_claims_write(&w, &msg->u.claims);
    else if (msg->type == LBW_L_IDLE_HOSTS)
        lbw_idle_write(&w, &msg->u.idle);
    else if (msg->type == LBW_L_IDLE)
        put_idle_question(&w, &msg->u.idle_question);
    else if (msg->type == LBW_L_NOTICE)
        put_notice(&w, &msg->u.notice);
    else if (msg->type == LBW_L_SCOPE)
        put_scope(&w, &msg->u.scope);
    else if (msg->type == LBW_L_RULE)
        put_rule(&w, &msg->u.rule);
    else if (nfields == 3)
        lbw_write_str(&w, msg->u.text.text);
    return lbw_write_end(&w);
}

static void get_notice(struct lbw_reader *r, struct lbw_local_notice *notice)
{
    notice->begin = (uint32_t)lbw_read_u64(r, 1);
    notice->jobid = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    notice->stepid = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    notice->ntasks = (uint32_t)lbw_read_u64(r, UINT32_MAX);
}

static void get_rule(struct lbw_reader *r, struct lbw_local_rule *rule)
{
    rule->opt_out = (uint32_t)lbw_read_u64(r, 1);
    rule->place = (uint32_t)lbw_read_u64(r, 1);
    rule->trace = (uint32_t)lbw_read_u64(r, 1);
    rule->least_period_ns = lbw_read_i64(r, 0, INT64_MAX);
    rule->least_chunk_ns = lbw_read_i64(r, 0, INT64_MAX);
    lbw_read_str(r, rule->policy, sizeof(rule->policy));
    lbw_read_str(r, rule->allowed, sizeof(rule->allowed));
}

int lbw_local_decode(const uint8_t *body, size_t n, struct lbw_local_msg *ret_msg)
{
    struct lbw_reader r;
    uint32_t type;

    if (lbw_read_begin(&r, body, n, LBW_LOCAL_VERSION, &type) < 0 || count_fields(type) == 0)
        return -EPROTO;
    ret_msg->type = (enum lbw_local_type)type;
    if (ret_msg->type == LBW_L_HOSTS)
        lbw_hosts_read(&r, &ret_msg->u.hosts);
    else if (is_claims(ret_msg->type))
        lbw_claims_read(&r, &ret_msg->u.claims);
    else if (ret_msg->type == LBW_L_IDLE_HOSTS)
        lbw_idle_read(&r, &ret_msg->u.idle);
    else if (ret_msg->type == LBW_L_IDLE) {
        lbw_read_str(&r, ret_msg->u.idle_question.partition,
                     sizeof(ret_msg->u.idle_question.partition));
        ret_msg->u.idle_question.wait_ns = lbw_read_i64(&r, 0, INT64_MAX);
    } else if (ret_msg->type == LBW_L_NOTICE)
        get_notice(&r, &ret_msg->u.notice);
    else if (ret_msg->type == LBW_L_SCOPE) {
        lbw_read_str(&r, ret_msg->u.scope.partition, sizeof(ret_msg->u.scope.partition));
        lbw_read_str(&r, ret_msg->u.scope.account, sizeof(ret_msg->u.scope.account));
    } else if (ret_msg->type == LBW_L_RULE)
        get_rule(&r, &ret_msg->u.rule);
    else if (count_fields(type) == 3)
        lbw_read_str(&r, ret_msg->u.text.text, sizeof(ret_msg->u.text.text));
    return lbw_read_end(&r);
}

/* Frame the request into out: body first, since its length is not known before. */
static int frame_request(const struct lbw_local_msg *request, struct lbx_channel *c,
                         struct lbx_buf *out)
{
    struct lbx_buf body;
    int rc;

    lbx_buf_init(&body, LBX_FRAME_CAP);
    rc = lbw_local_encode(request, &body);
    if (rc == 0)
        rc = lbx_frame_append(c, out, lbx_buf_data(&body), lbx_buf_len(&body));
    lbx_buf_fini(&body);
    return rc;
}

int lbw_local_tell(const char *path, const struct lbw_local_msg *request)
{
    struct lbx_channel c;
    struct lbx_buf out;
    int fd = -1, rc;

    lbx_channel_init_plain(&c);
    lbx_buf_init(&out, LBX_FRAME_CAP + LBX_FRAME_OVERHEAD);
    rc = frame_request(request, &c, &out);
    if (rc == 0) {
        fd = lbx_sock_connect_unix(path, 0);
        rc = fd < 0 ? fd : lbx_sock_flush(fd, &out);
    }
    if (rc == 0 && lbx_buf_len(&out) > 0)
        rc = -EAGAIN;
    if (fd >= 0)
        close(fd);
    lbx_buf_fini(&out);
    return rc;
}

static int send_all(int fd, struct lbx_buf *out, int64_t deadline_ns)
{
    for (;;) {
        int rc = lbx_sock_flush(fd, out);

        if (rc < 0 || lbx_buf_len(out) == 0)
            return rc;
        rc = lbx_sock_wait(fd, POLLOUT, deadline_ns);
        if (rc < 0)
            return rc;
    }
}

/* Read until one frame has come. */
static int receive(int fd, struct lbx_channel *c, struct lbx_buf *in, int64_t deadline_ns,
                   struct lbw_local_msg *ret_answer)
{
    const uint8_t *body;
    bool late = false;
    ssize_t got;
    size_t n;
    int rc;

    for (;;) {
        rc = lbx_frame_next(c, in, &body, &n);
        if (rc < 0)
            return -EPROTO;
        if (rc == 1)
            return lbw_local_decode(body, n, ret_answer);
        if (late)
            return -ETIMEDOUT; /* a peer that dribbles bytes always has one more to read */
        late = lbx_clock_mono_ns() >= deadline_ns; /* where we had no CPU all of it may be there */
        rc = lbx_sock_wait(fd, POLLIN, deadline_ns);
        if (rc < 0)
            return rc;
        got = lbx_sock_fill(fd, in);
        if (got < 0)
            return (int)got;
    }
}

int lbw_local_begin(const char *path, const struct lbw_local_msg *request, int64_t deadline_ns)
{
    struct lbx_channel c;
    struct lbx_buf out;
    int fd, rc;

    lbx_channel_init_plain(&c);
    lbx_buf_init(&out, LBX_FRAME_CAP + LBX_FRAME_OVERHEAD);
    rc = frame_request(request, &c, &out);
    if (rc == 0) {
        fd = lbx_sock_connect_unix(path, deadline_ns);
        rc = fd < 0 ? fd : send_all(fd, &out, deadline_ns);
        if (fd >= 0 && rc < 0)
            close(fd);
        rc = rc < 0 ? rc : fd;
    }
    lbx_buf_fini(&out);
    return rc;
}

int lbw_local_end(int fd, int64_t deadline_ns, struct lbw_local_msg *ret_answer)
{
    struct lbx_channel c;
    struct lbx_buf in;
    int rc;

    lbx_channel_init_plain(&c);
    lbx_buf_init(&in, LBX_FRAME_CAP + LBX_FRAME_OVERHEAD);
    rc = receive(fd, &c, &in, deadline_ns, ret_answer);
    lbx_buf_fini(&in);
    close(fd);
    return rc;
}

int lbw_local_ask(const char *path, const struct lbw_local_msg *request, int64_t deadline_ns,
                  struct lbw_local_msg *ret_answer)
{
    int fd = lbw_local_begin(path, request, deadline_ns);

    return fd < 0 ? fd : lbw_local_end(fd, deadline_ns, ret_answer);
}
