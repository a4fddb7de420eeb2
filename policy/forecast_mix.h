/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One forecast out of many: their mean, by weights that follow what each would have saved or lost.  Choosing one cannot do better
 * than the best single one does; a mean can, since errors of different signs cancel.  Nothing in it is tuned to a load: each
 * one's learning rate comes from its own record.  Only for forecast.c.  Pure; a fixed size.
 * Source: Wintenberger 2017, "Optimal learning with Bernstein online aggregation", algorithm 1 with its adaptive rates and the
 * gradient trick, for the absolute error; who says nothing sleeps (Freund et al. 1997).  Ours: that a forecast of the time to come
 * overlaps those beside it, so that `ahead` of them count as one, and that the old counts less.
 */
#ifndef LBP_FORECAST_MIX_H
#define LBP_FORECAST_MIX_H

#define LBP_MIX_EXPERTS 16 /* at most */

struct lbp_mix {
    unsigned n, ahead;
    float prior[LBP_MIX_EXPERTS]; /* sum 1 */
    double lost[LBP_MIX_EXPERTS]; /* against the mix, linearised */
    double square[LBP_MIX_EXPERTS];
    double most[LBP_MIX_EXPERTS]; /* the largest single one of them */
    float weight[LBP_MIX_EXPERTS];
};

/* prior[in] [n], > 0: how much each is trusted at first; n <= LBP_MIX_EXPERTS.  ahead: samples that a forecast is for. */
void lbp_mix_init(struct lbp_mix *m, const float *prior, unsigned n, unsigned ahead);

/*
 * What the experts said, what the mix said then, and what came.  said[in] [n], NAN: nothing.
 */
void lbp_mix_learn(struct lbp_mix *m, const float *said, float mixed, float came);

/* The mean of what is said, by weight.  said[in] [n], NAN: nothing.  NAN when nobody says anything. */
float lbp_mix_say(const struct lbp_mix *m, const float *said);

#endif
