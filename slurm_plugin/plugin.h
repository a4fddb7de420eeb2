/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the SPANK plugin share.  Every hook returns ESPANK_SUCCESS whatever happens,
 * has one deadline for all that it does, and leaves no thread, signal state or inheritable
 * descriptor behind: see docs/man/spank_lb.8.
 */
#ifndef LBS_PLUGIN_H
#define LBS_PLUGIN_H

#include <slurm/spank.h>

#include "slurm_plugin/ask.h"
#include "slurm_plugin/choice.h"
#include "slurm_plugin/config.h"

/*
 * One process loads the plugin for one purpose (srun, sbatch, salloc, or the slurmstepd of one
 * step), and Slurm gives its hooks no place to keep anything: so there is one of these in a
 * process.
 */
struct lbs_plugin {
    struct lbs_config config;
    bool off; /* switched off by the site, or misconfigured: the option is taken and nothing is done
               */
    struct lbs_choice option; /* of --lb; unset when it was not given */
    struct lbs_lbd lbd;
    bool has_rule; /* of the site, for this srun */
    struct lbw_local_rule rule;
};

/*
 * Of a hook's deadline lbd is waited for so long: srun, and after it slurmstepd, may both meet one that is stopped, and what
 * they lose together must stay within what one hook may take.
 */
#define LBS_SRUN_NS(deadline_ns) ((deadline_ns) / 3)
#define LBS_STEPD_NS(deadline_ns) ((deadline_ns) / 3 * 2)

/* From srun to slurmstepd: the layout of this step is ours, and what Slurm tells the tasks of it is not the user's. */
#define LBS_PLACED "SLURM_LB_PLACED"

/* Likewise: what became of the wish for a layout, by its name (wire/placement.h). */
#define LBS_PLACEMENT "SLURM_LB_PLACEMENT"

extern struct lbs_plugin lbs_plugin;

/* local.c: in srun, before it reads its options and when it has read them. */
void lbs_local_init(void);
void lbs_local_post_opt(void);

/* allocator.c: in salloc and sbatch. */
void lbs_allocator_post_opt(void);

/* options.c: make --lb known to srun, sbatch, salloc, or slurmstepd; from slurm_spank_init only. */
void lbs_options_register(spank_t spank);

/* options.c: judge SLURM_LB and the site's limits before anything is submitted; says what is wrong and ends the client when
 * something is. */
void lbs_options_check(void);

/* What this client's user asks for: the option, else SLURM_LB. */
struct lbs_choice lbs_options_asked(void);

/* remote.c: in slurmstepd. */
void lbs_remote_user_init(spank_t spank);
void lbs_remote_task_post_fork(void);
void lbs_remote_task_exit(spank_t spank);
void lbs_remote_exit(void);

#endif
