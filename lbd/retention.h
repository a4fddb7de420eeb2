/* SPDX-License-Identifier: BSD-3-Clause */
/* What policy.conf says of the database, as its housekeeping takes it. */
#ifndef LBD_RETENTION_H
#define LBD_RETENTION_H

#include "common/policyconf.h"
#include "lbd/controller/keep.h"

/* state: the folder of the database, where copies go when nothing else is said. */
void lbd_retention(const struct lbx_policyconf *conf, const char *state,
                   struct lbd_keep_settings *ret);

#endif
