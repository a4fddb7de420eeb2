/* SPDX-License-Identifier: BSD-3-Clause */
/* How well a program used what the hosts had to give. */
#include "policy/efficiency.h"

#include <math.h>
#include <stdbool.h>

double lbp_efficiency(double t_sequential_ns, double elapsed_ns, uint32_t nranks,
                      const double *competing_ns, const double *speed)
{
    double available = 0;

    if (!(t_sequential_ns >= 0) || !(elapsed_ns > 0) || !isfinite(elapsed_ns))
        return 0;
    for (uint32_t i = 0; i < nranks; i++) {
        double rest = elapsed_ns - (competing_ns ? competing_ns[i] : 0);
        double s = speed ? speed[i] : 1;

        if (!isfinite(rest) || !isfinite(s))
            return 0;
        available += s * fmax(0, rest);
    }
    return available > 0 ? t_sequential_ns / available : 0;
}

static bool valid(const struct lbp_oscillation *o)
{
    return o->nranks >= 1 && o->ta_ns > 0 && o->tb_ns > 0 && isfinite(o->ta_ns + o->tb_ns) &&
           o->share > 0 && o->share <= 1 && o->tc_ns >= 0 && o->td_ns >= 0 && o->tf_ns >= 0 &&
           o->tg_ns >= 0 && o->dedicated >= 0 && o->dedicated <= 1;
}

/* CPU time there for the program in one cycle, ns. */
static double available(const struct lbp_oscillation *o)
{
    double P = o->nranks;

    return P * o->ta_ns + (P - 1 + o->share) * o->tb_ns;
}

double lbp_efficiency_oscillating(const struct lbp_oscillation *o)
{
    double P = o->nranks, tc, td, te, tf, tg, th, used;

    if (!valid(o))
        return 0;
    tc = fmin(o->tc_ns, o->tb_ns);
    td = fmin(o->td_ns, o->tb_ns - tc);
    te = o->tb_ns - tc - td;
    tf = fmin(o->tf_ns, o->ta_ns);
    tg = fmin(o->tg_ns, o->ta_ns - tf);
    th = o->ta_ns - tf - tg;
    used = tc * P * o->share + te * (P - 1 + o->share);
    used += tf * (P - 1 + o->share) + th * P;
    return o->dedicated * used / available(o);
}

double lbp_efficiency_unbalanced(const struct lbp_oscillation *o)
{
    if (!valid(o))
        return 0;
    return o->dedicated * o->nranks * (o->ta_ns + o->share * o->tb_ns) / available(o);
}
