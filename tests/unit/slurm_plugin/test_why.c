/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of the wish for a layout: each reason against an lbd that gives cause for it. */
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/frame.h"
#include "common/sock.h"
#include "slurm_plugin/place.h"

enum manner {
    NOBODY,
    SILENT,
    REFUSES,
    KNOWS,
    TAKEN,
    FORGETS
}; /* TAKEN: all hosts are claimed; FORGETS: says nothing to a claim */

static char folder[] = "/tmp/lb-plugin-why-XXXXXX";
static struct lbw_local_msg msg;
static struct lbs_slot slot[LBS_SLOTS_MAX];

static const struct {
    enum manner manner;
    const char *refusal;
    size_t known; /* of the job's four hosts */
    double last;  /* speed of the fourth, the others have 1 */
    uint32_t ntasks;
    const char *conflict, *cpus;
    enum lbw_placement what;
} cases[] = {
    {KNOWS, NULL, 4, .25, 8, NULL, "4(x4)", LBW_PLACE_OURS},
    {TAKEN, NULL, 4, .25, 8, NULL, "4(x4)", LBW_PLACE_NO_ROOM},
    {FORGETS, NULL, 4, .25, 8, NULL, "4(x4)", LBW_PLACE_DEADLINE},
    {KNOWS, NULL, 4, 1, 8, NULL, "4(x4)", LBW_PLACE_AS_GOOD},
    {KNOWS, NULL, 4, .25, 4, NULL, "4(x4)", LBW_PLACE_AS_GOOD}, /* one a host in any case */
    {KNOWS, NULL, 3, .25, 8, NULL, "4(x4)", LBW_PLACE_UNKNOWN_HOSTS},
    {KNOWS, NULL, 4, .25, 17, NULL, "4(x4)", LBW_PLACE_NO_ROOM},
    {KNOWS, NULL, 4, .25, 2000000, NULL, "4(x4)", LBW_PLACE_TOO_LARGE},
    {KNOWS, NULL, 4, .25, 8, NULL, "4(y4)", LBW_PLACE_NOT_UNDERSTOOD},
    {KNOWS, NULL, 4, .25, 8, NULL, NULL, LBW_PLACE_NOT_UNDERSTOOD},
    {KNOWS, NULL, 4, .25, 8, "-w", "4(x4)", LBW_PLACE_NOT_ASKED},
    {KNOWS, NULL, 4, .25, 0, NULL, "4(x4)", LBW_PLACE_NOT_ASKED},
    {REFUSES, LBW_LOCAL_NO_RANKING, 0, 1, 8, NULL, "4(x4)", LBW_PLACE_NO_RANKING},
    {REFUSES, LBW_LOCAL_STALE_RANKING, 0, 1, 8, NULL, "4(x4)", LBW_PLACE_STALE_RANKING},
    {REFUSES, "something else", 0, 1, 8, NULL, "4(x4)", LBW_PLACE_NO_LBD},
    {SILENT, NULL, 0, 1, 8, NULL, "4(x4)", LBW_PLACE_DEADLINE},
    {NOBODY, NULL, 0, 1, 8, NULL, "4(x4)", LBW_PLACE_NO_LBD},
};

static void make_answer(int i, int question)
{
    memset(&msg, 0, sizeof(msg));
    if (question > 0) { /* a claim */
        msg.type = cases[i].manner == TAKEN ? LBW_L_CLAIMS : LBW_L_OK;
        for (size_t k = 0; cases[i].manner == TAKEN && k < 4; k++) {
            msg.u.claims.claim[k].cpus = LBW_LOCAL_CLAIM_MOST;
            snprintf(msg.u.claims.claim[k].host, LBW_LOCAL_HOST_MAX, "n%zu", k + 1);
            msg.u.claims.n++;
        }
        return;
    }
    if (cases[i].manner == REFUSES) {
        msg.type = LBW_L_ERROR;
        strcpy(msg.u.text.text, cases[i].refusal);
        return;
    }
    msg.type = LBW_L_HOSTS;
    msg.u.hosts.n = cases[i].known;
    for (size_t k = 0; k < cases[i].known; k++) {
        struct lbw_local_host *h = &msg.u.hosts.host[k];

        snprintf(h->host, sizeof(h->host), "n%zu", k + 1);
        h->core_speed = h->capacity = h->hardware = h->index = k == 3 ? cases[i].last : 1;
    }
}

static void answer(int fd, int i, int question)
{
    struct lbx_channel channel;
    struct lbx_buf body, out, in;

    lbx_channel_init_plain(&channel);
    lbx_buf_init(&body, LBX_FRAME_CAP);
    lbx_buf_init(&out, 2 * LBX_FRAME_CAP);
    lbx_buf_init(&in, 2 * LBX_FRAME_CAP);
    make_answer(i, question);
    if (lbx_sock_wait(fd, POLLIN, INT64_MAX) < 0 || lbx_sock_fill(fd, &in) < 0 ||
        lbw_local_encode(&msg, &body) < 0 ||
        lbx_frame_append(&channel, &out, lbx_buf_data(&body), lbx_buf_len(&body)) < 0 ||
        lbx_sock_flush(fd, &out) < 0)
        _exit(1);
}

/* The first question is for hosts, what comes then are claims. */
static void serve(int listener, int i)
{
    for (int question = 0;; question++) {
        int fd;

        do
            fd = lbx_sock_wait(listener, POLLIN, INT64_MAX) > 0 ? accept(listener, NULL, NULL) : -1;
        while (fd < 0);
        if (cases[i].manner == SILENT || (cases[i].manner == FORGETS && question > 0))
            for (;;)
                pause();
        answer(fd, i, question);
    }
}

START_TEST(test_why)
{
    char path[128];
    struct lbs_command c = {.ntasks = cases[_i].ntasks, .conflict = cases[_i].conflict};
    struct lbs_place p = {.command = &c, .job_hosts = "n1,n2,n3,n4", .job_cpus = cases[_i].cpus};
    struct lbs_lbd lbd = {.socket = path};
    enum lbw_placement what = LBW_PLACEMENTS;
    const char *why = NULL;
    int listener = -1;
    pid_t pid = -1;
    size_t n;

    snprintf(path, sizeof(path), "%s/%d.sock", folder, _i);
    if (cases[_i].manner != NOBODY) {
        listener = lbx_sock_listen_unix(path, 0666);
        ck_assert_int_ge(listener, 0);
        pid = fork();
        if (pid == 0)
            serve(listener, _i);
        ck_assert_int_gt(pid, 0);
    }
    p.deadline_ns = lbx_clock_mono_ns() + (cases[_i].manner == SILENT    ? LBX_NS_PER_S / 50
                                           : cases[_i].manner == FORGETS ? LBX_NS_PER_S
                                                                         : 20 * LBX_NS_PER_S);
    n = lbs_place(&p, &lbd, slot, &what, &why);
    ck_assert_str_eq(lbw_placement_name(what), lbw_placement_name(cases[_i].what));
    ck_assert_int_eq(n > 0, what == LBW_PLACE_OURS);
    ck_assert(what == LBW_PLACE_OURS || why);
    if (pid > 0) {
        kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        close(listener);
        unlink(path);
    }
}
END_TEST

START_TEST(test_names)
{
    for (int i = 0; i < LBW_PLACEMENTS; i++)
        ck_assert_int_eq(lbw_placement_of(lbw_placement_name((enum lbw_placement)i)), i);
    ck_assert_int_eq(lbw_placement_of(NULL), LBW_PLACE_NOT_ASKED);
    ck_assert_int_eq(lbw_placement_of("OURS\n"), LBW_PLACE_NOT_ASKED);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("slurm_plugin/why");
    TCase *t = tcase_create("all");
    SRunner *r;
    int failed;

    if (!mkdtemp(folder))
        return 99;
    suite_add_tcase(s, t);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, test_why, 0, sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(t, test_names);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    rmdir(folder);
    return failed != 0;
}
