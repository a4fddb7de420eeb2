/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of the plugin's line in plugstack.conf. */
#ifndef LBS_CONFIG_H
#define LBS_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "slurm_plugin/choice.h"

#define LBS_PATH_MAX 256 /* bytes with the NUL */

struct lbs_config {
    char policy[LBS_TEXT_MAX]; /* of steps that ask for none; "" or "off": these are left alone */
    char socket[LBS_PATH_MAX];
    char balancer[LBS_PATH_MAX];
    char killswitch[LBS_PATH_MAX]; /* when this file exists the plugin does nothing */
    bool disable;
    int64_t deadline_ns; /* of all that a hook does, 1 to 100 ms */
    int64_t unasked_ns;  /* how long of that lbd is waited for by a step that asked for nothing */
};

/*
 * Read the arguments: policy=TEXT, socket=PATH, balancer=PATH, killswitch=PATH, deadline_ms=N,
 * disable. ret_config[out]  with a default for what is not given; untouched on failure Returns 0,
 * or -EINVAL with a text that names the argument, the reason and what would be right.
 */
int lbs_config_parse(int argc, char **argv, struct lbs_config *ret_config, struct lbx_error *err)
    __attribute__((warn_unused_result));

/* Whether `disable` was given or the kill switch's file exists now. */
bool lbs_config_is_off(const struct lbs_config *config);

#endif
