/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.conf with the policies' texts checked. */
#include "lbd/conf.h"

#include "policy/registry.h"

static int check_policy(const char *text, struct lbx_error *err)
{
    struct lbp_params params;

    return lbp_params_parse(&params, text, err);
}

int lbd_conf_read(const char *path, struct lbx_policyconf *ret, struct lbx_error *err)
{
    return lbx_policyconf_read(path, check_policy, ret, err);
}
