/* SPDX-License-Identifier: BSD-3-Clause */
/* One forecast out of many. */
#include "policy/forecast_mix.h"

#include <math.h>
#include <string.h>

#define OLD_AHEADS 500. /* what came so many forecasts' lengths ago counts for a third */

void lbp_mix_init(struct lbp_mix *m, const float *prior, unsigned n, unsigned ahead)
{
    float sum = 0;

    memset(m, 0, sizeof(*m));
    m->n = n < LBP_MIX_EXPERTS ? n : LBP_MIX_EXPERTS;
    m->ahead = ahead > 0 ? ahead : 1;
    for (unsigned k = 0; k < m->n; k++)
        sum += prior[k];
    for (unsigned k = 0; k < m->n; k++)
        m->prior[k] = m->weight[k] = prior[k] / sum;
}

static void weigh(struct lbp_mix *m)
{
    double log_weight[LBP_MIX_EXPERTS], best = -INFINITY, sum = 0;

    for (unsigned k = 0; k < m->n; k++) {
        double surprise = -log(fmin((double)m->prior[k], .5)), rate;

        rate = fmin(.5 / fmax(m->most[k], 1e-9), sqrt(surprise / fmax(m->square[k], 1e-12)));
        log_weight[k] =
            log((double)m->prior[k] * rate) - rate * m->lost[k] - rate * rate * m->square[k] / 2;
        best = fmax(best, log_weight[k]);
    }
    for (unsigned k = 0; k < m->n; k++)
        sum += exp(log_weight[k] - best);
    for (unsigned k = 0; k < m->n; k++)
        m->weight[k] = (float)(exp(log_weight[k] - best) / sum);
}

void lbp_mix_learn(struct lbp_mix *m, const float *said, float mixed, float came)
{
    double keep = 1 - 1 / (OLD_AHEADS * m->ahead), part = 1. / m->ahead;
    int sign = (mixed > came) - (mixed < came);

    for (unsigned k = 0; k < m->n; k++) {
        double lost = isnan(said[k]) ? 0 : sign * ((double)said[k] - (double)mixed);

        m->lost[k] = m->lost[k] * keep + lost * part;
        m->square[k] = m->square[k] * keep + lost * lost * part;
        m->most[k] = fmax(m->most[k] * keep, fabs(lost));
    }
    weigh(m);
}

float lbp_mix_say(const struct lbp_mix *m, const float *said)
{
    float sum = 0, weights = 0;

    for (unsigned k = 0; k < m->n; k++)
        if (!isnan(said[k])) {
            sum += m->weight[k] * said[k];
            weights += m->weight[k];
        }
    if (weights > 0)
        return sum / weights;
    for (unsigned k = 0; k < m->n; k++) /* all who speak have lost all weight */
        if (!isnan(said[k]))
            return said[k];
    return NAN;
}
