/* SPDX-License-Identifier: BSD-3-Clause */
/* What policy.conf says for one step. */
#ifndef LBD_RULES_H
#define LBD_RULES_H

#include "common/policyconf.h"
#include "wire/local.h"

/* The account's section comes before the partition's, and that before the site's keys. */
void lbd_rules_for(const struct lbx_policyconf *conf, const struct lbw_local_scope *scope,
                   struct lbw_local_rule *ret_rule);

#endif
