/* SPDX-License-Identifier: BSD-3-Clause */
/* The real lb-balancer, spoken to over its real sockets: who gets in, what is refused, what a pass looks like. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/sock.h"
#include "tests/process/fake_rank.h"
#include "tests/unit/suite.h"

#define SILENT_NS (11 * LBX_NS_PER_S) /* UNHEARD_NS of lbd/balancer/job.c, and some beats */

static struct lbw_rank_msg msg; /* large */

/* Reads until the balancer closes; returns how many bytes came.  Fails when it does not close within 10 s. */
static size_t read_to_end(int fd)
{
    struct lbx_buf in;
    size_t sum = 0;
    ssize_t n = 0;

    lbx_buf_init(&in, 1 << 20);
    while (n >= 0) {
        ck_assert_int_gt(lbx_sock_wait(fd, POLLIN, lbx_clock_mono_ns() + 10 * LBX_NS_PER_S), 0);
        n = lbx_sock_fill(fd, &in);
        sum += n > 0 ? (size_t)n : 0;
    }
    lbx_buf_fini(&in);
    return sum;
}

static void open_loop(struct fake_rank *r, int64_t n, int64_t first, int64_t last)
{
    memset(&msg, 0, sizeof(msg));
    msg.type = LBW_OPEN;
    msg.u.open = (struct lbw_open){.n = n, .owned_first = first, .owned_last = last};
    strcpy(msg.u.open.name, "rows");
    fake_rank_send(r, &msg);
}

static void report_dry(struct fake_rank *r, int64_t pass, int64_t executed)
{
    memset(&msg, 0, sizeof(msg));
    msg.type = LBW_REPORT;
    msg.u.report.pass = pass;
    msg.u.report.executed = executed;
    msg.u.report.flags = LBW_DRY;
    fake_rank_send(r, &msg);
}

static void ask(struct fake_rank *r)
{
    memset(&msg, 0, sizeof(msg));
    msg.type = LBW_ASK;
    fake_rank_send(r, &msg);
}

static void leave(struct fake_rank *r)
{
    memset(&msg, 0, sizeof(msg));
    msg.type = LBW_LEAVE;
    fake_rank_send(r, &msg);
    fake_rank_close(r);
}

START_TEST(two_ranks_run_a_pass_and_leave)
{
    struct fake_balancer b;
    struct fake_rank r[2];

    fake_balancer_start(&b, 2, "static");
    for (uint32_t i = 0; i < 2; i++)
        fake_rank_join(&r[i], &b.endpoint, i, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert(fake_rank_await(&r[i], LBW_START, &msg));
        ck_assert_uint_eq(msg.u.start.nranks, 2);
        ck_assert_str_eq(msg.u.start.policy, "static");
    }
    for (int i = 0; i < 2; i++)
        open_loop(&r[i], 10, 5 * i, 5 * i + 5);
    for (int i = 0; i < 2; i++)
        report_dry(&r[i], 0, 5);
    for (int i = 0; i < 2; i++) {
        ck_assert(fake_rank_await(&r[i], LBW_FINAL, &msg));
        ck_assert_uint_eq(msg.u.final.loop, 0);
        ck_assert_int_eq(msg.u.final.pass, 0);
    }
    for (int i = 0; i < 2; i++)
        leave(&r[i]);
    ck_assert_int_eq(fake_balancer_end(&b), 0);
}
END_TEST

static void close_loop(struct fake_rank *r, int64_t iterations, int64_t compute_ns)
{
    memset(&msg, 0, sizeof(msg));
    msg.type = LBW_CLOSE;
    msg.u.close = (struct lbw_close){.passes = 1,
                                     .iterations = iterations,
                                     .compute_ns = compute_ns,
                                     .cpu_ns = compute_ns,
                                     .library_cpu_ns = compute_ns / 100};
    fake_rank_send(r, &msg);
}

/* Only rank 0 is answered, when all others have told their totals and left; numbers that cannot be summed do no harm. */
START_TEST(a_summary_for_rank_0)
{
    struct fake_balancer b;
    struct fake_rank r[2];

    fake_balancer_start(&b, 2, "static,report");
    for (uint32_t i = 0; i < 2; i++)
        fake_rank_join(&r[i], &b.endpoint, i, 2);
    for (int i = 0; i < 2; i++)
        open_loop(&r[i], 10, 5 * i, 5 * i + 5);
    for (int i = 0; i < 2; i++)
        report_dry(&r[i], 0, 5);
    for (int i = 0; i < 2; i++)
        ck_assert(fake_rank_await(&r[i], LBW_FINAL, &msg));
    close_loop(&r[0], 2, INT64_C(2000000000));
    close_loop(&r[1], 8, INT64_MAX);
    ask(&r[1]);
    ask(&r[0]);
    leave(&r[1]);
    ck_assert(fake_rank_await(&r[0], LBW_SUMMARY, &msg));
    ck_assert_ptr_nonnull(strstr(msg.u.summary.text, "lb: policy static, 2 ranks: "));
    ck_assert_ptr_nonnull(strstr(msg.u.summary.text, " 20.0 %            2  "));
    ck_assert_ptr_nonnull(strstr(msg.u.summary.text, " 80.0 %            8  "));
    ck_assert_ptr_nonnull(strstr(msg.u.summary.text, "0.99 % of the ranks' CPU time"));
    leave(&r[0]);
    ck_assert_int_eq(fake_balancer_end(&b), 0);
}
END_TEST

START_TEST(nobody_joined_is_told)
{
    struct fake_balancer b;

    fake_balancer_start(&b, 2, "auto");
    ck_assert_int_eq(fake_balancer_end(&b), 3);
}
END_TEST

/* A stranger sees the 40 bytes of the first message and nothing else, whatever it sends. */
START_TEST(strangers_are_refused)
{
    static const size_t lengths[] = {1, 75, 76, 77, 500, 4000};
    struct fake_balancer b;
    struct fake_rank r;
    uint8_t garbage[4000];

    fake_balancer_start(&b, 1, "auto");
    memset(garbage, 'x', sizeof(garbage));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        int fd = fake_connect(&b.endpoint);

        ck_assert_int_eq(write(fd, garbage, lengths[i]), (ssize_t)lengths[i]);
        ck_assert_uint_le(read_to_end(fd),
                          40); /* those too short to be judged are closed after 2 s */
        close(fd);
    }
    b.endpoint.key[31] ^= 1;
    ck_assert(!fake_rank_prove(&r, &b.endpoint, 0));
    fake_rank_close(&r);
    b.endpoint.key[31] ^= 1;
    b.endpoint.context[0] ^= 1; /* another job's */
    ck_assert(!fake_rank_prove(&r, &b.endpoint, 0));
    fake_rank_close(&r);
    b.endpoint.context[0] ^= 1;
    fake_rank_join(&r, &b.endpoint, 0, 1);
    ck_assert(fake_rank_await(&r, LBW_START, &msg));
    leave(&r);
    ck_assert_int_eq(fake_balancer_end(&b), 0);
}
END_TEST

#define CROWD 60

/* Ranks are more than the descriptors that a process has unless it asks for more. */
START_TEST(a_crowd_is_taken)
{
    struct fake_balancer b;
    struct fake_rank r[CROWD];
    struct rlimit was, few;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &was), 0);
    few = was;
    few.rlim_cur = CROWD / 2;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    fake_balancer_start(&b, CROWD, "auto");
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &was), 0);
    for (uint32_t i = 0; i < CROWD; i++)
        fake_rank_join(&r[i], &b.endpoint, i, CROWD);
    for (int i = 0; i < CROWD; i++)
        ck_assert(fake_rank_await(&r[i], LBW_START, &msg));
    for (int i = 0; i < CROWD; i++)
        leave(&r[i]);
    ck_assert_int_eq(fake_balancer_end(&b), 0);
}
END_TEST

/* A number that is taken, or that the job does not have, is refused without harm to the others. */
START_TEST(wrong_ranks_are_refused)
{
    struct fake_balancer b;
    struct fake_rank r[2], twin;

    fake_balancer_start(&b, 2, "auto");
    fake_rank_join(&r[0], &b.endpoint, 0, 2);
    if (fake_rank_prove(&twin, &b.endpoint, 0))
        ck_assert(!fake_rank_read(&twin, &msg));
    fake_rank_close(&twin);
    if (fake_rank_prove(&twin, &b.endpoint, 2))
        ck_assert(!fake_rank_read(&twin, &msg));
    fake_rank_close(&twin);
    fake_rank_join(&r[1], &b.endpoint, 1, 2);
    ck_assert(fake_rank_await(&r[0], LBW_START, &msg));
    leave(&r[0]);
    leave(&r[1]);
    ck_assert_int_eq(fake_balancer_end(&b), 0);
}
END_TEST

/* What a proved peer may still do wrong: its connection is closed, and the others are told to go on alone. */
START_TEST(garbage_in_frames_stops_balancing)
{
    static const struct {
        const char *name, *bytes;
        size_t n;
    } bad[] = {
        {"oversized", "\x00\x01\x00\x01", 4},
        {"empty", "\x00\x00\x00\x00", 4},
        {"wrong MAC",
         "\x00\x00\x00\x02\x92\x01"
         "0123456789abcdef",
         22},
    };
    struct fake_balancer b;
    struct fake_rank r[2];

    fake_balancer_start(&b, 2, "auto");
    for (uint32_t i = 0; i < 2; i++)
        fake_rank_join(&r[i], &b.endpoint, i, 2);
    fake_rank_send_raw(&r[0], bad[_i].bytes, bad[_i].n);
    ck_assert_msg(fake_rank_await(&r[1], LBW_STOP, &msg), "%s", bad[_i].name);
    ck_assert(!fake_rank_read(&r[1], &msg));
    for (int i = 0; i < 2; i++)
        fake_rank_close(&r[i]);
    ck_assert_int_eq(fake_balancer_end(&b), 0);
}
END_TEST

START_TEST(trailing_bytes_and_lies_stop_balancing)
{
    static const uint8_t trailing[] = {0x92, LBW_RANK_VERSION, LBW_LEAVE, 0x00};
    struct fake_balancer b;
    struct fake_rank r[2];

    fake_balancer_start(&b, 2, "auto");
    for (uint32_t i = 0; i < 2; i++)
        fake_rank_join(&r[i], &b.endpoint, i, 2);
    if (_i == 0) {
        ck_assert_int_eq(lbx_frame_append(&r[0].channel, &r[0].out, trailing, sizeof(trailing)), 0);
        ck_assert_int_eq(lbx_sock_flush(r[0].fd, &r[0].out), 0);
    } else if (_i == 1) {
        report_dry(&r[0], 0, 5); /* of a loop that is not open */
    } else {
        open_loop(&r[0], 10, 0, 5);
        open_loop(&r[1], 11, 5, 11); /* another loop under the same number */
    }
    for (int i = 0; i < 2; i++) {
        if (_i == 0 && i == 0)
            continue;
        ck_assert(fake_rank_await(&r[i], LBW_STOP, &msg));
    }
    for (int i = 0; i < 2; i++)
        fake_rank_close(&r[i]);
    ck_assert_int_eq(fake_balancer_end(&b), 0);
}
END_TEST

START_TEST(a_lost_rank_stops_balancing)
{
    struct fake_balancer b;
    struct fake_rank r[3];

    fake_balancer_start(&b, 3, "auto");
    for (uint32_t i = 0; i < 3; i++)
        fake_rank_join(&r[i], &b.endpoint, i, 3);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert(fake_rank_await(&r[i], LBW_START, &msg));
    fake_rank_close(&r[1]);
    ck_assert(fake_rank_await(&r[0], LBW_STOP, &msg));
    ck_assert(fake_rank_await(&r[2], LBW_STOP, &msg));
    fake_rank_close(&r[0]);
    fake_rank_close(&r[2]);
    ck_assert_int_eq(fake_balancer_end(&b), 0);
}
END_TEST

/*
 * Rank 1 has said that its pass is over and is then silent for longer than the balancer waits for a word, while what it says may
 * be lost on the way: the pass ends, but it hears of that only when it is heard again.  Planted: it is heard in between.
 */
static void leave_unheard(bool planted)
{
    struct fake_balancer b;
    struct fake_rank r[2];
    int64_t until_ns = lbx_clock_mono_ns() + SILENT_NS;
    ssize_t n = 0;

    fake_balancer_start(&b, 2, "static");
    for (uint32_t i = 0; i < 2; i++)
        fake_rank_join(&r[i], &b.endpoint, i, 2);
    for (int i = 0; i < 2; i++)
        ck_assert(fake_rank_await(&r[i], LBW_START, &msg));
    for (int i = 0; i < 2; i++)
        open_loop(&r[i], 10, 5 * i, 5 * i + 5);
    report_dry(&r[1], 0, 5);
    while (lbx_sock_wait(r[1].fd, POLLIN, until_ns) > 0)
        ck_assert_int_gt(n = lbx_sock_fill(r[1].fd, &r[1].in), 0);
    ck_assert_int_gt(n, 0); /* beats, as long as it counted as heard */
    if (planted)
        ask(&r[1]);
    report_dry(&r[0], 0, 5);
    ck_assert(fake_rank_await(&r[0], LBW_FINAL, &msg));
    ck_assert_msg(lbx_sock_wait(r[1].fd, POLLIN, lbx_clock_mono_ns() + LBX_NS_PER_S) == -ETIMEDOUT,
                  "an unheard rank hears");
    ask(&r[1]);
    ck_assert(fake_rank_await(&r[1], LBW_FINAL, &msg));
    for (int i = 0; i < 2; i++)
        leave(&r[i]);
    ck_assert_int_eq(fake_balancer_end(&b), 0);
}

START_TEST(an_unheard_rank_hears_nothing)
{
    leave_unheard(false);
}
END_TEST

START_TEST(planted)
{
    leave_unheard(true);
}
END_TEST

/* Beats that the rank hears until then, besides all else. */
static int beats_until(struct fake_rank *r, int64_t until_ns)
{
    const uint8_t *body;
    int beats = 0;
    size_t n;

    while (lbx_sock_wait(r->fd, POLLIN, until_ns) > 0)
        ck_assert_int_gt(lbx_sock_fill(r->fd, &r->in), 0);
    while (lbx_frame_next(&r->channel, &r->in, &body, &n) == 1) {
        ck_assert_int_eq(lbw_rank_decode(body, n, &msg), 0);
        beats += msg.type == LBW_BEAT;
    }
    return beats;
}

/* A rank that waits is to know within a second that the balancer lives; one that computes need not. */
START_TEST(who_waits_hears_more_beats)
{
    int64_t until_ns = lbx_clock_mono_ns() + 4 * LBX_NS_PER_S;
    struct fake_balancer b;
    struct fake_rank r[2];
    int waits, computes;

    fake_balancer_start(&b, 2, "static");
    for (uint32_t i = 0; i < 2; i++)
        fake_rank_join(&r[i], &b.endpoint, i, 2);
    for (int i = 0; i < 2; i++)
        open_loop(&r[i], 10, 5 * i, 5 * i + 5);
    report_dry(&r[1], 0, 5);
    waits = beats_until(&r[1], until_ns);
    computes = beats_until(&r[0], until_ns);
    ck_assert_msg(waits >= 5 && computes >= 1 && waits > computes, "beats: %d to who waits, %d",
                  waits, computes);
    report_dry(&r[0], 0, 5);
    for (int i = 0; i < 2; i++) {
        ck_assert(fake_rank_await(&r[i], LBW_FINAL, &msg));
        leave(&r[i]);
    }
    ck_assert_int_eq(fake_balancer_end(&b), 0);
}
END_TEST

static pid_t start_with_dir(const char *dir)
{
    const char *build = getenv("top_builddir");
    char path[4096];
    pid_t pid;

    snprintf(path, sizeof(path), "%s/lb-balancer", build ? build : ".");
    pid = fork();
    if (pid == 0) {
        execl(path, "lb-balancer", "--dir", dir, "--nranks", "4", (char *)NULL);
        _exit(127);
    }
    return pid;
}

static int wait_for(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Ask for the endpoint from a process that does not descend from the balancer's parent: one whose own starter is gone. */
static bool stranger_gets_endpoint(const char *path)
{
    char verdict = '?';
    int fd, p[2];
    pid_t pid;

    ck_assert_int_eq(pipe(p), 0);
    pid = fork();
    if (pid == 0) {
        pid_t starter = getpid();

        if (fork() > 0)
            _exit(0);
        while (getppid() == starter)
            lbx_clock_sleep_ns(LBX_NS_PER_MS);
        fd = lbx_sock_connect_unix(path, lbx_clock_mono_ns() + LBX_NS_PER_S);
        if (fd >= 0 && lbx_sock_wait(fd, POLLIN, lbx_clock_mono_ns() + 5 * LBX_NS_PER_S) > 0)
            verdict = read(fd, &verdict, 1) == 1 ? 'y' : 'n';
        (void)!write(p[1], &verdict, 1);
        _exit(0);
    }
    close(p[1]);
    ck_assert_int_eq(wait_for(pid), 0);
    ck_assert_int_eq(read(p[0], &verdict, 1), 1);
    close(p[0]);
    ck_assert_int_ne(verdict, '?');
    return verdict == 'y';
}

START_TEST(the_folder_is_private_and_goes_away)
{
    struct lbw_endpoint e;
    char dir[64], path[96];
    struct stat st;
    pid_t pid;
    int fd = -1;

    snprintf(dir, sizeof(dir), "/tmp/lb-test.%d.%ld", (int)getpid(), (long)lbx_clock_mono_ns());
    snprintf(path, sizeof(path), "%s/balancer.sock", dir);
    pid = start_with_dir(dir);
    for (int i = 0; i < 500 && fd < 0; i++) {
        fd = lbx_sock_connect_unix(path, lbx_clock_mono_ns() + LBX_NS_PER_S);
        if (fd < 0)
            lbx_clock_sleep_ns(10 * LBX_NS_PER_MS);
    }
    ck_assert_int_ge(fd, 0);
    fake_endpoint_read(fd, &e);
    ck_assert_uint_ne(e.port, 0);
    close(fd);
    ck_assert(!stranger_gets_endpoint(path));
    ck_assert_int_eq(stat(dir, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    ck_assert_int_eq(wait_for(start_with_dir(dir)), 1); /* a folder that is there is not used */
    ck_assert_int_eq(kill(pid, SIGTERM), 0);
    ck_assert_int_eq(wait_for(pid), 3);
    ck_assert_int_lt(stat(dir, &st), 0);
}
END_TEST

static TCase *planted_case(void)
{
    TCase *tc = suite_case("planted");

    tcase_add_test(tc, planted);
    return tc;
}

int main(void)
{
    TCase *tc = suite_case("all");

    tcase_add_test(tc, two_ranks_run_a_pass_and_leave);
    tcase_add_test(tc, a_summary_for_rank_0);
    tcase_add_test(tc, nobody_joined_is_told);
    tcase_add_test(tc, strangers_are_refused);
    tcase_add_test(tc, wrong_ranks_are_refused);
    tcase_add_test(tc, a_crowd_is_taken);
    tcase_add_loop_test(tc, garbage_in_frames_stops_balancing, 0, 3);
    tcase_add_loop_test(tc, trailing_bytes_and_lies_stop_balancing, 0, 3);
    tcase_add_test(tc, a_lost_rank_stops_balancing);
    tcase_add_test(tc, an_unheard_rank_hears_nothing);
    tcase_add_test(tc, who_waits_hears_more_beats);
    tcase_add_test(tc, the_folder_is_private_and_goes_away);
    return suite_run("lb-balancer", tc, getenv("LB_PROCESS_PLANTED") ? planted_case() : NULL);
}
