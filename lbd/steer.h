/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands that change something until the configuration is read again, and the question what it comes to:
 *   probe [SECONDS]               sample now, and measure where the host is idle; SECONDS: between samples from now on
 *   weights [NAME=NUMBER ...]     the index's weights (scale, user, terminal, task), after setting those given
 *   effective PARTITION ACCOUNT   what a step gets there, "-" for none: policy, mode, placement, limits
 * Each answers with what is in force then.
 */
#ifndef LBD_STEER_H
#define LBD_STEER_H

#include <jansson.h>
#include <stdbool.h>

#include "common/error.h"
#include "lbd/view.h"

/* Returns false when text is none of these.  Else *ret has the answer, or err says what is wrong. */
bool lbd_steer_command(const struct lbd_view *v, const char *text, json_t **ret,
                       struct lbx_error *err);

#endif
