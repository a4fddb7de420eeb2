/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl's questions to lbd that are asked again and again, or in parts. */
#ifndef LBD_CTL_ASK_H
#define LBD_CTL_ASK_H

#include <jansson.h>

#include "common/error.h"

/*
 * Ask, and where the answer has a "next", on from there, until all of the array `list` is there (NULL: one answer is all).
 * Returns 0 with *ret to be given back by json_decref; -EREMOTEIO: lbd refused; -ENOENT, -ECONNREFUSED, -ETIMEDOUT: nobody
 * answers; with err.
 */
int lbd_ctl_ask(const char *socket, const char *request, const char *list, json_t **ret,
                struct lbx_error *err) __attribute__((warn_unused_result));

#endif
