/* SPDX-License-Identifier: BSD-3-Clause */
/* The bins of a profile, for profile.c and profile_cost.c only. */
#ifndef LBP_PROFILE_IMPL_H
#define LBP_PROFILE_IMPL_H

#include "policy/profile.h"

static inline int64_t lbp_profile_bin_first(const struct lbp_profile *p, int bin)
{
    return (int64_t)bin * p->width;
}

static inline int64_t lbp_profile_bin_size(const struct lbp_profile *p, int bin)
{
    int64_t rest = p->n - lbp_profile_bin_first(p, bin);

    return rest < p->width ? rest : p->width;
}

#endif
