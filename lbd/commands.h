/* SPDX-License-Identifier: BSD-3-Clause */
/* What lbctl asks for, answered in JSON. */
#ifndef LBD_COMMANDS_H
#define LBD_COMMANDS_H

#include "common/error.h"
#include "lbd/view.h"

/*
 * text: "hosts", "rank", "status", "policy", or one of lbd/past.h.  Returns JSON to be freed, or NULL with err; there
 * -EINPROGRESS: the server is given the answer to the request later.
 */
char *lbd_command(const struct lbd_view *v, uint64_t request, const char *text,
                  struct lbx_error *err);

#endif
