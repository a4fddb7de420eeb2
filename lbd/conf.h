/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.conf with the policies' texts checked: what lbd, and lbctl policy check, read. */
#ifndef LBD_CONF_H
#define LBD_CONF_H

#include "common/error.h"
#include "common/policyconf.h"

/* As lbx_policyconf_read. */
int lbd_conf_read(const char *path, struct lbx_policyconf *ret, struct lbx_error *err)
    __attribute__((warn_unused_result));

#endif
