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
#include "tests/unit/suite.h"

#define NEVER_NS (LBX_NS_PER_S / 5)
#define MOST_QUESTIONS 41 /* in NEVER_NS, with a pause of 5 ms after each */

enum manner {
    NOBODY,
    SILENT,
    REFUSES,
    KNOWS,
    TAKEN,
    FORGETS,
    LATE,
    GROWS,
    NEVER
}; /* TAKEN: all hosts are claimed; FORGETS: says nothing to a claim; LATE: Slurm's idle hosts are not known at first;
      GROWS: one of them is not at first; NEVER: they are never known, and it says so at once */

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

static void make_answer(int i)
{
    memset(&msg, 0, sizeof(msg));
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

/* A new job: the question for idle hosts, and a second one where the first answer was not enough. */
static const struct {
    enum manner manner;
    size_t idle; /* hosts */
    int64_t age_ns;
    double claimed; /* on the last one: tasks, with all its CPUs */
    uint32_t ntasks;
    enum lbw_placement what;
    int questions; /* for idle hosts; -1: one or more, and few enough for lbd to serve others, too */
} fresh_cases[] = {
    {KNOWS, 4, 0, 0, 4, LBW_PLACE_OURS, 1},
    {KNOWS, 4, LBX_NS_PER_S, 0, 4, LBW_PLACE_OURS, 1}, /* old, and good enough */
    {KNOWS, 4, 0, 2, 13, LBW_PLACE_NO_ROOM,
     -1}, /* Slurm has just said so, but jobs may be ending */
    {GROWS, 4, LBX_NS_PER_S, 0, 13, LBW_PLACE_OURS, 2},
    {KNOWS, 0, 0, 0, 4, LBW_PLACE_NO_IDLE_HOSTS, -1},
    {NEVER, 0, 0, 0, 4, LBW_PLACE_NO_IDLE_HOSTS, -1},
    {LATE, 4, 0, 0, 4, LBW_PLACE_OURS, 2},
    {FORGETS, 4, 0, 0, 4, LBW_PLACE_OURS, 1},     /* nobody else is on the way there */
    {FORGETS, 4, 0, 2, 4, LBW_PLACE_DEADLINE, 1}, /* somebody is */
    {TAKEN, 4, 0, 0, 4, LBW_PLACE_NO_ROOM, 1},
    {SILENT, 0, 0, 0, 4, LBW_PLACE_DEADLINE, 1},
    {NOBODY, 0, 0, 0, 4, LBW_PLACE_NO_LBD, 0},
};

static void make_idle(int i, int question)
{
    memset(&msg, 0, sizeof(msg));
    if (fresh_cases[i].manner == NEVER || (fresh_cases[i].manner == LATE && question == 0)) {
        msg.type = LBW_L_ERROR;
        strcpy(msg.u.text.text, LBW_LOCAL_NO_IDLE);
        return;
    }
    msg.type = LBW_L_IDLE_HOSTS;
    msg.u.idle.n = fresh_cases[i].idle - (fresh_cases[i].manner == GROWS && question == 0);
    msg.u.idle.age_ns = fresh_cases[i].age_ns;
    for (size_t k = 0; k < msg.u.idle.n; k++) {
        struct lbw_local_idle_host *h = &msg.u.idle.host[k];

        snprintf(h->host, sizeof(h->host), "n%zu", k + 1);
        h->cpus = 4;
        h->core_speed = h->capacity = 1;
        if (k == 3 && fresh_cases[i].claimed > 0) {
            h->claimed = fresh_cases[i].claimed;
            h->held_cpus = 4;
        }
    }
}

static enum lbw_local_type read_question(int fd)
{
    struct lbx_channel channel;
    struct lbx_buf in;
    const uint8_t *body;
    size_t n;
    int rc;

    lbx_channel_init_plain(&channel);
    lbx_buf_init(&in, 2 * LBX_FRAME_CAP);
    while ((rc = lbx_frame_next(&channel, &in, &body, &n)) == 0)
        if (lbx_sock_wait(fd, POLLIN, INT64_MAX) < 0 || lbx_sock_fill(fd, &in) < 0)
            _exit(1);
    if (rc < 0 || lbw_local_decode(body, n, &msg) < 0)
        _exit(1);
    lbx_buf_fini(&in);
    return msg.type;
}

static void answer(int fd)
{
    struct lbx_channel channel;
    struct lbx_buf body, out;

    lbx_channel_init_plain(&channel);
    lbx_buf_init(&body, LBX_FRAME_CAP);
    lbx_buf_init(&out, 2 * LBX_FRAME_CAP);
    if (lbw_local_encode(&msg, &body) < 0 ||
        lbx_frame_append(&channel, &out, lbx_buf_data(&body), lbx_buf_len(&body)) < 0 ||
        lbx_sock_flush(fd, &out) < 0)
        _exit(1);
    lbx_buf_fini(&body);
    lbx_buf_fini(&out);
}

static int accept_one(int listener)
{
    int fd;

    do
        fd = lbx_sock_wait(listener, POLLIN, INT64_MAX) > 0 ? accept(listener, NULL, NULL) : -1;
    while (fd < 0);
    return fd;
}

static void claim_answer(bool taken)
{
    memset(&msg, 0, sizeof(msg));
    msg.type = taken ? LBW_L_CLAIMS : LBW_L_OK;
    for (size_t k = 0; taken && k < 4; k++) {
        msg.u.claims.claim[k].cpus = LBW_LOCAL_CLAIM_MOST;
        snprintf(msg.u.claims.claim[k].host, LBW_LOCAL_HOST_MAX, "n%zu", k + 1);
        msg.u.claims.n++;
    }
}

/* The first question is for hosts, what comes then are claims. */
static void serve(int listener, int i)
{
    for (int question = 0;; question++) {
        int fd = accept_one(listener);

        if (cases[i].manner == SILENT || (cases[i].manner == FORGETS && question > 0))
            for (;;)
                pause();
        read_question(fd);
        if (question > 0)
            claim_answer(cases[i].manner == TAKEN);
        else
            make_answer(i);
        answer(fd);
    }
}

/* How often it was asked for idle hosts goes into counter, and of a claim that comes without a wait that it came. */
static void serve_fresh(int listener, int i, int counter)
{
    for (int questions = 0;;) {
        int fd = accept_one(listener);
        enum lbw_local_type asked;

        if (fresh_cases[i].manner == SILENT)
            for (;;)
                pause();
        asked = read_question(fd);
        if (write(counter, asked == LBW_L_IDLE ? "i" : "c", 1) != 1)
            _exit(1);
        if (asked == LBW_L_IDLE)
            make_idle(i, questions++);
        else if (fresh_cases[i].manner == FORGETS)
            continue;
        else
            claim_answer(fresh_cases[i].manner == TAKEN);
        answer(fd);
    }
}

static pid_t start_server(char path[128], int i, enum manner manner, int *listener, int counter)
{
    pid_t pid;

    snprintf(path, 128, "%s/%d.sock", folder, i);
    if (manner == NOBODY)
        return -1;
    *listener = lbx_sock_listen_unix(path, 0666);
    ck_assert_int_ge(*listener, 0);
    pid = fork();
    if (pid == 0 && counter >= 0)
        serve_fresh(*listener, i, counter);
    if (pid == 0)
        serve(*listener, i);
    ck_assert_int_gt(pid, 0);
    return pid;
}

static void end_server(const char *path, pid_t pid, int listener)
{
    if (pid <= 0)
        return;
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    close(listener);
    unlink(path);
}

/* Until then lbs_place gives up; nothing is measured. */
static int64_t patience_ns(enum manner manner)
{
    return manner == SILENT    ? LBX_NS_PER_S / 50
           : manner == FORGETS ? LBX_NS_PER_S
           : manner == NEVER   ? NEVER_NS
                               : 20 * LBX_NS_PER_S;
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
    pid_t pid = start_server(path, _i, cases[_i].manner, &listener, -1);
    size_t n;

    p.deadline_ns = lbx_clock_mono_ns() + patience_ns(cases[_i].manner);
    n = lbs_place(&p, &lbd, slot, &what, &why);
    ck_assert_str_eq(lbw_placement_name(what), lbw_placement_name(cases[_i].what));
    ck_assert_int_eq(n > 0, what == LBW_PLACE_OURS);
    ck_assert(what == LBW_PLACE_OURS || why);
    end_server(path, pid, listener);
}
END_TEST

START_TEST(test_fresh)
{
    char path[128], seen[8] = "";
    struct lbs_command c = {.ntasks = fresh_cases[_i].ntasks};
    int idle = -1, listener = -1, counter[2];
    struct lbs_place p = {.command = &c, .choose_hosts = true, .idle = &idle};
    struct lbs_lbd lbd = {.socket = path};
    enum lbw_placement what = LBW_PLACEMENTS;
    const char *why = NULL;
    int questions = 0;
    pid_t pid;
    size_t n;

    ck_assert_int_eq(pipe(counter), 0);
    pid = start_server(path, _i, fresh_cases[_i].manner, &listener, counter[1]);
    close(counter[1]);
    p.deadline_ns = lbx_clock_mono_ns() + patience_ns(fresh_cases[_i].manner);
    if (_i % 2) /* asked before or on the way: the same */
        idle = lbs_place_begin(&p, &lbd);
    n = lbs_place(&p, &lbd, slot, &what, &why);
    ck_assert_int_eq(idle, -1); /* and closed */
    if (fresh_cases[_i].manner != NEVER ||
        what != LBW_PLACE_DEADLINE) /* its last answer may be late */
        ck_assert_str_eq(lbw_placement_name(what), lbw_placement_name(fresh_cases[_i].what));
    ck_assert_int_eq(n > 0, what == LBW_PLACE_OURS);
    ck_assert(what == LBW_PLACE_OURS || why);
    if (fresh_cases[_i].manner == FORGETS && n > 0) /* it is told all the same, without a wait */
        while (!strstr(seen, "cc"))
            ck_assert_int_eq(read(counter[0], seen + strlen(seen), 1), 1);
    end_server(path, pid, listener);
    while (fresh_cases[_i].manner != FORGETS && read(counter[0], seen, 1) == 1)
        questions += seen[0] == 'i';
    ck_assert_int_le(questions, MOST_QUESTIONS);
    if (fresh_cases[_i].questions < 0)
        ck_assert_int_ge(questions, 1);
    else if (fresh_cases[_i].manner != FORGETS && fresh_cases[_i].manner != SILENT)
        ck_assert_int_eq(questions, fresh_cases[_i].questions);
    close(counter[0]);
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
    TCase *t = suite_case("all");
    int failed;

    if (!mkdtemp(folder))
        return 99;
    tcase_add_loop_test(t, test_why, 0, sizeof(cases) / sizeof(cases[0]));
    tcase_add_loop_test(t, test_fresh, 0, sizeof(fresh_cases) / sizeof(fresh_cases[0]));
    tcase_add_test(t, test_names);
    failed = suite_run("slurm_plugin/why", t);
    rmdir(folder);
    return failed;
}
