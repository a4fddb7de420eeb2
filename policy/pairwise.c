/* SPDX-License-Identifier: BSD-3-Clause */
/* One move between two ranks, so that both end together. */
#include "policy/pairwise.h"

#include <math.h>

/* Work that goes to a slower rank counts more by this part of how much slower it is. */
#define RISK 0.5

int64_t lbp_pairwise_liu(double s_i, double s_j, double l_j, double c_ns)
{
    double l;

    if (!(s_i > 0) || !(s_j > 0) || !(s_i > s_j) || !(l_j >= 1))
        return 0;
    l = floor(s_i * l_j / (s_i + s_j) * (1 + 1e-12));
    return l >= 1 && l > c_ns * s_j * s_i / (s_i - s_j) ? (int64_t)fmin(l, l_j) : 0;
}

/* An iteration that costs more than expected costs the more on a slow rank, and cannot be taken back: so much more it counts. */
static double risk(const struct lbp_view *from, const struct lbp_view *to)
{
    return RISK * fmax(0, 1 - to->speed / from->speed);
}

/* When the later of both ends after k iterations went. */
static double end_after(const struct lbp_view *from, const struct lbp_view *to, double work,
                        double arrive)
{
    struct lbp_view f = *from, t = *to;

    lbp_view_give(&f, &t, work, arrive);
    t.incoming += risk(from, to) * work;
    return fmax(lbp_view_end(&f), lbp_view_end(&t));
}

double lbp_pairwise_best(const struct lbp_view *from, const struct lbp_view *to,
                         const struct lbp_profit *profit, double factor, double row_bytes,
                         double settle_ns, struct lbp_transfer *ret_transfer)
{
    double before = fmax(lbp_view_end(from), lbp_view_end(to));
    double unit = from->unit, gain = 0, most, k, start, per_work;

    if (!(unit > 0) || from->movable < unit / 2)
        return 0;
    most = fmax(1, floor(from->movable / unit + 0.01));
    /* E_j - k u / s_j = R_i + (1 + risk) k u / s_i + k b; where R_i is when the rows are there and the taker is free */
    start = fmax(lbp_view_end(to), from->hook + factor * lbp_profit_transfer_ns(profit, 0));
    per_work = 1 / from->speed + (1 + risk(from, to)) / to->speed +
               factor * profit->byte_ns * row_bytes / unit;
    k = floor((lbp_view_end(from) - start) / per_work / unit);
    for (int more = 0; more < 2; more++) {
        double count = fmin(fmax(k + more, 1), most);
        double arrive = from->hook + factor * lbp_profit_transfer_ns(profit, count * row_bytes);
        double won = before - fmax(end_after(from, to, count * unit, arrive), arrive + settle_ns);

        if (won > gain) {
            gain = won;
            ret_transfer->work = count * unit;
            ret_transfer->arrive = arrive;
        }
    }
    return gain;
}
