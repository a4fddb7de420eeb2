/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting and ending the step's balancer. */
#include "slurm_plugin/balancer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

#define ENV_MAX 32
#define ENV_TEXT_MAX 640
#define NUMBER_MAX 16
#define POLL_NS (LBX_NS_PER_MS / 2)
#define KILL_SHARE \
    3 /* of the time left, for killing and reaping; and as much again of that for tidying */

/* Made before the fork: nothing is formatted behind it. */
struct command {
    char policy[ENV_TEXT_MAX], socket[ENV_TEXT_MAX];
    char jobid[ENV_TEXT_MAX], stepid[ENV_TEXT_MAX], restarts[ENV_TEXT_MAX];
    char ntasks[NUMBER_MAX];
    char *argv[8];
    char *envp[ENV_MAX + 1];
};

static int make_dir_name(const struct lbs_balancer_job *job, char (*ret_dir)[LBS_DIR_MAX])
{
    uint64_t nonce;

    if (getrandom(&nonce, sizeof(nonce), GRND_NONBLOCK) != sizeof(nonce))
        return -EAGAIN;
    snprintf(*ret_dir, sizeof(*ret_dir), "/tmp/slurm-lb.%u.%" PRIu32 ".%" PRIu32 ".%016" PRIx64,
             (unsigned)job->user.uid, job->jobid, job->stepid, nonce);
    return 0;
}

static void make_command(const struct lbs_balancer_job *job, char *dir, struct command *c)
{
    static char path[] = "PATH=/usr/bin:/bin", argv0[] = "lb-balancer", opt_dir[] = "--dir",
                opt_nranks[] = "--nranks", opt_policy[] = "--policy";
    size_t n = 0;

    memset(c, 0, sizeof(*c));
    snprintf(c->policy, sizeof(c->policy), "LB_POLICY=%s", job->policy);
    snprintf(c->socket, sizeof(c->socket), "LBD_SOCKET=%s", job->socket);
    snprintf(c->jobid, sizeof(c->jobid), "SLURM_JOB_ID=%" PRIu32, job->jobid);
    snprintf(c->stepid, sizeof(c->stepid), "SLURM_STEP_ID=%" PRIu32, job->stepid);
    snprintf(c->restarts, sizeof(c->restarts), "SLURM_RESTART_COUNT=%" PRIu32, job->restarts);
    snprintf(c->ntasks, sizeof(c->ntasks), "%" PRIu32, job->ntasks);
    c->argv[0] = argv0;
    c->argv[1] = opt_dir;
    c->argv[2] = dir;
    c->argv[3] = opt_nranks;
    c->argv[4] = c->ntasks;
    c->argv[5] = opt_policy;
    c->argv[6] = strchr(c->policy, '=') + 1;
    c->envp[n++] = path;
    c->envp[n++] = c->policy;
    c->envp[n++] = c->socket;
    c->envp[n++] = c->jobid;
    c->envp[n++] = c->stepid;
    c->envp[n++] = c->restarts;
    for (size_t i = 0; job->env && job->env[i] && n < ENV_MAX; i++)
        c->envp[n++] = (char *)job->env[i];
}

/*
 * Fork with all signals blocked in the child, so that none runs a handler of slurmstepd's there; nothing changes for the
 * caller.
 */
static pid_t fork_quietly(void)
{
    sigset_t all, old;
    pid_t pid;

    sigfillset(&all);
    if (sigprocmask(SIG_SETMASK, &all, &old) < 0)
        return -1;
    pid = fork();
    if (pid != 0)
        sigprocmask(SIG_SETMASK, &old, NULL);
    return pid;
}

/* In the child: system calls only, see child.h. */
static void run(const struct lbs_balancer_job *job, const struct command *c, pid_t parent,
                bool by_main_thread)
{
    if (lbs_child_regain_root() || geteuid() == job->user.uid)
        if (lbs_child_detach() && lbs_child_become(&job->user) &&
            lbs_child_bind(parent, by_main_thread))
            execve(job->path, c->argv, c->envp);
    _exit(127);
}

int lbs_balancer_start(const struct lbs_balancer_job *job, struct lbs_balancer *ret,
                       struct lbx_error *err)
{
    struct lbs_balancer b = {.user = job->user};
    struct command command;
    pid_t parent = getpid();
    bool by_main_thread = syscall(SYS_gettid) == parent;
    int rc;

    /* The effective user, who is the step's user here, is the one to execute it. */
    if (faccessat(AT_FDCWD, job->path, X_OK, AT_EACCESS) < 0)
        return lbx_error_set(err, -errno, "%.200s: %s", job->path,
                             errno == ENOENT ? "there is no such program"
                                             : "it may not be executed");
    rc = make_dir_name(job, &b.dir);
    if (rc < 0)
        return lbx_error_set(err, rc, "no random number is to be had");
    make_command(job, b.dir, &command);
    b.pid = fork_quietly();
    if (b.pid == 0)
        run(job, &command, parent, by_main_thread);
    if (b.pid < 0)
        return lbx_error_set(err, -errno, "no process is to be had for it");
    *ret = b;
    return 0;
}

/*
 * Whether it is still our child: slurmstepd waits for any child, and may have reaped this one,
 * whose number then is a stranger's.  Hooks and that waiting are in one thread, so that the answer
 * holds until the hook returns. Returns 0 while it runs, 1 when it has ended and *ret_status was
 * set, -ECHILD.
 */
static int look(struct lbs_balancer *b, int *ret_status)
{
    pid_t pid;

    if (b->pid <= 0)
        return -ECHILD;
    do {
        pid = waitpid(b->pid, ret_status, WNOHANG);
    } while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return 0;
    b->pid = 0;
    return pid < 0 ? -ECHILD : 1;
}

static int wait_until(struct lbs_balancer *b, int64_t deadline_ns, int *ret_status)
{
    for (;;) {
        int status, rc = look(b, &status);

        if (rc == 1)
            *ret_status = status;
        if (rc != 0)
            return rc == 1 ? 0 : rc;
        if (lbx_clock_mono_ns() >= deadline_ns)
            return -ETIMEDOUT;
        lbx_clock_sleep_ns(POLL_NS);
    }
}

int lbs_balancer_ask(struct lbs_balancer *b, int64_t deadline_ns, int *ret_status)
{
    int status, rc = look(b, &status);

    if (rc == 1)
        *ret_status = status;
    if (rc != 0)
        return rc == 1 ? 0 : rc;
    kill(b->pid, SIGTERM);
    return wait_until(b, deadline_ns, ret_status);
}

/* As the user: root touches nothing by path in a user's folder. */
static void tidy(const struct lbs_balancer *b, int64_t deadline_ns)
{
    struct lbs_balancer tidier = {.user = b->user};
    char sock[LBS_DIR_MAX + 16];
    struct stat st;
    int status;

    if (b->dir[0] == '\0' || lstat(b->dir, &st) < 0)
        return;
    snprintf(sock, sizeof(sock), "%s/balancer.sock", b->dir);
    tidier.pid = fork_quietly();
    if (tidier.pid == 0) {
        if (lbs_child_become(&b->user)) {
            unlink(sock);
            rmdir(b->dir);
        }
        _exit(0);
    }
    if (tidier.pid > 0 && wait_until(&tidier, deadline_ns, &status) == -ETIMEDOUT) {
        /* slurmstepd ends now, and init reaps it */
    }
}

int lbs_balancer_end(struct lbs_balancer *b, int64_t deadline_ns, int *ret_status)
{
    int64_t reserve_ns = (deadline_ns - lbx_clock_mono_ns()) / KILL_SHARE;
    int rc = lbs_balancer_ask(b, deadline_ns - reserve_ns, ret_status), status;

    if (rc == -ETIMEDOUT) {
        kill(b->pid, SIGKILL);
        if (wait_until(b, deadline_ns - reserve_ns / KILL_SHARE, &status) == -ETIMEDOUT) {
            /* in the kernel's hands: slurmstepd ends now, and init reaps it */
        }
    }
    tidy(b, deadline_ns);
    b->dir[0] = '\0';
    return rc;
}
