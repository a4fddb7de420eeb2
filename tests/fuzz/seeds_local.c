/* SPDX-License-Identifier: BSD-3-Clause */
/* The corpus of fuzz_local: lbd's unix socket, and nodes and controller. */
#include <stdio.h>
#include <string.h>

#include "common/frame.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"
#include "wire/local.h"
#include "wire/node.h"

enum { KIND_LOCAL, KIND_NODE, KIND_PROOF };

static void put_local(const char *folder, const char *name, const struct lbw_local_msg *msg)
{
    struct lbx_buf body;

    lbx_buf_init(&body, LBX_FRAME_CAP);
    if (lbw_local_encode(msg, &body) != 0)
        fuzz_fail(name);
    seeds_put(folder, "local", name, KIND_LOCAL, &body);
}

static void put_node(const char *folder, const char *name, const struct lbw_node_msg *msg)
{
    struct lbx_buf body;

    lbx_buf_init(&body, LBX_FRAME_CAP);
    if (lbw_node_encode(msg, &body) != 0)
        fuzz_fail(name);
    seeds_put(folder, "local", name, KIND_NODE, &body);
}

static const struct lbw_local_host HOST = {
    .host = "n1",
    .core_speed = 0.4,
    .capacity = 1.6,
    .hardware = 1,
    .index = 2.5,
    .age_ns = 5,
};

static void local(const char *folder)
{
    static const struct {
        const char *name;
        struct lbw_local_msg msg;
    } plain[] = {
        {"local-self", {.type = LBW_L_SELF}},
        {"local-rank", {.type = LBW_L_RANK}},
        {"local-notice", {LBW_L_NOTICE, {.notice = {1, 7, 0xfffffffb, 4}}}},
        {"local-command", {LBW_L_COMMAND, {.text = {"rank"}}}},
        {"local-job", {LBW_L_JOB, {.text = {"{\"jobid\":1}"}}}},
        {"local-scope", {LBW_L_SCOPE, {.scope = {"batch", "physics"}}}},
        {"local-place", {LBW_L_PLACE, {.text = {"n1,n2"}}}},
        {"local-claim", {LBW_L_CLAIM, {.claims = {0, 7, 1, {{"n1", 2, 2}}}}}},
        {"local-claims", {LBW_L_CLAIMS, {.claims = {3, 0, 2, {{"n1", .5, 2}, {"n2", 0, 0}}}}}},
        {"local-idle", {LBW_L_IDLE, {.idle_question = {"batch", 30000000}}}},
        {"local-idle-hosts", {LBW_L_IDLE_HOSTS, {.idle = {5, 3, 1, {{"n1", 4, .5, 2, 1, 4}}}}}},
        {"local-decisions", {LBW_L_DECISIONS, {.text = {"{\"jobid\":1}"}}}},
        {"local-explain", {LBW_L_EXPLAIN, {.text = {"7.0 3"}}}},
        {"local-ok", {.type = LBW_L_OK}},
        {"local-text", {LBW_L_TEXT, {.text = {"{}"}}}},
        {"local-error", {LBW_L_ERROR, {.text = {"no"}}}},
        {"local-rule", {LBW_L_RULE, {.rule = {1, 1, 0, 1000, 0, "auto,period=1s", "auto,static"}}}},
    };
    static struct lbw_local_msg hosts = {.type = LBW_L_HOSTS};

    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        put_local(folder, plain[i].name, &plain[i].msg);
    hosts.u.hosts.n = 2;
    hosts.u.hosts.host[0] = hosts.u.hosts.host[1] = HOST;
    put_local(folder, "local-hosts", &hosts);
}

static void node(const char *folder)
{
    static struct lbw_node_msg msg;

    msg = (struct lbw_node_msg){.type = LBW_N_CHALLENGE};
    memset(msg.u.nonce, 'n', sizeof(msg.u.nonce));
    put_node(folder, "node-challenge", &msg);
    msg = (struct lbw_node_msg){LBW_N_HELLO, {.credential = "MUNGE:abc:"}};
    put_node(folder, "node-hello", &msg);
    msg = (struct lbw_node_msg){.type = LBW_N_REPORT};
    msg.u.report = (struct lbw_node_report){
        .seq = 9,
        .age_ns = 1,
        .cpus = 4,
        .hardware = 1,
        .core_speed = 0.4,
        .capacity = 1.6,
        .hardware_s = 0.2,
        .workload_ratio = 1.5,
        .share_ratio = 0.6,
        .slow_ratio = 1,
        .tasks = 2,
        .model = "a processor",
    };
    put_node(folder, "node-report", &msg);
    msg = (struct lbw_node_msg){.type = LBW_N_JOB};
    msg.u.job = (struct lbw_job){
        .seq = 10,
        .ended = 1,
        .run_ns = 1000000000,
        .jobid = 7,
        .user = "lbtest",
        .account = "physics",
        .partition = "batch",
        .policy = "auto",
        .hosts = 1,
        .ranks = 4,
        .load_balance = 0.9,
        .balance_before = 0.4,
        .efficiency = 0.8,
        .saved_ns = -5,
        .nhost = 1,
        .host = {{"n1", 1, 1000, 4000, 9000, 100}},
    };
    put_node(folder, "node-job", &msg);
    msg = (struct lbw_node_msg){LBW_N_DECISIONS, {.decisions = {7, 0, 1000, "{\"jobid\":7}"}}};
    put_node(folder, "node-decisions", &msg);
    msg = (struct lbw_node_msg){.type = LBW_N_CLAIMS};
    msg.u.claims = (struct lbw_node_claims){"login1", 1000, {5, 0, 1, {{"n1", 2, 2}}}};
    put_node(folder, "node-claims", &msg);
    msg = (struct lbw_node_msg){LBW_N_ACK, {.acked_seq = UINT64_C(1) << 60}};
    put_node(folder, "node-ack", &msg);
    msg = (struct lbw_node_msg){.type = LBW_N_RANK};
    msg.u.hosts.n = 1;
    msg.u.hosts.host[0] = HOST;
    put_node(folder, "node-rank", &msg);
}

static void proof(const char *folder)
{
    struct lbw_node_proof p = {.host = "n1", .boot = "0f0f", .instance = 5};
    struct lbx_buf body;

    memset(p.nonce, 'n', sizeof(p.nonce));
    memset(p.session_key, 'k', sizeof(p.session_key));
    lbx_buf_init(&body, LBX_FRAME_CAP);
    if (lbw_node_proof_encode(&p, &body) != 0)
        fuzz_fail("proof");
    seeds_put(folder, "local", "proof", KIND_PROOF, &body);
}

void seeds_local(const char *folder)
{
    local(folder);
    node(folder);
    proof(folder);
}
