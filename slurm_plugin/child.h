/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process forked off slurmstepd does before it runs anything of the user's.  slurmstepd has
 * threads: all of this is system calls and async-signal-safe functions, without allocation, locale,
 * or NSS.
 */
#ifndef LBS_CHILD_H
#define LBS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct lbs_user {
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* [ngroups], supplementary; borrowed until the child has them */
    size_t ngroups;
};

/*
 * In slurm_spank_user_init only the effective ids are the user's, and the real ones are still
 * root's: take root back, for what only root may do on the way to lbs_child_become.  Returns
 * whether it is root now.
 */
bool lbs_child_regain_root(void);

/*
 * Become the user for good: real, effective and saved ids and all groups, then proved by reading
 * them back and by failing to become root again.  Returns whether it holds; the caller must end
 * when it does not.
 */
bool lbs_child_become(const struct lbs_user *user) __attribute__((warn_unused_result));

/*
 * Leave all of slurmstepd behind: default signal actions, empty signal mask, a session of its own,
 * no descriptor but /dev/null as 0, 1 and 2, folder /, umask 077, no core file, killable when
 * memory is short.  Call as root, before lbs_child_become.  Returns whether it could.
 */
bool lbs_child_detach(void) __attribute__((warn_unused_result));

/*
 * No new privileges, and SIGTERM when slurmstepd dies.  Call after lbs_child_become, which clears both.
 * by_main_thread: that thread forked this process.  The kernel sends the signal when the forking thread ends; of another
 * thread than the first nobody knows that it lives as long as the step, and then lb-balancer's own watch has to do.
 */
bool lbs_child_bind(pid_t parent, bool by_main_thread) __attribute__((warn_unused_result));

#endif
