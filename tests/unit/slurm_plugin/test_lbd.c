/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin beside an lbd that answers, is silent, hangs up, lies, or writes garbage. */
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/frame.h"
#include "common/sock.h"
#include "slurm_plugin/plugin.h"
#include "tests/unit/slurm_plugin/spank_stub.h"
#include "wire/local.h"
#include "tests/unit/suite.h"

enum manner {
    ANSWERS,
    SILENT,
    HANGS_UP,
    GARBAGE,
    HUGE,
    OTHER_ANSWER,
    NO_HOST,
    NO_PLACEMENT,
    OPT_OUT,
    LIMITED,
    MANNERS
};

static char folder[] = "/tmp/lb-plugin-lbd-XXXXXX";
static char socket_path[64];
static struct lbw_local_msg msg;

/* The type of the request on fd, or -1. */
static int read_request(int fd)
{
    struct lbx_channel channel;
    struct lbx_buf in;
    const uint8_t *body;
    size_t n;
    int rc = 0, type = -1;

    lbx_channel_init_plain(&channel);
    lbx_buf_init(&in, 2 * LBX_FRAME_CAP);
    while (rc == 0) {
        if (lbx_sock_wait(fd, POLLIN, INT64_MAX) < 0 || lbx_sock_fill(fd, &in) < 0)
            break;
        rc = lbx_frame_next(&channel, &in, &body, &n);
    }
    if (rc == 1 && lbw_local_decode(body, n, &msg) == 0)
        type = (int)msg.type;
    lbx_buf_fini(&in);
    lbx_channel_fini(&channel);
    return type;
}

static void send_message(int fd)
{
    struct lbx_channel channel;
    struct lbx_buf body, out;

    lbx_channel_init_plain(&channel);
    lbx_buf_init(&body, LBX_FRAME_CAP);
    lbx_buf_init(&out, 2 * LBX_FRAME_CAP);
    if (lbw_local_encode(&msg, &body) == 0 &&
        lbx_frame_append(&channel, &out, lbx_buf_data(&body), lbx_buf_len(&body)) == 0 &&
        lbx_sock_flush(fd, &out) < 0)
        _exit(1);
    lbx_buf_fini(&out);
    lbx_buf_fini(&body);
    lbx_channel_fini(&channel);
}

static void send_answer(int fd, enum manner manner, int type)
{
    struct lbw_local_host host = {
        "n1", 0.75, 1.5, 1.25, 2, manner == OPT_OUT ? INT64_C(90000000000) : 0, 0};

    memset(&msg, 0, sizeof(msg));
    msg.type = LBW_L_OK;
    if (type == LBW_L_SCOPE && manner != OTHER_ANSWER) {
        msg.type = LBW_L_RULE;
        msg.u.rule.place = manner != NO_PLACEMENT;
        msg.u.rule.opt_out = manner == OPT_OUT;
        strcpy(msg.u.rule.policy, "liu,period=1s");
        if (manner == LIMITED)
            strcpy(msg.u.rule.allowed, "liu,none");
    }
    if (type == LBW_L_SELF && manner != OTHER_ANSWER) {
        msg.type = LBW_L_HOSTS;
        msg.u.hosts.n = manner == NO_HOST ? 0 : 1;
        msg.u.hosts.host[0] = host;
    }
    send_message(fd);
}

static void send_raw(int fd, const void *data, size_t n)
{
    if (send(fd, data, n, MSG_NOSIGNAL) < 0)
        _exit(1);
}

/* One letter into the pipe for each request: R(ule), S(elf), B(egin) or E(nd). */
static void serve(int listener, int pipe_fd, enum manner manner)
{
    static const uint8_t garbage[] = {0, 0, 0, 9, 0xc1, 0xff, 0x93, 1, 2, 3, 4, 5, 6};
    static const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 1};

    for (;;) {
        int fd = -1, type;
        char letter;

        while (fd < 0) {
            if (lbx_sock_wait(listener, POLLIN, INT64_MAX) > 0)
                fd = accept(listener, NULL, NULL);
        }
        type = read_request(fd);
        letter = type == LBW_L_SELF     ? 'S'
                 : type == LBW_L_SCOPE  ? strcmp(msg.u.scope.partition, "long") == 0 ? 'R' : '!'
                 : type != LBW_L_NOTICE ? '?'
                 : msg.u.notice.begin   ? 'B'
                                        : 'E';
        if (type == LBW_L_NOTICE &&
            (msg.u.notice.jobid != 7 || msg.u.notice.stepid != 1 || msg.u.notice.ntasks != 2))
            letter = '!';
        if (write(pipe_fd, &letter, 1) != 1)
            _exit(1);
        if (manner == SILENT)
            continue;
        if (type == LBW_L_NOTICE) { /* no answer is waited for */
            close(fd);
            continue;
        }
        if (manner == GARBAGE)
            send_raw(fd, garbage, sizeof(garbage));
        else if (manner == HUGE)
            send_raw(fd, huge, sizeof(huge));
        else if (manner != HANGS_UP)
            send_answer(fd, manner, type);
        close(fd);
    }
}

static const struct {
    const char *asked;    /* SLURM_LB; NULL: nothing */
    const char *requests; /* until the tasks have ended */
    const char *speed;    /* NULL: not told */
    const char *policy;   /* NULL: not told */
} expected[MANNERS] = {
    [ANSWERS] = {"report", "RSBE", "0.75:1.5:1.25", "liu,period=1s,report"},
    [SILENT] = {"auto", "RBE", NULL, "auto"}, /* of tasks it is told without an answer */
    [HANGS_UP] = {"auto", "RBE", NULL, "auto"},
    [GARBAGE] = {"auto", "RBE", NULL, "auto"},
    [HUGE] = {"auto", "RBE", NULL, "auto"},
    [OTHER_ANSWER] = {"auto", "RSBE", NULL, "auto"},
    [NO_HOST] = {"auto", "RSBE", NULL, "auto"},
    [NO_PLACEMENT] = {"auto", "RBE", NULL, "auto"},
    [OPT_OUT] = {NULL, "RSBE", "0.75:1.5:1.25:90", "liu,period=1s"},
    [LIMITED] = {"auto", "RBE", NULL, "off"},
};

/* Until the server has written n letters; it is told more than it is asked. */
static void await_letters(int fd, char *got, size_t n)
{
    size_t have = 0;

    while (have < n) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        ssize_t more = poll(&p, 1, 20000) == 1 ? read(fd, got + have, n - have) : 0;

        ck_assert_msg(more > 0, "the server got only \"%s\"", got);
        have += (size_t)more;
        got[have] = '\0';
    }
}

static int run_hooks(int argc, char **argv)
{
    int rc = slurm_spank_user_init(NULL, argc, argv);

    rc |= slurm_spank_task_post_fork(NULL, argc, argv);
    rc |= slurm_spank_task_post_fork(NULL, argc, argv);
    rc |= slurm_spank_task_exit(NULL, argc, argv);
    rc |= slurm_spank_task_exit(NULL, argc, argv);
    return rc | slurm_spank_exit(NULL, argc, argv);
}

static void assert_told(const char *name, const char *value)
{
    if (value)
        ck_assert_pstr_eq(stub_getenv(name), value);
    else
        ck_assert_ptr_null(stub_getenv(name));
}

START_TEST(test_manner)
{
    char arg[2][128], *argv[] = {arg[0], arg[1]}, got[16] = "";
    int listener, fd[2], rc;
    pid_t pid;

    snprintf(socket_path, sizeof(socket_path), "%s/%d.sock", folder, _i);
    listener = lbx_sock_listen_unix(socket_path, 0666);
    ck_assert_int_ge(listener, 0);
    ck_assert_int_eq(pipe(fd), 0);
    pid = fork();
    if (pid == 0)
        serve(listener, fd[1], (enum manner)_i);
    ck_assert_int_gt(pid, 0);
    close(fd[1]);
    close(listener);
    stub_reset();
    stub.has_task_0 = false;
    stub_setenv("SLURM_JOB_PARTITION", "long");
    if (expected[_i].asked)
        stub_setenv("SLURM_LB", expected[_i].asked);
    snprintf(arg[0], sizeof(arg[0]), "socket=%s", socket_path);
    /* what is silent is waited for; what answers may be slow on a loaded machine */
    snprintf(arg[1], sizeof(arg[1]), "deadline_ms=%d", _i == SILENT ? 20 : 100);
    rc = slurm_spank_init(NULL, 2, argv);
    if (_i != SILENT) {
        lbs_plugin.config.deadline_ns *= 200;
        lbs_plugin.config.unasked_ns *= 200;
    }
    rc |= run_hooks(2, argv);
    ck_assert_int_eq(rc, ESPANK_SUCCESS);
    await_letters(fd[0], got, strlen(expected[_i].requests));
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_str_eq(got, expected[_i].requests);
    ck_assert_int_eq(read(fd[0], got, 1), 0); /* nothing more */
    assert_told("LB_HOST_SPEED", expected[_i].speed);
    assert_told("LB_POLICY", expected[_i].policy);
    ck_assert_str_eq(stub.log, "");
    close(fd[0]);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("all");
    char text[64];
    int failed;

    if (!mkdtemp(folder))
        return 99;
    tcase_add_loop_test(t, test_manner, 0, MANNERS);
    failed = suite_run("slurm_plugin/lbd", t);
    snprintf(text, sizeof(text), "rm -rf %s", folder);
    if (system(text) != 0)
        fprintf(stderr, "%s is left\n", folder);
    return failed;
}
