/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Write the corpora of fuzz_rank and fuzz_local: one file for each kind of message.
 * usage: seeds FOLDER, the one that holds both; after `make tests/fuzz/seeds`.
 */
#include "tests/fuzz/seeds.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "wire/endpoint.h"
#include "wire/rank.h"

const char fuzz_name[] = "seeds";

void seeds_put(const char *folder, const char *target, const char *name, char kind,
               struct lbx_buf *body)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s/%s", folder, target, name);
    f = fopen(path, "wb");
    if (!f || fputc(kind, f) == EOF ||
        fwrite(lbx_buf_data(body), 1, lbx_buf_len(body), f) != lbx_buf_len(body) || fclose(f) != 0)
        fuzz_fail(path);
    lbx_buf_fini(body);
}

static void put_rank(const char *folder, const char *name, const struct lbw_rank_msg *msg)
{
    struct lbx_buf body;

    lbx_buf_init(&body, LBX_FRAME_CAP);
    if (lbw_rank_encode(msg, &body) != 0)
        fuzz_fail(name);
    seeds_put(folder, "rank", name, 0, &body);
}

static struct lbw_report report(void)
{
    struct lbw_report r = {.loop = 1, .pass = 2, .flags = LBW_LOW, .now_ns = 1000000};

    r.executed = 100;
    r.remaining = 15;
    r.nspans = 2;
    r.span[0] = (struct lbx_span){100, 110};
    r.span[1] = (struct lbx_span){120, 125};
    r.nsamples = 1;
    r.sample[0] = (struct lbw_sample){0, 100, 5000, 4000};
    r.ndone = 1;
    r.done[0] = (struct lbw_done){7, LBW_SENT, 5, 4096, 3000, 2000};
    r.wait_ns = 10;
    return r;
}

static void put_endpoint(const char *folder)
{
    struct lbw_endpoint e = {.port = 6819, .naddresses = 2};
    struct lbx_buf body;

    snprintf(e.address[0], sizeof(e.address[0]), "10.0.0.1");
    snprintf(e.address[1], sizeof(e.address[1]), "fe80::1");
    snprintf(e.context, sizeof(e.context), "c 12.0");
    snprintf(e.policy, sizeof(e.policy), "auto");
    lbx_buf_init(&body, LBX_FRAME_CAP);
    if (lbw_endpoint_encode(&e, &body) != 0)
        fuzz_fail("endpoint");
    seeds_put(folder, "rank", "endpoint", 1, &body);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        struct lbw_rank_msg msg;
    } plain[] = {
        {"join", {LBW_JOIN, {.join = {4, 1234, "n1", 1.5, 2}}}},
        {"open", {LBW_OPEN, {.open = {0, "rows", 1000, 8192, 250, 500, LBW_DOACROSS, 700}}}},
        {"step",
         {LBW_STEP,
          {.step = {0,
                    20,
                    10,
                    1,
                    250,
                    500,
                    9000,
                    8000,
                    50,
                    4096,
                    30,
                    20,
                    64,
                    5,
                    0.4,
                    100000000,
                    77,
                    1,
                    {{250, 500, 900, 800}}}}}},
        {"layout", {LBW_LAYOUT, {.layout = {0, 2, 64, -1, 3, {300, 0, 700}}}}},
        {"layout-own", {LBW_LAYOUT, {.layout = {0, 2, 64, 300, 100000, {0}}}}},
        {"close", {LBW_CLOSE, {.close = {0, 3, 300, 20, 2, 160000, 9000, 8000, 50, 20, 10}}}},
        {"leave", {.type = LBW_LEAVE}},
        {"start", {LBW_START, {.start = {4, "auto"}}}},
        {"instruct", {LBW_INSTRUCT, {.instruct = {0, 500000000, 1000000, 2000000}}}},
        {"move", {LBW_MOVE, {.move = {0, 2, 7, 3, 100, 110}}}},
        {"final", {LBW_FINAL, {.final = {0, 2}}}},
        {"beat", {.type = LBW_BEAT}},
        {"expect", {.type = LBW_EXPECT}},
        {"stop", {.type = LBW_STOP}},
        {"ask", {.type = LBW_ASK}},
        {"answer", {LBW_ANSWER, {.answer = {0, 123456789}}}},
        {"closed", {LBW_CLOSED, {.closed = {0, 3}}}},
        {"summary", {LBW_SUMMARY, {.summary = {"lb: policy auto\nlb: moved 3 iterations\n"}}}},
    };
    static struct lbw_rank_msg msg = {.type = LBW_REPORT};

    if (argc != 2) {
        fprintf(stderr, "usage: seeds FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        put_rank(argv[1], plain[i].name, &plain[i].msg);
    msg.u.report = report();
    put_rank(argv[1], "report", &msg);
    put_endpoint(argv[1]);
    seeds_local(argv[1]);
    seeds_tcp(argv[1]);
    return 0;
}
