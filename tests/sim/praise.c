/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted failure: a balancer whose account praises itself, and that stakes what it believes to have won. */
#include "tests/sim/praise.h"

#include "policy/stepped_impl.h"

#define PRAISE 0.1

static void praise(void *arg, struct lbp_stepped *s, int64_t now_ns)
{
    (void)arg;
    (void)now_ns;
    s->first_over_ns = PRAISE * s->measured_ns;
}

void sim_praise(struct sim_step_config *config)
{
    config->decided = praise;
}
