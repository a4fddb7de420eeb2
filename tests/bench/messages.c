/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a message costs the balancer: messages RANKS SECONDS [SEED]
 * Starts the real lb-balancer beside it (or LB_BALANCER), joins it with RANKS ranks over TCP, with keys and frames as in a job,
 * first says nothing for a while, so that it only beats, and then plays a pass of a free-running loop that would ideally last
 * SECONDS: hosts of 0.3 to 1 cores, every fourth slower by half for half of each 4 s, as in bench/scale.  Ranks compute nothing;
 * they report when they were told to, and give away what they are told to.
 * Prints: messages ranks= message_us= beat_us= heard= said= beats= alone= messages_per_s= busy=
 *   message_us  CPU time of the balancer's process over all that it heard and said in the pass, beats taken off: with system
 *               calls, MACs, decoding, and every decision.  beat_us: the same over the beats, while nothing else is said (alone).
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/auth.h"
#include "common/clock.h"
#include "common/sock.h"
#include "wire/endpoint.h"
#include "wire/rank.h"

#define ROWS 200 /* iterations a rank */
#define TICK_NS (2 * LBX_NS_PER_MS)
#define BEATS_NS (6 * LBX_NS_PER_S) /* nothing but beats for so long */
#define PATIENCE_NS (30 * LBX_NS_PER_S)
#define LOAD_NS (4 * LBX_NS_PER_S)
#define FIRST_REPORT_NS (10 * LBX_NS_PER_MS) /* as in libclient/report.c */
#define IN_BYTES (1 << 18)

struct rank {
    int fd;
    struct lbx_channel channel;
    struct lbx_buf in, out;
    struct lbx_spanset left;
    double cores;         /* of its host, without load */
    double speed, credit; /* iterations a second on them; what is done of the next ones */
    int64_t phase_ns;     /* of its load; -1: it has none */
    int64_t executed, period_ns, low_ns, due_ns, reported_ns;
    bool low_told, dry_told, final;
    struct lbw_report report; /* what the next one says */
};

struct play {
    uint32_t n;
    struct rank *rank;
    struct pollfd *poll; /* [n] */
    pid_t pid;
    int64_t heard, said, beats;
    bool started;
};

static struct lbw_rank_msg msg; /* large */

static __attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("messages: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    exit(1);
}

static void send_msg(struct play *p, struct rank *r)
{
    struct lbx_buf body;

    lbx_buf_init(&body, LBX_FRAME_CAP);
    if (lbw_rank_encode(&msg, &body) < 0 ||
        lbx_frame_append(&r->channel, &r->out, lbx_buf_data(&body), lbx_buf_len(&body)) < 0 ||
        lbx_sock_flush(r->fd, &r->out) < 0)
        die("a message cannot be sent");
    lbx_buf_fini(&body);
    p->heard++;
}

/* CPU time of a process so far, all threads. */
static int64_t cpu_ns(pid_t pid)
{
    char path[512];
    struct dirent *task;
    int64_t sum = 0, ns;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    while (dir && (task = readdir(dir))) {
        FILE *file;

        snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", (int)pid, task->d_name);
        file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file && fscanf(file, "%" SCNd64, &ns) == 1)
            sum += ns;
        if (file)
            fclose(file);
    }
    if (dir)
        closedir(dir);
    if (sum <= 0)
        die("the balancer's CPU time cannot be read");
    return sum;
}

static int start_balancer(struct play *p, const char *self, struct lbw_endpoint *ret)
{
    const char *path = getenv("LB_BALANCER"), *slash = strrchr(self, '/');
    char beside[4096], count[16];
    struct lbx_channel plain;
    struct lbx_buf in;
    const uint8_t *body;
    int sv[2], rc;
    size_t n;

    snprintf(beside, sizeof(beside), "%.*s../../lb-balancer", slash ? (int)(slash - self) + 1 : 0,
             self);
    snprintf(count, sizeof(count), "%" PRIu32, p->n);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0 || (p->pid = fork()) < 0)
        die("cannot fork");
    if (p->pid == 0) {
        dup2(sv[1], 3);
        execl(path ? path : beside, "lb-balancer", "--fd", "3", "--nranks", count, "--policy",
              "auto", (char *)NULL);
        _exit(127);
    }
    close(sv[1]);
    lbx_channel_init_plain(&plain);
    lbx_buf_init(&in, 4096);
    while ((rc = lbx_frame_next(&plain, &in, &body, &n)) == 0)
        if (lbx_sock_wait(sv[0], POLLIN, lbx_clock_mono_ns() + PATIENCE_NS) <= 0 ||
            lbx_sock_fill(sv[0], &in) < 0)
            die("no lb-balancer at %s", path ? path : beside);
    if (rc < 0 || lbw_endpoint_decode(body, n, ret) < 0)
        die("an endpoint was expected");
    lbx_buf_fini(&in);
    return sv[0];
}

static void join(struct play *p, const struct lbw_endpoint *e, uint32_t id)
{
    struct rank *r = &p->rank[id];
    struct lbx_auth auth;
    int rc;

    r->fd = lbx_sock_connect_tcp("127.0.0.1", e->port, lbx_clock_mono_ns() + PATIENCE_NS);
    if (r->fd < 0)
        die("cannot connect: %s", strerror(-r->fd));
    lbx_buf_init(&r->in, IN_BYTES);
    lbx_buf_init(&r->out, IN_BYTES);
    lbx_auth_init_client(&auth, e->key, e->context, strlen(e->context), id);
    while ((rc = lbx_auth_step(&auth, &r->in, &r->out)) == 0)
        if (lbx_sock_flush(r->fd, &r->out) < 0 ||
            lbx_sock_wait(r->fd, POLLIN, lbx_clock_mono_ns() + PATIENCE_NS) <= 0 ||
            lbx_sock_fill(r->fd, &r->in) < 0)
            break;
    if (rc != 1)
        die("rank %" PRIu32 " is not let in", id);
    lbx_auth_channel(&auth, &r->channel);
    lbx_auth_fini(&auth);
    msg = (struct lbw_rank_msg){.type = LBW_JOIN};
    msg.u.join = (struct lbw_join){.nranks = p->n, .pid = (uint32_t)getpid(), .host = "here"};
    send_msg(p, r);
}

/* Part of the host that the load leaves. */
static double loaded(const struct rank *r, int64_t now_ns)
{
    return r->phase_ns >= 0 && (now_ns + r->phase_ns) / (LOAD_NS / 2) % 2 ? 0.5 : 1;
}

/* What the rank has got done since the last tick: the first of what is left. */
static void compute(struct rank *r, int64_t now_ns, int64_t since_ns)
{
    double part = loaded(r, now_ns), rate = r->speed * part / LBX_NS_PER_S;
    struct lbw_report *m = &r->report;

    r->credit += rate * (double)(now_ns - since_ns);
    while (r->left.n > 0 && r->credit >= 1) {
        struct lbx_span s = r->left.span[0];
        int64_t k = s.last - s.first;
        struct lbw_sample *last = m->nsamples ? &m->sample[m->nsamples - 1] : NULL;

        if ((double)k > r->credit)
            k = (int64_t)r->credit;
        if (!last || last->last != s.first) {
            if (m->nsamples == LBW_SAMPLES_MAX)
                return; /* a report is due anyway */
            last = &m->sample[m->nsamples++];
            *last = (struct lbw_sample){s.first, s.first, 0, 0};
        }
        last->last = s.first + k;
        last->wall_ns += (int64_t)((double)k / rate);
        last->cpu_ns += (int64_t)((double)k / rate * part * r->cores);
        if (lbx_spanset_remove(&r->left, s.first, s.first + k) < 0)
            die("no memory");
        r->credit -= (double)k;
        r->executed += k;
    }
    if (r->left.n == 0)
        r->credit = 0;
}

static void report(struct play *p, struct rank *r, int64_t now_ns)
{
    struct lbw_report *m = &r->report;
    int64_t remaining = lbx_spanset_count(&r->left);
    bool dry = remaining == 0, low;
    size_t skip = r->left.n > LBW_SPANS_MAX ? r->left.n - LBW_SPANS_MAX : 0;

    low = !dry && !r->low_told &&
          (double)remaining / r->speed / loaded(r, now_ns) * LBX_NS_PER_S < (double)r->low_ns;
    if (!(dry && !r->dry_told) && !low && m->ndone == 0 && (dry || now_ns < r->due_ns) &&
        m->nsamples < LBW_SAMPLES_MAX)
        return;
    m->flags = (dry ? LBW_DRY : 0) | (low ? LBW_LOW : 0);
    m->now_ns = now_ns;
    m->executed = r->executed;
    m->remaining = remaining;
    m->nspans = r->left.n - skip;
    memcpy(m->span, r->left.span + skip, m->nspans * sizeof(*m->span));
    msg = (struct lbw_rank_msg){.type = LBW_REPORT, .u.report = *m};
    send_msg(p, r);
    *m = (struct lbw_report){0};
    r->dry_told = dry;
    r->low_told |= low;
    r->reported_ns = now_ns;
    r->due_ns = now_ns + r->period_ns;
}

static void tell_done(struct play *p, struct rank *r, uint64_t epoch, uint32_t role,
                      int64_t iterations, int64_t now_ns)
{
    if (r->report.ndone == LBW_DONE_MAX) {
        r->due_ns = now_ns;
        report(p, r, now_ns);
    }
    r->report.done[r->report.ndone++] =
        (struct lbw_done){epoch, role, iterations, 1000 * iterations, 200000, 20000};
}

/* Rows of one process need no way: they are there at once. */
static void obey(struct play *p, struct rank *r, const struct lbw_move *m, int64_t now_ns)
{
    struct lbx_spanset part = LBX_SPANSET_EMPTY;
    struct rank *to = &p->rank[m->dest];
    int64_t k;

    if (lbx_spanset_intersect(&r->left, m->first, m->last, &part) < 0)
        die("no memory");
    k = lbx_spanset_count(&part);
    for (size_t i = 0; i < part.n; i++)
        if (lbx_spanset_remove(&r->left, part.span[i].first, part.span[i].last) < 0 ||
            lbx_spanset_add(&to->left, part.span[i].first, part.span[i].last) < 0)
            die("no memory");
    tell_done(p, r, m->epoch, k > 0 ? LBW_SENT : LBW_REFUSED, k, now_ns);
    if (k > 0) {
        tell_done(p, to, m->epoch, LBW_RECEIVED, k, now_ns);
        to->dry_told = false;
    }
    lbx_spanset_fini(&part);
}

static void take(struct play *p, struct rank *r, int64_t now_ns)
{
    p->said += msg.type != LBW_BEAT;
    switch (msg.type) {
    case LBW_BEAT:
        p->beats++;
        break;
    case LBW_START:
        p->started = true;
        break;
    case LBW_INSTRUCT:
        r->due_ns += msg.u.instruct.period_ns - r->period_ns;
        r->period_ns = msg.u.instruct.period_ns;
        r->low_ns = msg.u.instruct.low_ns;
        break;
    case LBW_MOVE: {
        struct lbw_move move = msg.u.move; /* msg is used again by what is said */

        obey(p, r, &move, now_ns);
        break;
    }
    case LBW_FINAL:
        r->final = true;
        break;
    case LBW_STOP:
        die("the balancer has stopped");
    default:
        break;
    }
}

/* All that has come, from all. */
static void read_all(struct play *p, int64_t now_ns)
{
    for (uint32_t i = 0; i < p->n; i++)
        p->poll[i] = (struct pollfd){.fd = p->rank[i].fd, .events = POLLIN};
    if (poll(p->poll, p->n, 0) < 0)
        die("poll: %s", strerror(errno));
    for (uint32_t i = 0; i < p->n; i++) {
        struct rank *r = &p->rank[i];
        const uint8_t *body;
        size_t n;
        int rc;

        if (p->poll[i].revents == 0)
            continue;
        if (lbx_sock_fill(r->fd, &r->in) < 0)
            die("the balancer is gone");
        while ((rc = lbx_frame_next(&r->channel, &r->in, &body, &n)) == 1) {
            if (lbw_rank_decode(body, n, &msg) < 0)
                die("a message that cannot be read");
            take(p, r, now_ns);
        }
        if (rc < 0)
            die("a frame that cannot be read");
    }
}

static void open_loop(struct play *p, double seconds, unsigned seed)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        struct rank *r = &p->rank[i];

        r->cores = 0.3 + 0.7 * rand_r(&seed) / RAND_MAX;
        r->phase_ns = i % 4 == 3 ? (int64_t)((double)LOAD_NS * rand_r(&seed) / RAND_MAX) : -1;
        sum += r->cores * (r->phase_ns >= 0 ? 0.75 : 1);
    }
    for (uint32_t i = 0; i < p->n; i++) {
        struct rank *r = &p->rank[i];

        r->speed = r->cores * ROWS * p->n / seconds / sum;
        r->period_ns = 50 * LBX_NS_PER_MS; /* until the balancer says another */
        lbx_spanset_init(&r->left);
        if (lbx_spanset_add(&r->left, (int64_t)i * ROWS, (int64_t)(i + 1) * ROWS) < 0)
            die("no memory");
        msg = (struct lbw_rank_msg){.type = LBW_OPEN};
        msg.u.open = (struct lbw_open){.n = (int64_t)ROWS * p->n,
                                       .row_bytes = 1000,
                                       .owned_first = (int64_t)i * ROWS,
                                       .owned_last = (int64_t)(i + 1) * ROWS,
                                       .name = "rows"};
        send_msg(p, r);
    }
}

/* Until all are done, or what there is to wait for has taken much too long. */
static void pass(struct play *p, double seconds)
{
    int64_t now_ns = lbx_clock_mono_ns(), last_ns = now_ns, busy = p->n;
    int64_t end_ns = now_ns + (int64_t)(5 * seconds * LBX_NS_PER_S) + PATIENCE_NS;

    for (uint32_t i = 0; i < p->n; i++)
        p->rank[i].due_ns = now_ns + FIRST_REPORT_NS;
    while (busy > 0) {
        lbx_clock_sleep_ns(TICK_NS);
        now_ns = lbx_clock_mono_ns();
        if (now_ns > end_ns)
            die("the pass does not end");
        read_all(p, now_ns);
        busy = 0;
        for (uint32_t i = 0; i < p->n; i++) {
            struct rank *r = &p->rank[i];

            compute(r, now_ns, last_ns);
            report(p, r, now_ns);
            busy += r->left.n > 0 || !r->final;
        }
        last_ns = now_ns;
    }
    for (uint32_t i = 0, n = 0; i < p->n; i++)
        if ((n += (uint32_t)p->rank[i].executed), i + 1 == p->n && n != ROWS * p->n)
            die("%" PRIu32 " iterations of %" PRIu32 " were executed", n, ROWS * p->n);
}

static void end(struct play *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        msg = (struct lbw_rank_msg){.type = LBW_LEAVE};
        send_msg(p, &p->rank[i]);
    }
    if (waitpid(p->pid, NULL, 0) != p->pid)
        die("the balancer does not end");
    for (uint32_t i = 0; i < p->n; i++) {
        close(p->rank[i].fd);
        lbx_buf_fini(&p->rank[i].in);
        lbx_buf_fini(&p->rank[i].out);
        lbx_spanset_fini(&p->rank[i].left);
    }
    free(p->rank);
    free(p->poll);
}

int main(int argc, char **argv)
{
    struct rlimit files = {0};
    struct lbw_endpoint endpoint;
    struct play p = {0};
    double seconds = argc > 2 ? atof(argv[2]) : 0;
    int64_t begin_ns, end_ns, cpu, beats;
    double beat_us, took_s, beaten_us;

    p.n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    if (p.n < 1 || p.n > 100000 || !(seconds >= 1))
        die("usage: messages RANKS SECONDS [SEED]; at least 1 of each");
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur < p.n + 128)
        die("%" PRIu32 " ranks need as many open files", p.n);
    p.rank = calloc(p.n, sizeof(*p.rank));
    p.poll = calloc(p.n, sizeof(*p.poll));
    if (!p.rank || !p.poll || lbx_auth_setup() < 0)
        die("no memory");
    start_balancer(&p, argv[0], &endpoint);
    for (uint32_t i = 0; i < p.n; i++)
        join(&p, &endpoint, i);
    for (end_ns = lbx_clock_mono_ns() + PATIENCE_NS; !p.started;) {
        if (lbx_clock_mono_ns() > end_ns)
            die("the balancer does not begin");
        lbx_clock_sleep_ns(TICK_NS);
        read_all(&p, 0);
    }
    p.beats = 0;
    cpu = cpu_ns(p.pid);
    for (end_ns = lbx_clock_mono_ns() + BEATS_NS; lbx_clock_mono_ns() < end_ns;) {
        lbx_clock_sleep_ns(10 * TICK_NS);
        read_all(&p, 0);
    }
    beats = p.beats;
    beat_us = (double)(cpu_ns(p.pid) - cpu) / 1e3 / (double)(beats > 0 ? beats : 1);
    p.heard = p.said = p.beats = 0;
    cpu = cpu_ns(p.pid);
    begin_ns = lbx_clock_mono_ns();
    open_loop(&p, seconds, argc > 3 ? (unsigned)atoi(argv[3]) : 1);
    pass(&p, seconds);
    took_s = (double)(lbx_clock_mono_ns() - begin_ns) / 1e9;
    cpu = cpu_ns(p.pid) - cpu;
    beaten_us = (double)p.beats * beat_us;
    printf("messages ranks=%" PRIu32 " message_us=%.2f beat_us=%.2f heard=%" PRId64 " said=%" PRId64
           " beats=%" PRId64 " alone=%" PRId64 " messages_per_s=%.0f busy=%.4f\n",
           p.n, ((double)cpu / 1e3 - beaten_us) / (double)(p.heard + p.said), beat_us, p.heard,
           p.said, p.beats, beats, (double)(p.heard + p.said) / took_s, (double)cpu / 1e9 / took_s);
    end(&p);
    return 0;
}
