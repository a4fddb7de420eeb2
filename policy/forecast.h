/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forecasting the load of one host: many simple predictors run side by side over the same samples, and the one that has lately
 * erred least answers, with its error.  One of them is a mix of all others by weights that are learned; since what seems best by
 * few samples mostly is so by chance, it answers until another one is better by more than that.  What is forecast is the mean over
 * the time to come, a minute: a job lives that long and longer, and the next moment alone is of no use to it.  From the same
 * samples: how long the load can be expected to stay as it is.  Pure; a fixed size, no allocation.
 * Source: ALGORITHMS.md, seed 004 ("past it"); the manner is that of Wolski's Network Weather Service (1998); who answers, by
 * experts' posterior with a prior, after Vovk and Littlestone & Warmuth.  What each part brings:
 * docs/internals/forecast.md.
 */
#ifndef LBP_FORECAST_H
#define LBP_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/forecast_analogue.h"
#include "policy/forecast_mix.h"

#define LBP_FORECAST_RING 90  /* samples remembered */
#define LBP_FORECAST_AHEAD 30 /* samples that a forecast is for, at most */
#define LBP_FORECAST_SLOTS 48 /* of a day */

enum lbp_predictor {
    LBP_P_LAST,
    LBP_P_MEAN_12,
    LBP_P_MEAN_90,
    LBP_P_MEDIAN_3,
    LBP_P_MEDIAN_7,
    LBP_P_MEDIAN_15,
    LBP_P_MEDIAN_31,
    LBP_P_EXP_10, /* weight of the newest, percent */
    LBP_P_EXP_25,
    LBP_P_EXP_50,
    LBP_P_LEVEL, /* mean since the load last changed */
    LBP_P_AR_1,  /* autoregressive */
    LBP_P_AR_4,
    LBP_P_DAY,      /* the mean of this time of the day on the days before */
    LBP_P_ANALOGUE, /* what came after moments like this one */
    LBP_P_BLEND,    /* of last, median 3 and median 31, by fixed weights */
    LBP_P_MIX,      /* of all those before, by weights that are learned */
    LBP_PREDICTORS
};

/* Its name for people, as "mean 12". */
const char *lbp_predictor_name(enum lbp_predictor p);

struct lbp_forecast {
    float ring[LBP_FORECAST_RING];
    unsigned head, n;    /* of the ring */
    int64_t at_ns;       /* of the newest sample */
    int64_t interval_ns; /* from the one before to it */
    int64_t first_ns;    /* of the oldest sample since the beginning */
    uint64_t samples;

    unsigned ahead;                                 /* samples that a forecast is for */
    float said[LBP_FORECAST_AHEAD][LBP_PREDICTORS]; /* of the time to come; NAN: nothing */
    unsigned nsaid, newest;                         /* of said: a ring of `ahead` */
    float error[LBP_PREDICTORS];                    /* recent mean absolute */
    uint32_t judged[LBP_PREDICTORS];
    enum lbp_predictor best;

    struct lbp_moment moment;                   /* now */
    uint32_t seen;                              /* samples in it */
    struct lbp_moment then[LBP_FORECAST_AHEAD]; /* beside `said` */
    struct lbp_analogue analogue;
    struct lbp_mix mix;

    float smooth[3];
    double level, spread; /* since the load changed; mean, and mean distance from it */
    double least_change;  /* smaller changes do not matter */
    unsigned nlevel, odd; /* samples; those in a row that are not of it */
    float odd_sum;
    int64_t level_ns;          /* when it began */
    double stayed_ns, changes; /* of levels before, the older the less */

    float day[LBP_FORECAST_SLOTS];
    float day_sum; /* of the present slot */
    unsigned day_n;
    int day_slot; /* -1: none */
};

/*
 * ahead: samples that a forecast is for, 1 to LBP_FORECAST_AHEAD (else the nearest)
 * least_change > 0: a load that differs by less is the same, in the samples' unit
 */
void lbp_forecast_init(struct lbp_forecast *f, unsigned ahead, double least_change);

/*
 * One more sample.  at_ns: its time, since 1970 for the time of day; not before the last one's, else it is ignored.
 * value >= 0, finite, else likewise.  After a silence of more than LBP_FORECAST_GAP_NS the recent history is void.
 * O(LBP_FORECAST_RING).
 */
void lbp_forecast_add(struct lbp_forecast *f, int64_t at_ns, double value);

#define LBP_FORECAST_GAP_NS INT64_C(300000000000)

struct lbp_forecast_answer {
    double value;            /* mean of the next `ahead` samples */
    double error;            /* mean absolute, lately, of who says so */
    enum lbp_predictor best; /* who */
    double stable_ns;        /* the load is expected to stay so long */
};

/* Returns false while nothing is known: no sample yet. */
bool lbp_forecast_ask(const struct lbp_forecast *f, struct lbp_forecast_answer *ret);

/*
 * From records: what a slot of the day (0 to LBP_FORECAST_SLOTS - 1, UTC) usually has.  Only before the first sample, or to
 * correct a slot; value >= 0.
 */
void lbp_forecast_set_day(struct lbp_forecast *f, int slot, double value);

/* As lbp_forecast_ask for one predictor.  Returns false: it says nothing. */
bool lbp_forecast_one(const struct lbp_forecast *f, enum lbp_predictor p, double *ret_value,
                      double *ret_error);

#endif
