/* SPDX-License-Identifier: BSD-3-Clause */
/* What a text of --lb, of SLURM_LB or of policy= asks for. */
#ifndef LBS_CHOICE_H
#define LBS_CHOICE_H

#include "common/error.h"
#include "policy/registry.h"

#define LBS_TEXT_MAX 512 /* of a policy's text, with the NUL */

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
 * Read such a text; NULL and "" are the policy auto, until the site decides.
 * Returns 0, or -EINVAL with a text naming what is wrong and the nearest right one; *ret_choice
 * untouched on failure.
 */
int lbs_choice_parse(const char *text, struct lbs_choice *ret_choice, struct lbx_error *err)
    __attribute__((warn_unused_result));

#endif
