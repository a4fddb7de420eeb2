/* SPDX-License-Identifier: BSD-3-Clause */
/* What lbctl asks for, answered in JSON. */
#ifndef LBD_COMMANDS_H
#define LBD_COMMANDS_H

#include "common/error.h"
#include "lbd/view.h"

/* text: "hosts", "rank", "status" or "policy".  Returns JSON to be freed, or NULL with err. */
char *lbd_command(const struct lbd_view *v, const char *text, struct lbx_error *err);

#endif
