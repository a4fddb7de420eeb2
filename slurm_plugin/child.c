/* SPDX-License-Identifier: BSD-3-Clause */
/* From slurmstepd's child to a process of the user's. */
#include "slurm_plugin/child.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FD_LIMIT 65536           /* without close_range: the most descriptors that are looked at */
#define GROUPS_CHECKED_MAX 65536 /* the kernel's own limit */

/*
 * The calls of the kernel, and not those of libc, which would ask all threads to change with this
 * one, and take locks that another thread may have held when this process was forked.
 */
#ifdef SYS_setresuid32
#define CALL_SETRESUID SYS_setresuid32
#define CALL_SETRESGID SYS_setresgid32
#define CALL_SETGROUPS SYS_setgroups32
#else
#define CALL_SETRESUID SYS_setresuid
#define CALL_SETRESGID SYS_setresgid
#define CALL_SETGROUPS SYS_setgroups
#endif
#define UNCHANGED (-1L)

static bool is_member(const struct lbs_user *user, gid_t gid)
{
    for (size_t i = 0; i < user->ngroups; i++)
        if (user->groups[i] == gid)
            return true;
    return gid == user->gid;
}

static bool is_proved(const struct lbs_user *user)
{
    uid_t ruid, euid, suid;
    gid_t rgid, egid, sgid, group[GROUPS_CHECKED_MAX];
    int n;

    if (getresuid(&ruid, &euid, &suid) < 0 || getresgid(&rgid, &egid, &sgid) < 0)
        return false;
    if (ruid != user->uid || euid != user->uid || suid != user->uid)
        return false;
    if (rgid != user->gid || egid != user->gid || sgid != user->gid)
        return false;
    n = getgroups(GROUPS_CHECKED_MAX, group);
    if (n < 0 || (size_t)n != user->ngroups)
        return false;
    for (int i = 0; i < n; i++)
        if (!is_member(user, group[i]))
            return false;
    return user->uid == 0 || syscall(CALL_SETRESUID, UNCHANGED, 0L, UNCHANGED) < 0;
}

bool lbs_child_regain_root(void)
{
    return geteuid() == 0 || syscall(CALL_SETRESUID, UNCHANGED, 0L, UNCHANGED) == 0;
}

bool lbs_child_become(const struct lbs_user *user)
{
    if (!lbs_child_regain_root())
        return is_proved(user); /* a slurmd that runs as the user */
    if (syscall(CALL_SETGROUPS, user->ngroups, user->groups) < 0 ||
        syscall(CALL_SETRESGID, (unsigned long)user->gid, (unsigned long)user->gid,
                (unsigned long)user->gid) < 0 ||
        syscall(CALL_SETRESUID, (unsigned long)user->uid, (unsigned long)user->uid,
                (unsigned long)user->uid) < 0)
        return false;
    return is_proved(user);
}

static void reset_signals(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, &plain, NULL); /* KILL and STOP refuse, and need nothing */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_all(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
        return;
#endif
    for (int fd = 3; fd < FD_LIMIT; fd++)
        close(fd);
}

static bool standard_to_null(void)
{
    int fd = open("/dev/null", O_RDWR);

    if (fd < 0)
        return false;
    for (int i = 0; i < 3; i++)
        if (fd != i && dup2(fd, i) < 0)
            return false;
    return true;
}

/* slurmstepd protects itself from the out-of-memory killer; a process of the user's must not be. */
static void be_killable(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, "0", 1) < 0) {
        /* nothing depends on it */
    }
    close(fd);
}

bool lbs_child_detach(void)
{
    struct rlimit no_core = {0, 0};

    reset_signals();
    setsid();
    umask(S_IRWXG | S_IRWXO);
    be_killable();
    setrlimit(RLIMIT_CORE, &no_core);
    if (chdir("/") < 0 || !standard_to_null())
        return false;
    close_all();
    return true;
}

bool lbs_child_bind(pid_t parent, bool by_main_thread)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return false;
    if (by_main_thread && prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
        return false;
    return getppid() == parent; /* else it died before the line above */
}
