/* SPDX-License-Identifier: BSD-3-Clause */
/* A stepped loop: from what its ranks tell to policy/stepped.h, and its plans back into messages. */
#ifndef LBD_STEPS_H
#define LBD_STEPS_H

#include "common/error.h"
#include "lbd/balancer/loops_config.h"
#include "policy/firsts.h"
#include "policy/stepped.h"

/*
 * Begin when all ranks have opened the loop.
 * open[in]  [nranks]
 * ret_firsts: what is known of the first bounds; made and not made as *ret is.
 * Returns 0, -EPROTO (the blocks are not one after another from 0 to n), -ENOMEM, with a text.
 */
int lbd_steps_begin(const struct lbd_loops_config *config, const struct lbw_open *open,
                    int64_t now_ns, struct lbp_stepped **ret, struct lbp_firsts **ret_firsts,
                    struct lbx_error *err) __attribute__((warn_unused_result));

/* Take a STEP.  Returns 0, -EPROTO, -ENOMEM, with a text. */
int lbd_steps_take(const struct lbd_loops_config *config, struct lbp_stepped *stepped,
                   struct lbp_firsts *firsts, uint32_t rank, const struct lbw_step *m,
                   int64_t now_ns, struct lbx_error *err) __attribute__((warn_unused_result));

/* Let a rank go on that waits since it told of so many steps. */
void lbd_steps_answer(const struct lbd_loops_config *config, uint32_t loop, uint32_t rank,
                      int64_t step);

#endif
