/* SPDX-License-Identifier: BSD-3-Clause */
/* wire/rank and wire/endpoint: what is encoded is decoded; everything else is refused. */
#include "wire/rank.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wire/endpoint.h"
#include "wire/flat.h"
#include "tests/unit/suite.h"

#define BODY_LIMIT 65536

static int64_t random_i64(unsigned *seed)
{
    int64_t v = ((int64_t)rand_r(seed) << 31 | rand_r(seed)) >> (rand_r(seed) % 60);

    return v < 0 ? -v : v;
}

static void fill_report(struct lbw_report *m, unsigned *seed)
{
    int64_t at = 0;

    m->loop = (uint32_t)rand_r(seed);
    m->pass = random_i64(seed);
    m->flags = (uint32_t)rand_r(seed) % 4;
    m->now_ns = random_i64(seed);
    m->executed = random_i64(seed);
    m->remaining = random_i64(seed);
    m->wait_ns = random_i64(seed);
    m->nspans = (size_t)rand_r(seed) % (LBW_SPANS_MAX + 1);
    m->nsamples = (size_t)rand_r(seed) % (LBW_SAMPLES_MAX + 1);
    m->ndone = (size_t)rand_r(seed) % (LBW_DONE_MAX + 1);
    for (size_t i = 0; i < m->nspans; i++) {
        m->span[i].first = at + rand_r(seed) % 1000;
        at = m->span[i].last = m->span[i].first + rand_r(seed) % 100000;
    }
    for (size_t i = 0; i < m->nsamples; i++) {
        m->sample[i].first = rand_r(seed);
        m->sample[i].last = m->sample[i].first + rand_r(seed);
        m->sample[i].wall_ns = random_i64(seed);
        m->sample[i].cpu_ns = random_i64(seed);
    }
    for (size_t i = 0; i < m->ndone; i++)
        m->done[i] = (struct lbw_done){(uint64_t)random_i64(seed), (uint32_t)rand_r(seed) % 3,
                                       random_i64(seed),           random_i64(seed),
                                       random_i64(seed),           random_i64(seed)};
}

/* One message of each type, with values that differ from field to field. */
static void fill(struct lbw_rank_msg *m, enum lbw_rank_type type, unsigned *seed)
{
    memset(m, 0, sizeof(*m));
    m->type = type;
    switch (type) {
    case LBW_JOIN:
        m->u.join = (struct lbw_join){7, 4242, "n3", 0.25, 1.5, INT64_MAX};
        break;
    case LBW_OPEN:
        m->u.open =
            (struct lbw_open){3, "rows of \"A\"", INT64_C(1) << 40, 8192, 5, 77, LBW_DOACROSS, 99};
        break;
    case LBW_REPORT:
        fill_report(&m->u.report, seed);
        break;
    case LBW_CLOSE:
        m->u.close = (struct lbw_close){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
        break;
    case LBW_START:
        m->u.start = (struct lbw_start){9, "auto"};
        break;
    case LBW_INSTRUCT:
        m->u.instruct = (struct lbw_instruct){2, 100000000, 0, 1};
        break;
    case LBW_MOVE:
        m->u.move = (struct lbw_move){2, 11, UINT64_MAX, 3, 100, 1 << 30};
        break;
    case LBW_FINAL:
        m->u.final = (struct lbw_final){4, 127};
        break;
    case LBW_STEP:
        m->u.step = (struct lbw_step){1,
                                      20,
                                      19,
                                      3,
                                      4,
                                      5,
                                      6,
                                      7,
                                      8,
                                      9,
                                      10,
                                      11,
                                      12,
                                      13,
                                      0.4,
                                      100000000,
                                      UINT64_MAX,
                                      2,
                                      {{1, 2, 3, 4}, {5, 6, 7, 8}}};
        break;
    case LBW_LAYOUT:
        m->u.layout.loop = 6;
        m->u.layout.epoch = (uint64_t)random_i64(seed) + 1;
        m->u.layout.block = random_i64(seed);
        m->u.layout.first = rand_r(seed) % 2 ? random_i64(seed) : -1;
        m->u.layout.nranks = (uint32_t)rand_r(seed) % 9;
        for (uint32_t i = 0; m->u.layout.first < 0 && i < m->u.layout.nranks; i++)
            m->u.layout.count[i] = random_i64(seed) / 16;
        break;
    case LBW_ANSWER:
        m->u.answer = (struct lbw_answer){5, INT64_MAX};
        break;
    case LBW_CLOSED:
        m->u.closed = (struct lbw_closed){UINT32_MAX, INT64_MAX};
        break;
    case LBW_SUMMARY:
        strcpy(m->u.summary.text, "lb: a line\nlb: another\n");
        break;
    case LBW_ASK:
    case LBW_LEAVE:
    case LBW_BEAT:
    case LBW_EXPECT:
    case LBW_STOP:
        break;
    }
}

static const enum lbw_rank_type types[] = {
    LBW_JOIN,     LBW_OPEN, LBW_REPORT,  LBW_CLOSE,  LBW_LEAVE,  LBW_START,
    LBW_INSTRUCT, LBW_MOVE, LBW_FINAL,   LBW_BEAT,   LBW_STOP,   LBW_STEP,
    LBW_LAYOUT,   LBW_ASK,  LBW_SUMMARY, LBW_ANSWER, LBW_EXPECT, LBW_CLOSED};

START_TEST(decodes_what_it_encodes)
{
    static struct lbw_rank_msg in, out;
    unsigned seed = (unsigned)_i;
    struct lbx_buf b;

    lbx_buf_init(&b, BODY_LIMIT);
    for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
        fill(&in, types[t], &seed);
        memset(&out, 0, sizeof(out));
        ck_assert_int_eq(lbw_rank_encode(&in, &b), 0);
        ck_assert_int_eq(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
        ck_assert_msg(memcmp(&in, &out, sizeof(in)) == 0, "type %d, seed %d", (int)types[t], _i);
        lbx_buf_consume(&b, lbx_buf_len(&b));
    }
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(refuses_truncated_and_trailing)
{
    static struct lbw_rank_msg in, out;
    unsigned seed = (unsigned)_i + 1000;
    struct lbx_buf b;

    lbx_buf_init(&b, BODY_LIMIT);
    for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
        fill(&in, types[t], &seed);
        ck_assert_int_eq(lbw_rank_encode(&in, &b), 0);
        for (size_t n = 0; n < lbx_buf_len(&b); n++)
            ck_assert_int_lt(lbw_rank_decode(lbx_buf_data(&b), n, &out), 0);
        ck_assert_int_eq(lbx_buf_append(&b, "", 1), 0);
        ck_assert_int_lt(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
        lbx_buf_consume(&b, lbx_buf_len(&b));
    }
    lbx_buf_fini(&b);
}
END_TEST

/* A changed byte either fails or gives a message that encodes again: never out of bounds (run with
 * sanitizers). */
START_TEST(survives_changed_bytes)
{
    static struct lbw_rank_msg in, out;
    unsigned seed = (unsigned)_i + 2000;
    struct lbx_buf b, again;

    lbx_buf_init(&b, BODY_LIMIT);
    lbx_buf_init(&again, BODY_LIMIT);
    for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
        fill(&in, types[t], &seed);
        ck_assert_int_eq(lbw_rank_encode(&in, &b), 0);
        for (size_t i = 0; i < lbx_buf_len(&b); i++) {
            uint8_t *p = lbx_buf_data(&b) + i, old = *p;

            *p = (uint8_t)rand_r(&seed);
            if (lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out) == 0)
                ck_assert_int_eq(lbw_rank_encode(&out, &again), 0);
            lbx_buf_consume(&again, lbx_buf_len(&again));
            *p = old;
        }
        lbx_buf_consume(&b, lbx_buf_len(&b));
    }
    lbx_buf_fini(&b);
    lbx_buf_fini(&again);
}
END_TEST

START_TEST(refuses_what_cannot_be)
{
    static struct lbw_rank_msg m, out;
    static const char *const bodies[] = {
        "\x92\x02\x05",         /* another version */
        "\x92\x04\x07",         /* no such type */
        "\xdd\xff\xff\xff\xff", /* four thousand million fields */
        "\x93\x04\x05\x00",     /* a field too many */
        "\x91\x04",             /* no type */
        "\x81\x04\x05",         /* a map */
    };
    struct lbx_buf b;

    for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++)
        ck_assert_msg(
            lbw_rank_decode((const uint8_t *)bodies[i], strlen(bodies[i]) + (i == 3), &out) < 0,
            "body %zu", i);
    lbx_buf_init(&b, BODY_LIMIT);
    m.type = LBW_REPORT;
    m.u.report.nspans = LBW_SPANS_MAX + 1;
    ck_assert_int_eq(lbw_rank_encode(&m, &b), -EINVAL);
    memset(&m, 0, sizeof(m));
    m.type = LBW_REPORT;
    m.u.report.nspans = 2;
    m.u.report.span[0] = (struct lbx_span){10, 20};
    m.u.report.span[1] = (struct lbx_span){19, 30}; /* overlaps */
    ck_assert_int_eq(lbw_rank_encode(&m, &b), 0);
    ck_assert_int_lt(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
    lbx_buf_consume(&b, lbx_buf_len(&b));
    memset(&m, 0, sizeof(m));
    m.type = LBW_OPEN;
    m.u.open.kind = LBW_DOACROSS; /* with rows of no elements */
    ck_assert_int_eq(lbw_rank_encode(&m, &b), 0);
    ck_assert_int_lt(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
    lbx_buf_consume(&b, lbx_buf_len(&b));
    m.u.open.kind = LBW_STEPPED; /* with elements that it has not */
    m.u.open.pipelined = 1;
    ck_assert_int_eq(lbw_rank_encode(&m, &b), 0);
    ck_assert_int_lt(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
    lbx_buf_consume(&b, lbx_buf_len(&b));
    memset(&m, 0, sizeof(m));
    m.type = LBW_INSTRUCT; /* to report when no clock will ever be */
    m.u.instruct = (struct lbw_instruct){0, LBW_PERIOD_MAX_NS + 1, 0, 1};
    ck_assert_int_eq(lbw_rank_encode(&m, &b), 0);
    ck_assert_int_lt(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
    lbx_buf_consume(&b, lbx_buf_len(&b));
    m.u.instruct.period_ns = LBW_PERIOD_MAX_NS;
    ck_assert_int_eq(lbw_rank_encode(&m, &b), 0);
    ck_assert_int_eq(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
    lbx_buf_consume(&b, lbx_buf_len(&b));
    memset(&m, 0, sizeof(m));
    m.type = LBW_JOIN;
    m.u.join.weight = -1;
    ck_assert_int_eq(lbw_rank_encode(&m, &b), 0);
    ck_assert_int_lt(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
    lbx_buf_consume(&b, lbx_buf_len(&b));
    m.u.join.weight = 0;
    m.u.join.hardware = -1;
    ck_assert_int_eq(lbw_rank_encode(&m, &b), 0);
    ck_assert_int_lt(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
    for (int i = 0; i < 3; i++) { /* quotas that no group has; and one that it may have */
        static const double quota[] = {-0.1, 2 * LBW_QUOTA_MAX, LBW_QUOTA_MAX};

        lbx_buf_consume(&b, lbx_buf_len(&b));
        memset(&m, 0, sizeof(m));
        m.type = LBW_STEP;
        m.u.step.quota_cpus = quota[i];
        ck_assert_int_eq(lbw_rank_encode(&m, &b), 0);
        ck_assert_int_eq(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out) == 0, i == 2);
    }
    lbx_buf_fini(&b);
}
END_TEST

/* Whether a layout comes back as it was. */
static bool comes_back(const struct lbw_rank_msg *m)
{
    static struct lbw_rank_msg out;
    struct lbx_buf b;
    bool same;

    lbx_buf_init(&b, BODY_LIMIT);
    ck_assert_int_eq(lbw_rank_encode(m, &b), 0);
    memset(&out, 0, sizeof(out));
    same = lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out) == 0 &&
           memcmp(m, &out, sizeof(out)) == 0;
    lbx_buf_fini(&b);
    return same;
}

/* With the counts of all; as many as it may have go into a frame. */
START_TEST(layouts_of_few_ranks)
{
    static struct lbw_rank_msg m;
    struct lbw_layout *y = &m.u.layout;
    struct lbx_buf b;

    lbx_buf_init(&b, BODY_LIMIT);
    memset(&m, 0, sizeof(m));
    m.type = LBW_LAYOUT;
    *y = (struct lbw_layout){.epoch = 1, .first = -1, .nranks = LBW_LAYOUT_RANKS_MAX + 1};
    ck_assert_int_eq(lbw_rank_encode(&m, &b), -EINVAL);
    y->nranks = 2;
    y->count[0] = y->count[1] = INT64_MAX / 2;
    ck_assert(comes_back(&m));
    y->count[0] += 2; /* their sum is too large */
    ck_assert(!comes_back(&m));
    y->nranks = LBW_LAYOUT_RANKS_MAX;
    for (int i = 0; i < LBW_LAYOUT_RANKS_MAX; i++)
        y->count[i] = INT64_MAX / LBW_LAYOUT_RANKS_MAX;
    ck_assert(comes_back(&m));
    y->epoch = 0;
    ck_assert(!comes_back(&m));
    lbx_buf_fini(&b);
}
END_TEST

#define MANY 100000 /* ranks */

/* Each is told its own block alone, so that all of it is some bytes a rank. */
START_TEST(layouts_of_many_ranks)
{
    static struct lbw_rank_msg m, out;
    struct lbw_layout *y = &m.u.layout;
    size_t bytes = 0;
    struct lbx_buf b;

    lbx_buf_init(&b, BODY_LIMIT);
    memset(&m, 0, sizeof(m));
    m.type = LBW_LAYOUT;
    *y = (struct lbw_layout){.loop = 1, .epoch = 7, .nranks = MANY};
    for (int r = 0; r < MANY; r++) {
        y->first = (int64_t)r << 40;
        ck_assert_int_eq(lbw_rank_encode(&m, &b), 0);
        ck_assert_int_eq(lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
        ck_assert_int_eq(out.u.layout.first, y->first);
        ck_assert_uint_eq(out.u.layout.nranks, MANY);
        bytes += lbx_buf_len(&b);
        lbx_buf_consume(&b, lbx_buf_len(&b));
    }
    ck_assert_uint_lt(bytes, 24 * (size_t)MANY);
    y->nranks = UINT32_MAX;
    y->first = INT64_MAX;
    ck_assert(comes_back(&m));
    lbx_buf_fini(&b);
}
END_TEST

/* A LAYOUT written by hand: where the own block begins, how many ranks it says, how many counts follow. */
static int decode_layout(int64_t first, uint64_t nranks, size_t counts)
{
    static struct lbw_rank_msg out;
    struct lbw_writer w;
    struct lbx_buf b;
    int rc;

    lbx_buf_init(&b, BODY_LIMIT);
    lbw_write_begin(&w, &b, 7 + counts, LBW_RANK_VERSION, LBW_LAYOUT);
    lbw_write_u64(&w, 0);
    lbw_write_u64(&w, 1);
    lbw_write_i64(&w, 0);
    lbw_write_i64(&w, first);
    lbw_write_u64(&w, nranks);
    for (size_t i = 0; i < counts; i++)
        lbw_write_i64(&w, 1);
    ck_assert_int_eq(lbw_write_end(&w), 0);
    rc = lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out);
    lbx_buf_fini(&b);
    return rc;
}

START_TEST(refuses_layouts_that_are_none)
{
    ck_assert_int_eq(decode_layout(-1, 3, 3), 0);
    ck_assert_int_eq(decode_layout(0, 3, 0), 0);
    ck_assert_int_eq(decode_layout(0, UINT32_MAX, 0), 0);
    ck_assert_int_lt(decode_layout(-1, 3, 2), 0);
    ck_assert_int_lt(decode_layout(-1, 3, 4), 0);
    ck_assert_int_lt(decode_layout(0, 3, 3), 0); /* both */
    ck_assert_int_lt(decode_layout(-2, 3, 3), 0);
    ck_assert_int_lt(decode_layout(-2, 3, 0), 0);
    ck_assert_int_lt(decode_layout(0, (uint64_t)UINT32_MAX + 1, 0), 0);
    ck_assert_int_eq(decode_layout(-1, LBW_LAYOUT_RANKS_MAX, LBW_LAYOUT_RANKS_MAX), 0);
    ck_assert_int_lt(decode_layout(-1, LBW_LAYOUT_RANKS_MAX + 1, LBW_LAYOUT_RANKS_MAX + 1), 0);
}
END_TEST

/* What a broken or hostile rank says of its host is no number to plan by. */
START_TEST(refuses_worths_that_are_none)
{
    static const double worth[] = {NAN, INFINITY, -INFINITY, -1, -1e-300, 0, 1};
    static struct lbw_rank_msg m, out;
    struct lbx_buf b;

    lbx_buf_init(&b, BODY_LIMIT);
    for (size_t i = 0; i < 3 * sizeof(worth) / sizeof(worth[0]); i++) {
        double v = worth[i / 3];

        memset(&m, 0, sizeof(m));
        m.type = i % 3 == 2 ? LBW_STEP : LBW_JOIN;
        if (i % 3 == 0)
            m.u.join.weight = v;
        else if (i % 3 == 1)
            m.u.join.hardware = v;
        else
            m.u.step.quota_cpus = v;
        ck_assert_int_eq(lbw_rank_encode(&m, &b), 0);
        ck_assert_msg((lbw_rank_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out) == 0) ==
                          (v >= 0 && v <= 1),
                      "%g in field %zu", v, i % 3);
        lbx_buf_consume(&b, lbx_buf_len(&b));
    }
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(a_full_buffer_is_left_as_it_was)
{
    static struct lbw_rank_msg m;
    unsigned seed = 1;
    struct lbx_buf b;

    fill(&m, LBW_OPEN, &seed);
    lbx_buf_init(&b, 8);
    ck_assert_int_eq(lbx_buf_append(&b, "abc", 3), 0);
    ck_assert_int_eq(lbw_rank_encode(&m, &b), -EMSGSIZE);
    ck_assert_uint_eq(lbx_buf_len(&b), 3);
    ck_assert_int_eq(memcmp(lbx_buf_data(&b), "abc", 3), 0);
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(endpoint_comes_back)
{
    struct lbw_endpoint e = {.port = 65535,
                             .naddresses = 2,
                             .context = "dev/12/0/0",
                             .policy = "auto,report"},
                        out;
    struct lbx_buf b;

    strcpy(e.address[0], "10.77.0.11");
    strcpy(e.address[1], "fe80::1");
    memset(e.key, 0xa5, sizeof(e.key));
    memset(&out, 0, sizeof(out));
    lbx_buf_init(&b, LBW_ENDPOINT_BYTES_MAX);
    ck_assert_int_eq(lbw_endpoint_encode(&e, &b), 0);
    ck_assert_int_eq(lbw_endpoint_decode(lbx_buf_data(&b), lbx_buf_len(&b), &out), 0);
    ck_assert_int_eq(memcmp(&e, &out, sizeof(e)), 0);
    for (size_t n = 0; n < lbx_buf_len(&b); n++)
        ck_assert_int_lt(lbw_endpoint_decode(lbx_buf_data(&b), n, &out), 0);
    lbx_buf_fini(&b);
}
END_TEST

/* Integers of every width and sign go through; doubles that are no numbers do not. */
START_TEST(flat_reads_all_integers)
{
    static const int64_t v[] = {0,     1,          127,       128,       255,      256, 65535,
                                65536, UINT32_MAX, INT64_MAX, -1,        -32,      -33, -128,
                                -129,  -32768,     -32769,    INT32_MIN, INT64_MIN};
    struct lbw_writer w;
    struct lbw_reader r;
    struct lbx_buf b;
    uint32_t type;

    lbx_buf_init(&b, BODY_LIMIT);
    lbw_write_begin(&w, &b, 3 + sizeof(v) / sizeof(*v), 1, 2);
    for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
        lbw_write_i64(&w, v[i]);
    lbw_write_f64(&w, 0.0 / 0.0);
    ck_assert_int_eq(lbw_write_end(&w), 0);
    ck_assert_int_eq(lbw_read_begin(&r, lbx_buf_data(&b), lbx_buf_len(&b), 1, &type), 0);
    ck_assert_uint_eq(type, 2);
    for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
        ck_assert_int_eq(lbw_read_i64(&r, INT64_MIN, INT64_MAX), v[i]);
    ck_assert(!r.bad);
    lbw_read_f64(&r, -1e300, 1e300);
    ck_assert_int_lt(lbw_read_end(&r), 0);
    lbx_buf_fini(&b);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("all");

    tcase_add_loop_test(tc, decodes_what_it_encodes, 0, 50);
    tcase_add_loop_test(tc, refuses_truncated_and_trailing, 0, 5);
    tcase_add_loop_test(tc, survives_changed_bytes, 0, 20);
    tcase_add_test(tc, refuses_what_cannot_be);
    tcase_add_test(tc, layouts_of_few_ranks);
    tcase_add_test(tc, layouts_of_many_ranks);
    tcase_add_test(tc, refuses_layouts_that_are_none);
    tcase_add_test(tc, refuses_worths_that_are_none);
    tcase_add_test(tc, a_full_buffer_is_left_as_it_was);
    tcase_add_test(tc, endpoint_comes_back);
    tcase_add_test(tc, flat_reads_all_integers);
    return suite_run("wire/rank", tc);
}
