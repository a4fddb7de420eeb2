/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --lb[=POLICY][,key=value...], --lb=off, --lb=help. */
#ifndef LBS_OPTIONS_H
#define LBS_OPTIONS_H

#include <slurm/spank.h>

#include "common/error.h"
#include "policy/registry.h"
#include "slurm_plugin/config.h"

/* What Slurm (22.05) hands to a job's steps for the option of sbatch or salloc without an argument. */
#define LBS_NO_ARGUMENT "(null)"

enum lbs_wish {
    LBS_UNSET = 0, /* nothing was said */
    LBS_OFF,
    LBS_ON,
};

struct lbs_choice {
    enum lbs_wish wish;
    struct lbp_params params; /* when LBS_ON */
    char text[LBS_TEXT_MAX];  /* that was parsed: what it does not give, the site may decide */
};

/*
 * What a text of the option, of SLURM_LB or of policy= asks for; NULL and "" are the policy auto, until the site decides.
 * Returns 0, or -EINVAL with a text naming what is wrong and the nearest right one; *ret_choice
 * untouched on failure.
 */
int lbs_choice_parse(const char *text, struct lbs_choice *ret_choice, struct lbx_error *err)
    __attribute__((warn_unused_result));

/* Make --lb known to srun, sbatch, salloc, or slurmstepd: from slurm_spank_init only. */
void lbs_options_register(spank_t spank);

#endif
