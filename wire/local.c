/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages on lbd's unix socket: encoding, decoding, and asking once with a deadline. */
#include "wire/local.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/frame.h"
#include "common/sock.h"
#include "wire/flat.h"

#define HOST_FIELDS 6

/* Host names are printed, logged, put into labels and files: letters, digits, dot, dash,
 * underscore. */
static bool is_host_name(const char *name)
{
    static const char valid[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";

    return name[0] && name[strspn(name, valid)] == '\0';
}

static bool is_positive(double v)
{
    return isfinite(v) && v > 0;
}

static bool is_valid_host(const struct lbw_local_host *h)
{
    return memchr(h->host, 0, sizeof(h->host)) && is_host_name(h->host) &&
           is_positive(h->core_speed) && is_positive(h->capacity) && is_positive(h->hardware) &&
           isfinite(h->index) && h->age_ns >= 0;
}

static void put_hosts(struct lbw_writer *w, const struct lbw_local_hosts *hosts)
{
    lbw_write_u64(w, hosts->more);
    lbw_write_u64(w, hosts->n);
    for (size_t i = 0; i < hosts->n; i++) {
        const struct lbw_local_host *h = &hosts->host[i];

        lbw_write_str(w, h->host);
        lbw_write_f64(w, h->core_speed);
        lbw_write_f64(w, h->capacity);
        lbw_write_f64(w, h->hardware);
        lbw_write_f64(w, h->index);
        lbw_write_i64(w, h->age_ns);
    }
}

static void put_notice(struct lbw_writer *w, const struct lbw_local_notice *notice)
{
    lbw_write_u64(w, notice->begin);
    lbw_write_u64(w, notice->jobid);
    lbw_write_u64(w, notice->stepid);
    lbw_write_u64(w, notice->ntasks);
}

/* How many fields the message has, version and type among them; 0 for an unknown type. */
static size_t count_fields(uint32_t type, size_t nhosts)
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
    case LBW_L_TEXT:
    case LBW_L_ERROR:
        return 3;
    case LBW_L_HOSTS:
        return 4 + HOST_FIELDS * nhosts;
    }
    return 0;
}

static int check_hosts(const struct lbw_local_hosts *hosts)
{
    if (hosts->more > 1 || hosts->n > LBW_LOCAL_HOSTS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < hosts->n; i++)
        if (!is_valid_host(&hosts->host[i]))
            return -EINVAL;
    return 0;
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
    case LBW_L_TEXT:
    case LBW_L_ERROR:
        return memchr(msg->u.text.text, 0, sizeof(msg->u.text.text)) ? 0 : -EINVAL;
    case LBW_L_HOSTS:
        return check_hosts(&msg->u.hosts);
    }
    return -EINVAL;
}

int lbw_local_encode(const struct lbw_local_msg *msg, struct lbx_buf *out)
{
    size_t nhosts = msg->type == LBW_L_HOSTS ? msg->u.hosts.n : 0;
    struct lbw_writer w;
    int rc = check_message(msg);

    if (rc < 0)
        return rc;
    lbw_write_begin(&w, out, count_fields(msg->type, nhosts), LBW_LOCAL_VERSION, msg->type);
    if (msg->type == LBW_L_HOSTS)
        put_hosts(&w, &msg->u.hosts);
    else if (msg->type == LBW_L_NOTICE)
        put_notice(&w, &msg->u.notice);
    else if (count_fields(msg->type, 0) == 3)
        lbw_write_str(&w, msg->u.text.text);
    return lbw_write_end(&w);
}

static void get_hosts(struct lbw_reader *r, struct lbw_local_hosts *hosts)
{
    hosts->more = (uint32_t)lbw_read_u64(r, 1);
    hosts->n = (size_t)lbw_read_u64(r, LBW_LOCAL_HOSTS_MAX);
    for (size_t i = 0; i < hosts->n && !r->bad; i++) {
        struct lbw_local_host *h = &hosts->host[i];

        lbw_read_str(r, h->host, sizeof(h->host));
        h->core_speed = lbw_read_f64(r, 0, DBL_MAX);
        h->capacity = lbw_read_f64(r, 0, DBL_MAX);
        h->hardware = lbw_read_f64(r, 0, DBL_MAX);
        h->index = lbw_read_f64(r, -DBL_MAX, DBL_MAX);
        h->age_ns = lbw_read_i64(r, 0, INT64_MAX);
        if (!is_valid_host(h))
            r->bad = true;
    }
}

static void get_notice(struct lbw_reader *r, struct lbw_local_notice *notice)
{
    notice->begin = (uint32_t)lbw_read_u64(r, 1);
    notice->jobid = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    notice->stepid = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    notice->ntasks = (uint32_t)lbw_read_u64(r, UINT32_MAX);
}

int lbw_local_decode(const uint8_t *body, size_t n, struct lbw_local_msg *ret_msg)
{
    struct lbw_reader r;
    uint32_t type;

    if (lbw_read_begin(&r, body, n, LBW_LOCAL_VERSION, &type) < 0 || count_fields(type, 0) == 0)
        return -EPROTO;
    ret_msg->type = (enum lbw_local_type)type;
    if (ret_msg->type == LBW_L_HOSTS)
        get_hosts(&r, &ret_msg->u.hosts);
    else if (ret_msg->type == LBW_L_NOTICE)
        get_notice(&r, &ret_msg->u.notice);
    else if (count_fields(type, 0) == 3)
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

/* Send all of out, then read until one frame has come. */
static int exchange(int fd, struct lbx_channel *c, struct lbx_buf *out, struct lbx_buf *in,
                    int64_t deadline_ns, struct lbw_local_msg *ret_answer)
{
    const uint8_t *body;
    ssize_t got;
    size_t n;
    int rc;

    for (;;) {
        rc = lbx_sock_flush(fd, out);
        if (rc < 0)
            return rc;
        if (lbx_buf_len(out) == 0)
            break;
        rc = lbx_sock_wait(fd, POLLOUT, deadline_ns);
        if (rc < 0)
            return rc;
    }
    for (;;) {
        rc = lbx_frame_next(c, in, &body, &n);
        if (rc < 0)
            return -EPROTO;
        if (rc == 1)
            return lbw_local_decode(body, n, ret_answer);
        if (lbx_clock_mono_ns() >= deadline_ns)
            return -ETIMEDOUT; /* a peer that dribbles bytes always has one more to read */
        rc = lbx_sock_wait(fd, POLLIN, deadline_ns);
        if (rc < 0)
            return rc;
        got = lbx_sock_fill(fd, in);
        if (got < 0)
            return (int)got;
    }
}

int lbw_local_ask(const char *path, const struct lbw_local_msg *request, int64_t deadline_ns,
                  struct lbw_local_msg *ret_answer)
{
    struct lbx_channel c;
    struct lbx_buf in, out;
    int fd, rc;

    lbx_channel_init_plain(&c);
    lbx_buf_init(&in, LBX_FRAME_CAP + LBX_FRAME_OVERHEAD);
    lbx_buf_init(&out, LBX_FRAME_CAP + LBX_FRAME_OVERHEAD);
    rc = frame_request(request, &c, &out);
    if (rc == 0) {
        fd = lbx_sock_connect_unix(path, deadline_ns);
        rc = fd;
        if (fd >= 0) {
            rc = exchange(fd, &c, &out, &in, deadline_ns, ret_answer);
            close(fd);
        }
    }
    lbx_buf_fini(&in);
    lbx_buf_fini(&out);
    return rc;
}
