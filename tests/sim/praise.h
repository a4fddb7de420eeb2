/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted failure: a balancer whose account praises itself. */
#ifndef LB_TESTS_SIM_PRAISE_H
#define LB_TESTS_SIM_PRAISE_H

#include "sim/step.h"

/* From now on its ranks are said to have waited, with the first bounds, for a tenth of what their steps compute. */
void sim_praise(struct sim_step_config *config);

#endif
