/* SPDX-License-Identifier: BSD-3-Clause */
/* One lbd: its parts put together by role, its loop and its signals. */
#ifndef LBD_DAEMON_H
#define LBD_DAEMON_H

#include "common/error.h"
#include "lbd/options.h"

/* Run until SIGTERM or SIGINT.  Returns 0, or a negative errno with err when it could not start. */
int lbd_daemon_run(const struct lbd_options *options, struct lbx_error *err)
    __attribute__((warn_unused_result));

#endif
