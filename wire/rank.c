/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between a rank and its balancer: encoders and decoders. */
#include "wire/rank.h"

#include <errno.h>
#include <string.h>

#include "wire/flat.h"

#define HEAD_FIELDS 2 /* version, type */

static void write_join(struct lbw_writer *w, const struct lbw_join *m)
{
    lbw_write_u64(w, m->nranks);
    lbw_write_u64(w, m->pid);
    lbw_write_str(w, m->host);
    lbw_write_f64(w, m->weight);
    lbw_write_f64(w, m->hardware);
    lbw_write_i64(w, m->stable_ns);
}

static void read_join(struct lbw_reader *r, struct lbw_join *m)
{
    m->nranks = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    m->pid = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    lbw_read_str(r, m->host, sizeof(m->host));
    m->weight = lbw_read_f64(r, 0, 1e12);
    m->hardware = lbw_read_f64(r, 0, 1e12);
    m->stable_ns = lbw_read_i64(r, 0, INT64_MAX);
}

static void write_open(struct lbw_writer *w, const struct lbw_open *m)
{
    lbw_write_u64(w, m->loop);
    lbw_write_str(w, m->name);
    lbw_write_i64(w, m->n);
    lbw_write_i64(w, m->row_bytes);
    lbw_write_i64(w, m->owned_first);
    lbw_write_i64(w, m->owned_last);
    lbw_write_u64(w, m->kind);
    lbw_write_i64(w, m->pipelined);
}

static void read_open(struct lbw_reader *r, struct lbw_open *m)
{
    m->loop = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    lbw_read_str(r, m->name, sizeof(m->name));
    m->n = lbw_read_i64(r, 0, INT64_MAX);
    m->row_bytes = lbw_read_i64(r, 0, INT64_MAX);
    m->owned_first = lbw_read_i64(r, 0, m->n);
    m->owned_last = lbw_read_i64(r, m->owned_first, m->n);
    m->kind = (uint32_t)lbw_read_u64(r, LBW_DOACROSS);
    m->pipelined = m->kind == LBW_DOACROSS ? lbw_read_i64(r, 1, INT64_MAX) : lbw_read_i64(r, 0, 0);
}

static void write_samples(struct lbw_writer *w, const struct lbw_sample *sample, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        lbw_write_i64(w, sample[i].first);
        lbw_write_i64(w, sample[i].last);
        lbw_write_i64(w, sample[i].wall_ns);
        lbw_write_i64(w, sample[i].cpu_ns);
    }
}

static void read_samples(struct lbw_reader *r, struct lbw_sample *sample, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sample[i].first = lbw_read_i64(r, 0, INT64_MAX);
        sample[i].last = lbw_read_i64(r, sample[i].first, INT64_MAX);
        sample[i].wall_ns = lbw_read_i64(r, 0, INT64_MAX);
        sample[i].cpu_ns = lbw_read_i64(r, 0, INT64_MAX);
    }
}

#define REPORT_FIELDS 10 /* without those of the three lists */

static void write_report(struct lbw_writer *w, const struct lbw_report *m)
{
    lbw_write_u64(w, m->loop);
    lbw_write_i64(w, m->pass);
    lbw_write_u64(w, m->flags);
    lbw_write_i64(w, m->now_ns);
    lbw_write_i64(w, m->executed);
    lbw_write_i64(w, m->remaining);
    lbw_write_i64(w, m->wait_ns);
    lbw_write_u64(w, m->nspans);
    lbw_write_u64(w, m->nsamples);
    lbw_write_u64(w, m->ndone);
    for (size_t i = 0; i < m->nspans; i++) {
        lbw_write_i64(w, m->span[i].first);
        lbw_write_i64(w, m->span[i].last);
    }
    write_samples(w, m->sample, m->nsamples);
    for (size_t i = 0; i < m->ndone; i++) {
        lbw_write_u64(w, m->done[i].epoch);
        lbw_write_u64(w, m->done[i].role);
        lbw_write_i64(w, m->done[i].iterations);
        lbw_write_i64(w, m->done[i].bytes);
        lbw_write_i64(w, m->done[i].wall_ns);
        lbw_write_i64(w, m->done[i].cpu_ns);
    }
}

static void read_report(struct lbw_reader *r, struct lbw_report *m)
{
    int64_t least = 0;

    m->loop = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    m->pass = lbw_read_i64(r, 0, INT64_MAX);
    m->flags = (uint32_t)lbw_read_u64(r, LBW_DRY | LBW_LOW | LBW_WAITS);
    m->now_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->executed = lbw_read_i64(r, 0, INT64_MAX);
    m->remaining = lbw_read_i64(r, 0, INT64_MAX);
    m->wait_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->nspans = lbw_read_u64(r, LBW_SPANS_MAX);
    m->nsamples = lbw_read_u64(r, LBW_SAMPLES_MAX);
    m->ndone = lbw_read_u64(r, LBW_DONE_MAX);
    for (size_t i = 0; i < m->nspans; i++) {
        m->span[i].first = lbw_read_i64(r, least, INT64_MAX);
        m->span[i].last = lbw_read_i64(r, m->span[i].first, INT64_MAX);
        least = m->span[i].last;
    }
    read_samples(r, m->sample, m->nsamples);
    for (size_t i = 0; i < m->ndone; i++) {
        m->done[i].epoch = lbw_read_u64(r, UINT64_MAX);
        m->done[i].role = (uint32_t)lbw_read_u64(r, LBW_REFUSED);
        m->done[i].iterations = lbw_read_i64(r, 0, INT64_MAX);
        m->done[i].bytes = lbw_read_i64(r, 0, INT64_MAX);
        m->done[i].wall_ns = lbw_read_i64(r, 0, INT64_MAX);
        m->done[i].cpu_ns = lbw_read_i64(r, 0, INT64_MAX);
    }
}

#define STEP_FIELDS 18 /* without those of the samples */

static void write_step(struct lbw_writer *w, const struct lbw_step *m)
{
    lbw_write_u64(w, m->loop);
    lbw_write_i64(w, m->step);
    lbw_write_i64(w, m->steps);
    lbw_write_u64(w, m->epoch);
    lbw_write_i64(w, m->first);
    lbw_write_i64(w, m->last);
    lbw_write_i64(w, m->wall_ns);
    lbw_write_i64(w, m->cpu_ns);
    lbw_write_i64(w, m->wait_ns);
    lbw_write_i64(w, m->move_bytes);
    lbw_write_i64(w, m->move_wall_ns);
    lbw_write_i64(w, m->move_cpu_ns);
    lbw_write_i64(w, m->shift_elements);
    lbw_write_i64(w, m->shift_ns);
    lbw_write_f64(w, m->quota_cpus);
    lbw_write_i64(w, m->quota_period_ns);
    lbw_write_u64(w, m->quota_group);
    lbw_write_u64(w, m->nsamples);
    write_samples(w, m->sample, m->nsamples);
}

static void read_step(struct lbw_reader *r, struct lbw_step *m)
{
    m->loop = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    m->step = lbw_read_i64(r, 0, INT64_MAX);
    m->steps = lbw_read_i64(r, 0, m->step);
    m->epoch = lbw_read_u64(r, INT64_MAX);
    m->first = lbw_read_i64(r, 0, INT64_MAX);
    m->last = lbw_read_i64(r, m->first, INT64_MAX);
    m->wall_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->cpu_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->wait_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->move_bytes = lbw_read_i64(r, 0, INT64_MAX);
    m->move_wall_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->move_cpu_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->shift_elements = lbw_read_i64(r, -1, INT64_MAX);
    m->shift_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->quota_cpus = lbw_read_f64(r, 0, LBW_QUOTA_MAX);
    m->quota_period_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->quota_group = lbw_read_u64(r, UINT64_MAX);
    m->nsamples = lbw_read_u64(r, LBW_SAMPLES_MAX);
    read_samples(r, m->sample, m->nsamples);
}

#define LAYOUT_FIELDS 5 /* without the counts */

static uint32_t count_counts(const struct lbw_layout *m)
{
    return m->first < 0 ? m->nranks : 0;
}

static void write_layout(struct lbw_writer *w, const struct lbw_layout *m)
{
    lbw_write_u64(w, m->loop);
    lbw_write_u64(w, m->epoch);
    lbw_write_i64(w, m->block);
    lbw_write_i64(w, m->first);
    lbw_write_u64(w, m->nranks);
    for (uint32_t i = 0; i < count_counts(m); i++)
        lbw_write_i64(w, m->count[i]);
}

static void read_layout(struct lbw_reader *r, struct lbw_layout *m)
{
    int64_t left = INT64_MAX;

    m->loop = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    m->epoch = lbw_read_u64(r, INT64_MAX);
    m->block = lbw_read_i64(r, 0, INT64_MAX);
    m->first = lbw_read_i64(r, -1, INT64_MAX);
    m->nranks = (uint32_t)lbw_read_u64(r, m->first < 0 ? LBW_LAYOUT_RANKS_MAX : UINT32_MAX);
    for (uint32_t i = 0; i < count_counts(m); i++) {
        m->count[i] = lbw_read_i64(r, 0, left);
        left -= m->count[i];
    }
    if (m->epoch == 0)
        r->bad = true;
}

static void write_close(struct lbw_writer *w, const struct lbw_close *m)
{
    lbw_write_u64(w, m->loop);
    lbw_write_i64(w, m->passes);
    lbw_write_i64(w, m->iterations);
    lbw_write_i64(w, m->iterations_in);
    lbw_write_i64(w, m->moves_in);
    lbw_write_i64(w, m->bytes_in);
    lbw_write_i64(w, m->compute_ns);
    lbw_write_i64(w, m->cpu_ns);
    lbw_write_i64(w, m->wait_ns);
    lbw_write_i64(w, m->library_ns);
    lbw_write_i64(w, m->library_cpu_ns);
}

static void read_close(struct lbw_reader *r, struct lbw_close *m)
{
    m->loop = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    m->passes = lbw_read_i64(r, 0, INT64_MAX);
    m->iterations = lbw_read_i64(r, 0, INT64_MAX);
    m->iterations_in = lbw_read_i64(r, 0, INT64_MAX);
    m->moves_in = lbw_read_i64(r, 0, INT64_MAX);
    m->bytes_in = lbw_read_i64(r, 0, INT64_MAX);
    m->compute_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->cpu_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->wait_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->library_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->library_cpu_ns = lbw_read_i64(r, 0, INT64_MAX);
}

static void write_instruct(struct lbw_writer *w, const struct lbw_instruct *m)
{
    lbw_write_u64(w, m->loop);
    lbw_write_i64(w, m->period_ns);
    lbw_write_i64(w, m->low_ns);
    lbw_write_i64(w, m->chunk_ns);
}

static void read_instruct(struct lbw_reader *r, struct lbw_instruct *m)
{
    m->loop = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    m->period_ns = lbw_read_i64(r, 1, LBW_PERIOD_MAX_NS);
    m->low_ns = lbw_read_i64(r, 0, INT64_MAX);
    m->chunk_ns = lbw_read_i64(r, 1, INT64_MAX);
}

static void write_move(struct lbw_writer *w, const struct lbw_move *m)
{
    lbw_write_u64(w, m->loop);
    lbw_write_i64(w, m->pass);
    lbw_write_u64(w, m->epoch);
    lbw_write_u64(w, m->dest);
    lbw_write_i64(w, m->first);
    lbw_write_i64(w, m->last);
}

static void read_move(struct lbw_reader *r, struct lbw_move *m)
{
    m->loop = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    m->pass = lbw_read_i64(r, 0, INT64_MAX);
    m->epoch = lbw_read_u64(r, UINT64_MAX);
    m->dest = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    m->first = lbw_read_i64(r, 0, INT64_MAX);
    m->last = lbw_read_i64(r, m->first, INT64_MAX);
}

static size_t count_report_fields(const struct lbw_report *m)
{
    return REPORT_FIELDS + 2 * m->nspans + 4 * m->nsamples + 6 * m->ndone;
}

static size_t count_fields(const struct lbw_rank_msg *msg)
{
    switch (msg->type) {
    case LBW_JOIN:
        return 6;
    case LBW_OPEN:
        return 8;
    case LBW_REPORT:
        return count_report_fields(&msg->u.report);
    case LBW_CLOSE:
        return 11;
    case LBW_START:
        return 2;
    case LBW_INSTRUCT:
        return 4;
    case LBW_MOVE:
        return 6;
    case LBW_FINAL:
        return 2;
    case LBW_STEP:
        return STEP_FIELDS + 4 * msg->u.step.nsamples;
    case LBW_LAYOUT:
        return LAYOUT_FIELDS + (size_t)count_counts(&msg->u.layout);
    case LBW_ANSWER:
    case LBW_CLOSED:
        return 2;
    case LBW_SUMMARY:
        return 1;
    case LBW_ASK:
    case LBW_LEAVE:
    case LBW_BEAT:
    case LBW_EXPECT:
    case LBW_STOP:
        break;
    }
    return 0;
}

static bool counts_valid(const struct lbw_rank_msg *msg)
{
    const struct lbw_report *rep = &msg->u.report;

    switch (msg->type) {
    case LBW_REPORT:
        return rep->nspans <= LBW_SPANS_MAX && rep->nsamples <= LBW_SAMPLES_MAX &&
               rep->ndone <= LBW_DONE_MAX;
    case LBW_STEP:
        return msg->u.step.nsamples <= LBW_SAMPLES_MAX;
    case LBW_LAYOUT:
        return count_counts(&msg->u.layout) <= LBW_LAYOUT_RANKS_MAX;
    default:
        return true;
    }
}

int lbw_rank_encode(const struct lbw_rank_msg *msg, struct lbx_buf *out)
{
    struct lbw_writer w;

    if (!counts_valid(msg))
        return -EINVAL;
    if (msg->type == LBW_SUMMARY && !memchr(msg->u.summary.text, 0, sizeof(msg->u.summary.text)))
        return -EINVAL;
    lbw_write_begin(&w, out, HEAD_FIELDS + count_fields(msg), LBW_RANK_VERSION, msg->type);
    switch (msg->type) {
    case LBW_JOIN:
        write_join(&w, &msg->u.join);
        break;
    case LBW_OPEN:
        write_open(&w, &msg->u.open);
        break;
    case LBW_REPORT:
        write_report(&w, &msg->u.report);
        break;
    case LBW_CLOSE:
        write_close(&w, &msg->u.close);
        break;
    case LBW_START:
        lbw_write_u64(&w, msg->u.start.nranks);
        lbw_write_str(&w, msg->u.start.policy);
        break;
    case LBW_INSTRUCT:
        write_instruct(&w, &msg->u.instruct);
        break;
    case LBW_MOVE:
        write_move(&w, &msg->u.move);
        break;
    case LBW_FINAL:
        lbw_write_u64(&w, msg->u.final.loop);
        lbw_write_i64(&w, msg->u.final.pass);
        break;
    case LBW_STEP:
        write_step(&w, &msg->u.step);
        break;
    case LBW_LAYOUT:
        write_layout(&w, &msg->u.layout);
        break;
    case LBW_ANSWER:
        lbw_write_u64(&w, msg->u.answer.loop);
        lbw_write_i64(&w, msg->u.answer.to);
        break;
    case LBW_CLOSED:
        lbw_write_u64(&w, msg->u.closed.loop);
        lbw_write_i64(&w, msg->u.closed.passes);
        break;
    case LBW_SUMMARY:
        lbw_write_str(&w, msg->u.summary.text);
        break;
    case LBW_ASK:
    case LBW_LEAVE:
    case LBW_BEAT:
    case LBW_EXPECT:
    case LBW_STOP:
        break;
    }
    return lbw_write_end(&w);
}

int lbw_rank_decode(const uint8_t *body, size_t n, struct lbw_rank_msg *ret_msg)
{
    struct lbw_reader r;
    uint32_t type;

    if (lbw_read_begin(&r, body, n, LBW_RANK_VERSION, &type) < 0)
        return -EPROTO;
    ret_msg->type = (enum lbw_rank_type)type;
    switch (ret_msg->type) {
    case LBW_JOIN:
        read_join(&r, &ret_msg->u.join);
        break;
    case LBW_OPEN:
        read_open(&r, &ret_msg->u.open);
        break;
    case LBW_REPORT:
        read_report(&r, &ret_msg->u.report);
        break;
    case LBW_CLOSE:
        read_close(&r, &ret_msg->u.close);
        break;
    case LBW_START:
        ret_msg->u.start.nranks = (uint32_t)lbw_read_u64(&r, UINT32_MAX);
        lbw_read_str(&r, ret_msg->u.start.policy, sizeof(ret_msg->u.start.policy));
        break;
    case LBW_INSTRUCT:
        read_instruct(&r, &ret_msg->u.instruct);
        break;
    case LBW_MOVE:
        read_move(&r, &ret_msg->u.move);
        break;
    case LBW_FINAL:
        ret_msg->u.final.loop = (uint32_t)lbw_read_u64(&r, UINT32_MAX);
        ret_msg->u.final.pass = lbw_read_i64(&r, 0, INT64_MAX);
        break;
    case LBW_STEP:
        read_step(&r, &ret_msg->u.step);
        break;
    case LBW_LAYOUT:
        read_layout(&r, &ret_msg->u.layout);
        break;
    case LBW_ANSWER:
        ret_msg->u.answer.loop = (uint32_t)lbw_read_u64(&r, UINT32_MAX);
        ret_msg->u.answer.to = lbw_read_i64(&r, 0, INT64_MAX);
        break;
    case LBW_CLOSED:
        ret_msg->u.closed.loop = (uint32_t)lbw_read_u64(&r, UINT32_MAX);
        ret_msg->u.closed.passes = lbw_read_i64(&r, 0, INT64_MAX);
        break;
    case LBW_SUMMARY:
        lbw_read_str(&r, ret_msg->u.summary.text, sizeof(ret_msg->u.summary.text));
        break;
    case LBW_ASK:
    case LBW_LEAVE:
    case LBW_BEAT:
    case LBW_EXPECT:
    case LBW_STOP:
        break;
    default:
        return -EPROTO;
    }
    return lbw_read_end(&r);
}
