/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srun's command line and environment, as far as the layout of tasks depends on them.  Slurm reads SLURM_HOSTFILE before a
 * plugin is asked for the last time, and hands it no other options than its own: so the plugin reads them by itself, and
 * where anything is not known to be harmless to a layout of ours, there is none.
 */
#ifndef LBS_COMMAND_H
#define LBS_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

struct lbs_command {
    const char
        *conflict; /* an option or variable that speaks against a layout of ours; NULL: none */
    const char *fresh_conflict;   /* likewise, where the job has no hosts yet */
    bool has_lb;                  /* --lb was given */
    const char *lb;               /* its last argument; NULL: none */
    const char *partition;        /* NULL: not given */
    const char *account;          /* NULL: not given */
    uint32_t ntasks, nodes, cpus; /* -n, -N, -c (by option or variable); 0: not given */
    bool nodes_by_option;         /* -N is in the command line */
    bool verbose;                 /* -v */
    bool exact;                   /* the step shares its hosts' CPUs with others of the job */
};

/*
 * argv[in]   of srun, ended by NULL; strings are borrowed
 * get[in]    looks up a variable, as getenv
 * Pure but for get, no allocation.
 */
void lbs_command_scan(char *const *argv, char *(*get)(const char *name),
                      struct lbs_command *ret_command);

#endif
