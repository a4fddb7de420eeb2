/* SPDX-License-Identifier: BSD-3-Clause */
/* A ranking grows old because the controller is away: lbctl sees it marked after 60 s, and jobs get none after 300 s. */
#include <jansson.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/frame.h"
#include "common/sock.h"
#include "lbd/commands.h"
#include "lbd/local_server.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

#define NEVER INT64_MAX

static struct lbd_ranking ranking;
static struct lbw_local_msg msg;
static uv_loop_t loop;

static const struct {
    int64_t age_s;
    bool marked;
    const char *refusal; /* NULL: hosts are named */
} cases[] = {
    {0, false, NULL},
    {50, false, NULL},
    {61, true, NULL},
    {290, true, NULL},
    {301, true, LBW_LOCAL_STALE_RANKING},
    {NEVER, true, LBW_LOCAL_NO_RANKING},
};

static void make_ranking(int64_t age_s)
{
    struct lbw_local_hosts part = {.n = 1};

    memset(&ranking, 0, sizeof(ranking));
    if (age_s == NEVER)
        return;
    strcpy(part.host[0].host, "n1");
    part.host[0].core_speed = part.host[0].capacity = part.host[0].hardware = 1;
    part.host[0].index = 1;
    ck_assert_int_eq(lbd_ranking_part(&ranking, &part, lbx_clock_mono_ns() - age_s * LBX_NS_PER_S),
                     0);
}

/* What lbd answers to this: in msg. */
static void ask(const char *path, enum lbw_local_type type, const char *text)
{
    int fd = lbx_sock_connect_unix(path, lbx_clock_mono_ns() + LBX_NS_PER_S);
    struct lbx_channel channel;
    struct lbx_buf body, wire;
    const uint8_t *at;
    size_t n;

    ck_assert_int_ge(fd, 0);
    lbx_channel_init_plain(&channel);
    lbx_buf_init(&body, LBX_FRAME_CAP);
    lbx_buf_init(&wire, 2 * LBX_FRAME_CAP);
    memset(&msg, 0, sizeof(msg));
    msg.type = type;
    strcpy(msg.u.text.text, text);
    ck_assert_int_eq(lbw_local_encode(&msg, &body), 0);
    ck_assert_int_eq(lbx_frame_append(&channel, &wire, lbx_buf_data(&body), lbx_buf_len(&body)), 0);
    ck_assert_int_ge(lbx_sock_flush(fd, &wire), 0);
    while (lbx_frame_next(&channel, &wire, &at, &n) == 0) {
        uv_run(&loop, UV_RUN_NOWAIT);
        if (lbx_sock_wait(fd, POLLIN, lbx_clock_mono_ns() + LBX_NS_PER_MS) > 0)
            ck_assert_int_ge(lbx_sock_fill(fd, &wire), 0);
    }
    ck_assert_int_eq(lbw_local_decode(at, n, &msg), 0);
    lbx_buf_fini(&body);
    lbx_buf_fini(&wire);
    close(fd);
}

START_TEST(test_jobs)
{
    static const struct {
        enum lbw_local_type type;
        const char *text;
    } question[] = {{LBW_L_RANK, ""}, {LBW_L_PLACE, "n1,n2"}};
    struct lbd_local_sources sources = {.ranking = &ranking};
    struct lbd_local_server *server;
    char folder[64], path[96];
    struct lbx_error err;

    make_folder(folder);
    snprintf(path, sizeof(path), "%s/lbd.sock", folder);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(lbd_local_server_create(&loop, path, &sources, &err, &server), 0);
    make_ranking(cases[_i].age_s);
    for (size_t k = 0; k < sizeof(question) / sizeof(question[0]); k++) {
        ask(path, question[k].type, question[k].text);
        ck_assert_int_eq(msg.type, cases[_i].refusal ? LBW_L_ERROR : LBW_L_HOSTS);
        if (cases[_i].refusal)
            ck_assert_str_eq(msg.u.text.text, cases[_i].refusal);
        else
            ck_assert_uint_eq(msg.u.hosts.n, 1);
    }
    lbd_local_server_stop(server);
    uv_run(&loop, UV_RUN_DEFAULT);
    lbd_local_server_destroy(server);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    lbd_ranking_fini(&ranking);
    remove_folder(folder);
}
END_TEST

START_TEST(test_people)
{
    struct lbd_view view = {.ranking = &ranking};
    struct lbx_error err;
    json_t *o;
    char *text;

    make_ranking(cases[_i].age_s);
    text = lbd_command(&view, 1, "rank", &err);
    ck_assert_ptr_nonnull(text);
    o = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(json_is_true(json_object_get(o, "stale")), cases[_i].marked);
    ck_assert_uint_eq(json_array_size(json_object_get(o, "hosts")), cases[_i].refusal ? 0 : 1);
    json_decref(o);
    free(text);
    lbd_ranking_fini(&ranking);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("stale");

    tcase_add_loop_test(tc, test_jobs, 0, sizeof(cases) / sizeof(cases[0]));
    tcase_add_loop_test(tc, test_people, 0, sizeof(cases) / sizeof(cases[0]));
    return suite_run("stale", tc);
}
