/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passwords of web.yml's users.  A bcrypt hash costs a tenth of a second to check, so what was right or wrong is remembered
 * (as a keyed digest), and only some new ones are checked a second: nobody keeps a core busy by guessing.  One thread.
 */
#ifndef LBD_METRICS_USERS_H
#define LBD_METRICS_USERS_H

#include <stdint.h>

#include "lbd/metrics/webconf.h"

struct lbd_users;

/* conf: borrowed until lbd_users_destroy.  NULL: out of memory. */
struct lbd_users *lbd_users_create(const struct lbd_webconf *conf);
void lbd_users_destroy(struct lbd_users *u); /* NULL is fine */

/* Returns 0, -EACCES (wrong), -EAGAIN (too many were tried just now). */
int lbd_users_check(struct lbd_users *u, const char *name, const char *password, int64_t now_ns)
    __attribute__((warn_unused_result));

#endif
