/* SPDX-License-Identifier: BSD-3-Clause */
/* Which hosts a step of srun uses, and how many of its tasks each of them gets. */
#ifndef LBS_PLACE_H
#define LBS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "slurm_plugin/ask.h"
#include "slurm_plugin/command.h"
#include "slurm_plugin/layout.h"

#define LBS_SLOTS_MAX LBW_LOCAL_HOSTS_MAX

struct lbs_place {
    const struct lbs_command *command;
    bool choose_hosts;     /* key hosts */
    const char *job_hosts; /* SLURM_JOB_NODELIST; NULL: the job has none yet */
    const char *job_cpus;  /* SLURM_JOB_CPUS_PER_NODE; NULL: not known */
    uint32_t jobid;        /* 0: the job has none yet */
    int *idle; /* the question for idle hosts, see lbs_place_begin; -1 once its answer is taken */
    int64_t deadline_ns;
};

/*
 * Ask for idle hosts where lbs_place will hardly do without, before anything else is asked: it takes the longest.  Returns a
 * descriptor to be closed, or -1.
 */
int lbs_place_begin(const struct lbs_place *p, struct lbs_lbd *lbd);

/*
 * slot[out]    [LBS_SLOTS_MAX], in the order in which ranks should go
 * ret_what[out] what became of it
 * ret_why[out]  when there is no layout of ours: why, a text that lives on
 * Returns the number of slots; 0 when Slurm should lay the step out by itself.
 */
size_t lbs_place(const struct lbs_place *p, struct lbs_lbd *lbd, struct lbs_slot *slot,
                 enum lbw_placement *ret_what, const char **ret_why);

/* The n-th count of "4(x2),3"; 0 when it is not understood.  Exposed for tests. */
unsigned lbs_place_cpus(const char *text, size_t n);

/*
 * The hosts of the slots, a line for each task, as srun reads them: in memory, so that nothing is left behind.  A system call
 * for each task would take tens of ms where there are many.  Returns a descriptor that is closed by exec, or -1.
 */
int lbs_place_hostfile(const struct lbs_slot *slot, size_t n);

#endif
