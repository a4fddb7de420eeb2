/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between nodes and controller: what comes back, what is refused. */
#include "wire/node.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suite.h"

static struct lbw_node_msg msg, back;

static void fill_report(struct lbw_node_report *r)
{
    *r = (struct lbw_node_report){.seq = 0x123456789abcULL,
                                  .age_ns = 77,
                                  .cpus = .4,
                                  .hardware = 1.01,
                                  .core_speed = .404,
                                  .capacity = .4,
                                  .hardware_s = .99,
                                  .workload_ratio = 2.5,
                                  .share_ratio = .41,
                                  .bench_age_ns = INT64_MAX,
                                  .kernel_ops_hz = {2.8e8, 1.6e8, 0, 1, 2},
                                  .kernel_all_hz = {5e8, 3e8, 0, 3, 4},
                                  .kernel_dispersion = {.1, 0, 0, 2, 1e9},
                                  .slow_ratio = .5,
                                  .slow_kernel = LBW_NODE_KERNELS - 1,
                                  .packages = 2,
                                  .cores = 64,
                                  .numa_nodes = 8,
                                  .throttled_ratio = .25,
                                  .fresh_tasks = 3.5,
                                  .placed_cpus = .5,
                                  .samples = 99,
                                  .others_cpus = 1.25,
                                  .external_cpus = 0,
                                  .busy_cpus = 3.5,
                                  .steal_cpus = .1,
                                  .pressure_ratio = 1,
                                  .running = 7,
                                  .users = 2,
                                  .terminals = UINT32_MAX,
                                  .tasks = 4};
    strcpy(r->model, "a \"processor\" \xff");
}

static void fill_job(struct lbw_job *j)
{
    *j = (struct lbw_job){.seq = 9,
                          .age_ns = 5,
                          .run_ns = 60000000000,
                          .jobid = 4203,
                          .hosts = 300,
                          .ranks = 600,
                          .placement = LBW_PLACE_NO_ROOM,
                          .load_balance = .97,
                          .efficiency = .9,
                          .balance_before = .4,
                          .compute_ns = INT64_MAX,
                          .wait_ns = 7,
                          .overhead_ns = 3,
                          .saved_ns = -40,
                          .moved_bytes = 1 << 20,
                          .moved_iterations = 12,
                          .ended = 1,
                          .period_ns = 500000000,
                          .loops = 3,
                          .decisions = {1, 2, 3, 4, 5, 6},
                          .nhost = 2,
                          .host = {{"n1", .25, 10.5, 100, 50, 4}, {"n2", .75, 30, 300, 150, 3}}};
    strcpy(j->user, "a \"user\" \xc3\xa4");
    strcpy(j->account, "physics");
    strcpy(j->policy, "auto");
}

static void make(enum lbw_node_type type)
{
    memset(&msg, 0, sizeof(msg));
    msg.type = type;
    if (type == LBW_N_CHALLENGE)
        memset(msg.u.nonce, 0xa5, sizeof(msg.u.nonce));
    else if (type == LBW_N_HELLO)
        strcpy(msg.u.credential, "MUNGE:abc:");
    else if (type == LBW_N_REPORT)
        fill_report(&msg.u.report);
    else if (type == LBW_N_JOB)
        fill_job(&msg.u.job);
    else if (type == LBW_N_DECISIONS) {
        msg.u.decisions = (struct lbw_node_decisions){12, 3, 1000, ""};
        strcpy(msg.u.decisions.text, "{\"policy\":\"auto\"}");
    } else if (type == LBW_N_CLAIMS) {
        strcpy(msg.u.claims.origin, "login1");
        msg.u.claims.uid = 1000;
        msg.u.claims.claims.generation = 9;
        msg.u.claims.claims.jobid = 12;
        msg.u.claims.claims.n = 1;
        msg.u.claims.claims.claim[0] = (struct lbw_local_claim){"n1", 1.5, 4};
    } else if (type == LBW_N_ACK)
        msg.u.acked_seq = UINT64_MAX;
    else {
        msg.u.hosts.n = 2;
        for (size_t i = 0; i < 2; i++) {
            msg.u.hosts.host[i] = (struct lbw_local_host){
                .core_speed = 1, .capacity = 2, .hardware = 1, .index = 1, .age_ns = 9};
            snprintf(msg.u.hosts.host[i].host, LBW_LOCAL_HOST_MAX, "n%zu", i);
        }
    }
}

static const enum lbw_node_type types[] = {LBW_N_CHALLENGE, LBW_N_HELLO, LBW_N_REPORT,
                                           LBW_N_JOB,       LBW_N_ACK,   LBW_N_RANK,
                                           LBW_N_DECISIONS, LBW_N_CLAIMS};
#define NTYPES (sizeof(types) / sizeof(types[0]))

static void encode(struct lbx_buf *b)
{
    lbx_buf_init(b, LBX_FRAME_CAP);
    ck_assert_int_eq(lbw_node_encode(&msg, b), 0);
}

START_TEST(every_type_comes_back)
{
    struct lbx_buf b;

    make(types[_i]);
    encode(&b);
    memset(&back, 0, sizeof(back));
    ck_assert_int_eq(lbw_node_decode(lbx_buf_data(&b), lbx_buf_len(&b), &back), 0);
    ck_assert_mem_eq(&msg, &back, sizeof(msg));
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(truncated_and_trailing_are_refused)
{
    struct lbx_buf b;

    make(types[_i]);
    encode(&b);
    for (size_t n = 0; n < lbx_buf_len(&b); n++) {
        uint8_t *part = malloc(n ? n : 1); /* exactly so large: a read behind it is seen */

        memcpy(part, lbx_buf_data(&b), n);
        ck_assert_int_eq(lbw_node_decode(part, n, &back), -EPROTO);
        free(part);
    }
    ck_assert_int_eq(lbx_buf_append(&b, "\0", 1), 0);
    ck_assert_int_eq(lbw_node_decode(lbx_buf_data(&b), lbx_buf_len(&b), &back), -EPROTO);
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(changed_bytes_stay_in_bounds)
{
    struct lbx_buf b, again;

    make(types[_i]);
    encode(&b);
    for (size_t k = 0; k < lbx_buf_len(&b); k++) {
        uint8_t old = lbx_buf_data(&b)[k];

        for (int v = 0; v < 256; v++) {
            lbx_buf_data(&b)[k] = (uint8_t)v;
            if (lbw_node_decode(lbx_buf_data(&b), lbx_buf_len(&b), &back) < 0)
                continue;
            msg = back; /* accepted: then every value is one that may be told */
            encode(&again);
            lbx_buf_fini(&again);
        }
        lbx_buf_data(&b)[k] = old;
    }
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(reports_out_of_bounds_are_not_told)
{
    struct lbx_buf b;

    lbx_buf_init(&b, LBX_FRAME_CAP);
    for (int i = 0; i < 10; i++) {
        struct lbw_node_report *r = &msg.u.report;

        make(LBW_N_REPORT);
        if (i == 0)
            r->cpus = 0;
        else if (i == 1)
            r->hardware = -1;
        else if (i == 2)
            r->core_speed = NAN;
        else if (i == 3)
            r->capacity = INFINITY;
        else if (i == 4)
            r->workload_ratio = .5;
        else if (i == 5)
            r->share_ratio = 1.1;
        else if (i == 6)
            r->pressure_ratio = -.1;
        else if (i == 7)
            r->age_ns = -1;
        else if (i == 8)
            r->kernel_ops_hz[2] = NAN;
        else
            memset(r->model, 'x', sizeof(r->model));
        ck_assert_int_eq(lbw_node_encode(&msg, &b), -EINVAL);
        ck_assert_uint_eq(lbx_buf_len(&b), 0);
    }
    lbx_buf_fini(&b);
}
END_TEST

START_TEST(proofs)
{
    struct lbw_node_proof p = {.host = "n1", .boot = "b-o-o-t", .instance = UINT64_MAX}, q;
    struct lbx_buf b;

    memset(p.nonce, 1, sizeof(p.nonce));
    memset(p.session_key, 2, sizeof(p.session_key));
    memset(&q, 0, sizeof(q));
    lbx_buf_init(&b, 1024);
    ck_assert_int_eq(lbw_node_proof_encode(&p, &b), 0);
    ck_assert_int_eq(lbw_node_proof_decode(lbx_buf_data(&b), lbx_buf_len(&b), &q), 0);
    ck_assert_mem_eq(&p, &q, sizeof(p));
    for (size_t n = 0; n < lbx_buf_len(&b); n++)
        ck_assert_int_eq(lbw_node_proof_decode(lbx_buf_data(&b), n, &q), -EPROTO);
    /* a credential that was made for another purpose */
    memcpy(memchr(lbx_buf_data(&b), 's', lbx_buf_len(&b)), "S", 1);
    ck_assert_int_eq(lbw_node_proof_decode(lbx_buf_data(&b), lbx_buf_len(&b), &q), -EPROTO);
    strcpy(p.host, "../n1");
    ck_assert_int_eq(lbw_node_proof_encode(&p, &b), -EINVAL);
    lbx_buf_fini(&b);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("codec");

    tcase_add_loop_test(tc, every_type_comes_back, 0, NTYPES);
    tcase_add_loop_test(tc, truncated_and_trailing_are_refused, 0, NTYPES);
    tcase_add_loop_test(tc, changed_bytes_stay_in_bounds, 0, NTYPES);
    tcase_add_test(tc, reports_out_of_bounds_are_not_told);
    tcase_add_test(tc, proofs);
    return suite_run("wire/node", tc);
}
