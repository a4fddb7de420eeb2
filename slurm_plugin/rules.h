/* SPDX-License-Identifier: BSD-3-Clause */
/* What a step runs with, of what was asked for and what the site has decided.  Pure. */
#ifndef LBS_RULES_H
#define LBS_RULES_H

#include "common/error.h"
#include "slurm_plugin/choice.h"
#include "wire/local.h"

/*
 * choice[in,out]  what was asked for by the option or SLURM_LB.  Of one that names no policy the policy and the keys that
 * it does not give become the site's; one that was not made becomes the site's where the rule is opt-out.
 * Returns 0, or -EINVAL with a text that names the limit that what was asked for passes; *choice untouched then.
 */
int lbs_rules_apply(const struct lbw_local_rule *rule, struct lbs_choice *choice,
                    struct lbx_error *err) __attribute__((warn_unused_result));

#endif
