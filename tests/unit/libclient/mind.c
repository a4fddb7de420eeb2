/* SPDX-License-Identifier: BSD-3-Clause */
/* A balancer out of its mind. */
#include "tests/unit/libclient/mind.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/frame.h"
#include "common/sock.h"
#include "tests/unit/libclient/world.h"
#include "wire/rank.h"

#define RANKS_MAX WORLD_RANKS_MAX
#define LOOPS_MAX 4
#define BEAT_NS (20 * LBX_NS_PER_MS)

struct peer {
    int fd;
    struct lbx_channel channel;
    struct lbx_buf in, out;
    bool left;
};

struct loop {
    int64_t pass[RANKS_MAX]; /* of the last report */
    bool dry[RANKS_MAX];
    struct lbx_span span[RANKS_MAX][LBW_SPANS_MAX];
    size_t nspans[RANKS_MAX];
    int64_t final;
    uint64_t epoch;
    struct lbw_move last; /* told */
    int last_source;
    struct lbw_rank_msg told; /* of a stepped loop: the last layout, if lost on the way to a rank */
    bool lost;
    uint64_t layout, applied[RANKS_MAX]; /* of a stepped loop: told last; in force there */
    int budget;                          /* moves until it has had enough of this pass */
};

struct mind {
    struct mind_config config;
    pthread_t thread;
    struct peer peer[RANKS_MAX];
    struct loop loop[LOOPS_MAX];
    uint64_t random;
    bool dead, own;
    int64_t beat_ns;
    int answers; /* given or lost */
    struct mind_sums sums;
};

static void send_to(struct mind *m, int rank, const struct lbw_rank_msg *msg)
{
    struct peer *p = &m->peer[rank];
    struct lbx_buf body;

    if (p->fd < 0)
        return;
    lbx_buf_init(&body, LBX_FRAME_CAP);
    if (lbw_rank_encode(msg, &body) < 0 ||
        lbx_frame_append(&p->channel, &p->out, lbx_buf_data(&body), lbx_buf_len(&body)) < 0)
        m->sums.wrong++;
    lbx_buf_fini(&body);
    if (lbx_sock_flush(p->fd, &p->out) < 0)
        lbx_buf_consume(&p->out, lbx_buf_len(&p->out)); /* it has gone; what it said is read yet */
}

static uint64_t pick(struct mind *m, uint64_t n)
{
    return world_random(&m->random, n);
}

/* A move that makes sense, more or less. */
static void tell_move(struct mind *m, uint32_t id)
{
    struct loop *l = &m->loop[id];
    int source = (int)pick(m, (uint64_t)m->config.size);
    struct lbw_rank_msg msg = {.type = LBW_MOVE};
    struct lbw_move *move = &msg.u.move;

    if (l->pass[source] < 0)
        return;
    move->loop = id;
    move->pass = l->pass[source];
    move->epoch = ++l->epoch;
    move->dest = (uint32_t)pick(m, (uint64_t)m->config.size);
    if (l->nspans[source] > 0 && pick(m, 8) > 0) {
        struct lbx_span s = l->span[source][pick(m, l->nspans[source])];

        move->first = s.first + (int64_t)pick(m, (uint64_t)(s.last - s.first));
        move->last = pick(m, 3) == 0 ? s.last : move->first + 1 + (int64_t)pick(m, 9);
    } else {
        move->first = (int64_t)pick(m, (uint64_t)m->config.n + 1);
        move->last = move->first + 1 + (int64_t)pick(m, (uint64_t)m->config.n + 1);
    }
    switch (pick(m, 20)) {
    case 0:
        move->pass++; /* too early */
        break;
    case 1:
        move->pass = move->pass > 0 ? move->pass - 1 : 0; /* too late, or right */
        break;
    case 2:
        move->epoch = l->epoch > 3 ? l->epoch - 3 : 1; /* stale */
        break;
    case 3:
        move->dest = 1000;
        break;
    case 4:
        move->loop = 77;
        break;
    case 5:
        send_to(m, source, &msg); /* twice */
        break;
    }
    m->sums.moves_told++;
    l->last = *move;
    l->last_source = source;
    send_to(m, source, &msg);
}

/* What came to a rank shall go back to where it was before that rank knows that it is gone. */
static void tell_back(struct mind *m, uint32_t id, int rank, uint64_t epoch)
{
    struct loop *l = &m->loop[id];
    struct lbw_rank_msg msg = {.type = LBW_MOVE};

    if (l->last.epoch != epoch || l->last.dest != (uint32_t)rank || pick(m, 2))
        return;
    msg.u.move = l->last;
    msg.u.move.epoch = ++l->epoch;
    msg.u.move.dest = (uint32_t)l->last_source;
    m->sums.moves_told++;
    send_to(m, rank, &msg);
}

static void tell_instruct(struct mind *m, uint32_t id, int rank)
{
    struct lbw_rank_msg msg = {.type = LBW_INSTRUCT};

    msg.u.instruct = (struct lbw_instruct){id, 1 + (int64_t)pick(m, 200000),
                                           (int64_t)pick(m, 100000), 1 + (int64_t)pick(m, 20000)};
    send_to(m, rank, &msg);
}

/* It may go on, by now; and no other answer may let it. */
static void tell_answer(struct mind *m, uint32_t id, int rank, int64_t to)
{
    struct lbw_rank_msg msg = {.type = LBW_ANSWER};

    if (!m->config.sync || (m->config.lose > 0 && ++m->answers % m->config.lose == 0))
        return;
    msg.u.answer = (struct lbw_answer){id, to + 1};
    if (pick(m, 4) == 0)
        send_to(m, rank, &msg);
    msg.u.answer = (struct lbw_answer){id + 1, to};
    if (pick(m, 4) == 0)
        send_to(m, rank, &msg);
    msg.u.answer = (struct lbw_answer){id, to};
    send_to(m, rank, &msg);
    if (pick(m, 4) == 0)
        send_to(m, rank, &msg); /* nobody waits for it any more */
}

static void tell_final(struct mind *m, uint32_t id)
{
    struct loop *l = &m->loop[id];
    struct lbw_rank_msg msg = {.type = LBW_FINAL};
    int64_t pass = INT64_MAX;
    bool all_dry = true;

    for (int r = 0; r < m->config.size; r++) {
        if (m->peer[r].fd < 0)
            continue;
        pass = l->pass[r] < pass ? l->pass[r] : pass;
        all_dry = all_dry && l->dry[r];
    }
    if (pass < 0 || pass <= l->final || pass == INT64_MAX)
        return;
    if (!(l->budget <= 0 && all_dry) && pick(m, 400) > 0)
        return;
    l->final = pass;
    l->budget = (int)pick(m, 60);
    msg.u.final = (struct lbw_final){id, pass};
    for (int r = 0; r < m->config.size; r++)
        send_to(m, r, &msg);
}

static void take_report(struct mind *m, int rank, const struct lbw_report *r)
{
    struct loop *l;

    if (r->loop >= LOOPS_MAX) {
        m->sums.wrong++;
        return;
    }
    l = &m->loop[r->loop];
    if (r->pass < l->pass[rank] || r->executed + r->remaining > m->config.n)
        m->sums.wrong++;
    l->pass[rank] = r->pass;
    l->dry[rank] = r->flags & LBW_DRY;
    m->sums.dry += (r->flags & LBW_DRY) != 0;
    m->sums.low += (r->flags & LBW_LOW) != 0;
    l->nspans[rank] = r->nspans;
    memcpy(l->span[rank], r->span, r->nspans * sizeof(r->span[0]));
    for (size_t i = 0; i < r->ndone; i++) {
        m->sums.sent += r->done[i].role == LBW_SENT;
        m->sums.received += r->done[i].role == LBW_RECEIVED;
        if (r->done[i].role == LBW_RECEIVED)
            tell_back(m, r->loop, rank, r->done[i].epoch);
        m->sums.refused += r->done[i].role == LBW_REFUSED;
    }
    for (size_t i = 0; i < r->nsamples; i++)
        if (r->sample[i].first < 0 || r->sample[i].last > m->config.n ||
            r->sample[i].first >= r->sample[i].last)
            m->sums.wrong++;
    if (pick(m, 6) == 0)
        tell_instruct(m, r->loop, rank);
    l->budget--;
    if (pick(m, 2) == 0 && (r->pass > l->final || pick(m, 4) == 0)) /* after FINAL: refused */
        tell_move(m, r->loop);
    tell_final(m, r->loop);
    if (r->flags & LBW_WAITS) {
        m->sums.waits++;
        m->sums.wrong += !m->config.sync || (r->flags & LBW_DRY) != 0;
        tell_answer(m, r->loop, rank, r->now_ns);
    }
}

/* Blocks drawn at random, many of them empty. */
static void draw_counts(struct mind *m, int64_t *count)
{
    int64_t left = m->config.n;

    for (int r = 0; r < m->config.size; r++) {
        count[r] = pick(m, 3) ? (int64_t)pick(m, (uint64_t)left + 1) : 0;
        left -= count[r];
    }
    count[pick(m, (uint64_t)m->config.size)] += left;
}

static void send_layout(struct mind *m, int rank, const struct lbw_rank_msg *msg)
{
    struct lbw_rank_msg told = *msg;

    told.u.layout.first = m->own ? 0 : -1;
    for (int r = 0; m->own && r < rank; r++)
        told.u.layout.first += msg->u.layout.count[r];
    send_to(m, rank, &told);
}

/*
 * A layout to one rank, and at times its like under another epoch: stale or twice behind it, too early before it.  Too early behind
 * it, that would be the next one where all have moved by then, and no other rank has it.
 */
static void tell_rank(struct mind *m, int rank, const struct lbw_rank_msg *msg)
{
    int64_t later = (int64_t)pick(m, 3) - 1;
    struct lbw_rank_msg other = *msg;
    bool tells_other;

    other.u.layout.epoch += (uint64_t)later;
    tells_other = other.u.layout.epoch > 0 && pick(m, 4) == 0;
    if (tells_other && later > 0)
        send_layout(m, rank, &other);
    send_layout(m, rank, msg);
    if (tells_other && later <= 0)
        send_layout(m, rank, &other);
}

/* The next layout to all, and with it what no rank may follow. */
static void tell_layout(struct mind *m, uint32_t id)
{
    struct loop *l = &m->loop[id];
    struct lbw_rank_msg msg = {.type = LBW_LAYOUT};
    struct lbw_layout *y = &msg.u.layout;
    int liar = m->config.contradicts ? (int)pick(m, (uint64_t)m->config.size) : -1;

    *y = (struct lbw_layout){.loop = id, .epoch = ++l->layout, .nranks = (uint32_t)m->config.size};
    y->block = m->config.elements > 0 ? 1 + (int64_t)pick(m, (uint64_t)m->config.elements) : 0;
    m->sums.layouts++;
    for (int r = 0; r < m->config.size; r++) {
        struct lbw_rank_msg bad = msg;

        bad.u.layout.count[0] = m->config.n + 1; /* too many */
        if (pick(m, 4) == 0)
            send_layout(m, r, &bad);
        bad.u.layout.count[0] = m->config.n; /* right but for the block */
        bad.u.layout.block = pick(m, 2) ? 0 : m->config.elements + 1;
        if (m->config.elements > 0 && pick(m, 4) == 0)
            send_layout(m, r, &bad);
        bad.u.layout.nranks--;
        if (pick(m, 4) == 0)
            send_layout(m, r, &bad);
    }
    draw_counts(m, y->count);
    l->lost = m->config.lose_layouts > 0 && l->layout % (uint64_t)m->config.lose_layouts == 0;
    l->told = msg;
    for (int r = l->lost; r < m->config.size; r++) { /* rank 0 does not hear of it */
        if (r == liar && m->config.elements > 1 && pick(m, 2))
            y->block = y->block % m->config.elements + 1;
        else if (r == liar)
            draw_counts(m, y->count);
        tell_rank(m, r, &msg);
        if (pick(m, 10) == 0)
            lbx_clock_sleep_ns((int64_t)pick(m, 1000000));
    }
}

static void take_step(struct mind *m, int rank, const struct lbw_step *s)
{
    int64_t at = s->nsamples > 0 ? s->sample[s->nsamples - 1].last : s->first;
    bool all = true, at_once;
    struct loop *l;

    m->sums.steps++;
    if (s->loop >= LOOPS_MAX || s->last > m->config.n || s->epoch > m->loop[s->loop].layout ||
        s->epoch < m->loop[s->loop].applied[rank]) {
        m->sums.wrong++;
        return;
    }
    l = &m->loop[s->loop];
    for (size_t i = 0; i < s->nsamples; i++)
        m->sums.wrong += s->sample[i].first != (i > 0 ? s->sample[i - 1].last : s->first);
    at_once = s->epoch != l->applied[rank] && !m->config.sync && !m->config.published;
    m->sums.wrong += (at_once ? s->steps + s->wall_ns != 0 : s->steps < 1 || at != s->last) ||
                     s->shift_elements > m->config.elements;
    l->applied[rank] = s->epoch;
    for (int r = 0; r < m->config.size; r++)
        all = all && l->applied[r] == l->layout;
    if (all) {
        tell_layout(m, s->loop);
    } else if (l->lost && pick(m, 4) == 0) {
        for (int r = 0; r < m->config.size; r++)
            send_layout(m, r, &l->told);
        m->sums.again++;
    }
    if (pick(m, 6) == 0)
        tell_instruct(m, s->loop, rank);
    tell_answer(m, s->loop, rank, s->step);
}

/* It would tell all, were there time. */
static void tell_closed(struct mind *m, const struct lbw_close *c)
{
    const struct lbw_rank_msg msg = {.type = LBW_CLOSED, .u.closed = {c->loop, c->passes}};

    for (int r = m->config.size - 1; r >= 0 && r >= m->config.size - m->config.tells_closed; r--)
        send_to(m, r, &msg);
}

static void die(struct mind *m)
{
    const struct lbw_rank_msg stop = {.type = LBW_STOP};
    const char garbage[64] = {0x7f, 0x7f, 0x7f, 0x7f};

    m->dead = true;
    for (int r = 0; r < m->config.size; r++) {
        if (m->peer[r].fd < 0)
            continue;
        if (m->config.end == MIND_STOPS)
            send_to(m, r, &stop);
        if (m->config.end == MIND_GARBAGE &&
            send(m->peer[r].fd, garbage, sizeof(garbage), MSG_NOSIGNAL) < 0)
            continue;
        if (m->config.end == MIND_CLOSES) {
            close(m->peer[r].fd);
            m->peer[r].fd = -1;
        }
    }
}

static void take(struct mind *m, int rank, const struct lbw_rank_msg *msg)
{
    m->sums.messages++;
    switch (msg->type) {
    case LBW_OPEN:
        m->sums.opens++;
        if (msg->u.open.n != m->config.n)
            m->sums.wrong++;
        if (pick(m, 2))
            tell_instruct(m, msg->u.open.loop, rank);
        break;
    case LBW_REPORT:
        take_report(m, rank, &msg->u.report);
        break;
    case LBW_STEP:
        take_step(m, rank, &msg->u.step);
        break;
    case LBW_CLOSE:
        if (m->sums.closes++ == 0)
            tell_closed(m, &msg->u.close);
        break;
    case LBW_LEAVE:
        m->sums.leaves++;
        m->peer[rank].left = true;
        break;
    case LBW_JOIN:
        break;
    default:
        m->sums.wrong++;
    }
}

/* Returns whether the rank is still there. */
static bool serve(struct mind *m, int rank)
{
    static _Thread_local struct lbw_rank_msg msg;
    struct peer *p = &m->peer[rank];
    ssize_t n = lbx_sock_fill(p->fd, &p->in);
    const uint8_t *body;
    size_t bytes;

    while (!m->dead && p->fd >= 0 && lbx_frame_next(&p->channel, &p->in, &body, &bytes) == 1) {
        if (lbw_rank_decode(body, bytes, &msg) < 0) {
            m->sums.wrong++;
            return false;
        }
        take(m, rank, &msg);
        if (m->config.end != MIND_LIVES &&
            (m->config.after_closes ? m->sums.closes >= m->config.after_closes
                                    : m->sums.messages >= m->config.after))
            die(m);
    }
    return n >= 0;
}

static void beat(struct mind *m)
{
    const struct lbw_rank_msg msg = {.type = LBW_BEAT};
    int64_t now_ns = lbx_clock_mono_ns();

    if (m->dead || now_ns - m->beat_ns < BEAT_NS)
        return;
    m->beat_ns = now_ns;
    for (int r = 0; r < m->config.size; r++)
        send_to(m, r, &msg);
}

static void *run(void *arg)
{
    struct mind *m = arg;

    for (;;) {
        struct pollfd p[RANKS_MAX];
        int open = 0;

        for (int r = 0; r < m->config.size; r++) {
            p[r] = (struct pollfd){m->peer[r].fd, POLLIN, 0};
            open += m->peer[r].fd >= 0;
        }
        if (open == 0 || (m->dead && m->config.end == MIND_SILENT))
            break;
        beat(m);
        if (poll(p, (nfds_t)m->config.size, 10) == 0) {
            for (uint32_t i = 0; i < LOOPS_MAX && !m->dead; i++) {
                m->loop[i].budget = 0; /* nobody has anything to say: it is time */
                tell_final(m, i);
            }
        }
        for (int r = 0; r < m->config.size; r++) {
            if (p[r].fd < 0 || p[r].revents == 0 || m->peer[r].fd < 0)
                continue;
            if (!serve(m, r)) {
                close(m->peer[r].fd);
                m->peer[r].fd = -1;
            }
        }
    }
    return NULL;
}

struct mind *mind_start(const struct mind_config *config, int *ret_fd_of_rank)
{
    struct mind *m = calloc(1, sizeof(*m));

    m->config = *config;
    m->random = config->seed ^ 0x5555;
    m->own = getenv("LB_TEST_OWN") != NULL;
    for (int r = 0; r < config->size; r++) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
            abort();
        ret_fd_of_rank[r] = pair[0];
        m->peer[r].fd = pair[1];
        lbx_channel_init_plain(&m->peer[r].channel);
        lbx_buf_init(&m->peer[r].in, 1 << 20);
        lbx_buf_init(&m->peer[r].out, 1 << 22);
    }
    for (int i = 0; i < LOOPS_MAX; i++) {
        m->loop[i].final = -1;
        m->loop[i].budget = (int)pick(m, 60);
        for (int r = 0; r < config->size; r++)
            m->loop[i].pass[r] = -1;
    }
    if (pthread_create(&m->thread, NULL, run, m) != 0)
        abort();
    return m;
}

struct mind_sums mind_join(struct mind *m)
{
    struct mind_sums sums;

    pthread_join(m->thread, NULL);
    for (int r = 0; r < m->config.size; r++) {
        if (m->peer[r].fd >= 0)
            close(m->peer[r].fd);
        lbx_buf_fini(&m->peer[r].in);
        lbx_buf_fini(&m->peer[r].out);
    }
    sums = m->sums;
    free(m);
    return sums;
}
