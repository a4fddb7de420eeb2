/* SPDX-License-Identifier: BSD-3-Clause */
/* Forecasting the load of one host. */
#include "policy/forecast.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "policy/forecast_predict.h"

#define DAY_NS INT64_C(86400000000000)
#define RECENT .005 /* weight of the newest error */
/* The usual one is the mix; the blend, for so many lengths of a forecast, until the mix has learned enough. */
#define MIX_JUDGED 6
#define DOUBT 4.6   /* log of how much likelier it is that the usual one is best: a hundred times */
#define STAY .2     /* the same for who answers already */
#define UNSURE 10.f /* lengths of a forecast until the analogue is trusted as much as the blend */
#define REMEMBER 6  /* moments in the length of a forecast */
#define JUDGED_LEAST 3   /* samples that must have come of what was said */
#define DAY_WEIGHT .3    /* of the newest day */
#define DAY_JUDGED 12    /* samples before the time of day may answer: it begins late */
#define LEVEL_MOST 60    /* samples that a level's mean is over */
#define LEVEL_SPREADS 3. /* so many times its spread away a sample is not of the level */
#define ODD_MOST 2       /* so many in a row begin another level */
#define FORGET .9        /* a level that has ended makes those before count so much less */
#define LASTING 5.       /* levels last when they outlive a forecast so many times */
#define PRIOR_NS 600e9   /* before anything is known a load stays for ten minutes */

static const struct {
    const char *name;
    unsigned length; /* samples */
} predictor[LBP_PREDICTORS] = {
    {"last", 1},       {"mean 12", 12},   {"mean 90", 90}, {"median 3", 3},    {"median 7", 7},
    {"median 15", 15}, {"median 31", 31}, {"exp 0.1", 0},  {"exp 0.25", 0},    {"exp 0.5", 0},
    {"level", 0},      {"ar 1", 0},       {"ar 4", 0},     {"time of day", 0}, {"analogue", 0},
    {"blend", 0},      {"mix", 0}};

static const float smoothing[3] = {.1f, .25f, .5f};

const char *lbp_predictor_name(enum lbp_predictor p)
{
    return (unsigned)p < LBP_PREDICTORS ? predictor[p].name : "";
}

/* An hour is too little to learn all weights from: most of the first trust is for few, the others must earn theirs. */
static float trust(int p)
{
    switch (p) {
    case LBP_P_ANALOGUE:
        return 30;
    case LBP_P_MEDIAN_7:
        return 20;
    case LBP_P_BLEND:
        return 4;
    default:
        return 1;
    }
}

static void begin_mix(struct lbp_forecast *f)
{
    float prior[LBP_P_MIX];

    for (int p = 0; p < LBP_P_MIX; p++)
        prior[p] = trust(p);
    lbp_mix_init(&f->mix, prior, LBP_P_MIX, f->ahead);
}

void lbp_forecast_init(struct lbp_forecast *f, unsigned ahead, double least_change)
{
    static_assert(LBP_P_MIX <= LBP_MIX_EXPERTS, "the mix is of all others");
    memset(f, 0, sizeof(*f));
    f->ahead = ahead < 1 ? 1 : ahead > LBP_FORECAST_AHEAD ? LBP_FORECAST_AHEAD : ahead;
    f->least_change = least_change;
    f->day_slot = -1;
    f->best = LBP_P_BLEND;
    for (int i = 0; i < LBP_FORECAST_SLOTS; i++)
        f->day[i] = NAN;
    begin_mix(f);
}

void lbp_forecast_set_day(struct lbp_forecast *f, int slot, double value)
{
    if (slot >= 0 && slot < LBP_FORECAST_SLOTS && isfinite(value) && value >= 0)
        f->day[slot] = (float)value;
}

static int slot_of(int64_t at_ns)
{
    int64_t in_day_ns = (at_ns % DAY_NS + DAY_NS) % DAY_NS;

    return (int)(in_day_ns / (DAY_NS / LBP_FORECAST_SLOTS));
}

/*
 * The one with the least recent error answers, as far as errors tell: forecasts that overlap are one, so that n samples are n /
 * ahead pieces of evidence, and what seems best by few of them mostly is so by chance.  Hence the mix (the blend, as long as the mix
 * has learned little) answers until another one is better by more than chance (the posterior of experts, with a prior; errors in
 * units of their mean).
 */
static enum lbp_predictor choose(const struct lbp_forecast *f, uint32_t judged)
{
    double evidence = fmin(judged, 1 / RECENT) / f->ahead, mean = 0, least = 0;
    int usual = judged < MIX_JUDGED * f->ahead ? LBP_P_BLEND : LBP_P_MIX, best = usual, n = 0;
    bool any = false;

    for (int p = 0; p < LBP_PREDICTORS; p++)
        if (f->judged[p] > 0) {
            mean += (double)f->error[p];
            n++;
        }
    mean = mean / n + 1e-9;
    for (int p = LBP_PREDICTORS - 1; p >= 0; p--) {
        double score = evidence * (double)f->error[p] / mean;

        if (f->judged[p] == 0 || (p == LBP_P_DAY && f->judged[p] < DAY_JUDGED))
            continue;
        score += p == usual ? 0 : DOUBT;
        score -= p == (int)f->best ? STAY : 0;
        if (!any || score < least) {
            least = score;
            best = p;
        }
        any = true;
    }
    return (enum lbp_predictor)best;
}

/* What was said `ahead` samples ago against what came: who errs how much.  Then who answers. */
static void judge(struct lbp_forecast *f)
{
    unsigned span =
        f->nsaid; /* at first the time that has come is shorter than what was spoken of */
    unsigned oldest = span < f->ahead ? 0 : (f->newest + 1) % f->ahead;
    const float *said = f->said[oldest];
    float mean = 0;

    if (span < JUDGED_LEAST && span < f->ahead)
        return;
    for (unsigned i = 1; i <= span; i++)
        mean += f->ring[(f->head + LBP_FORECAST_RING - i) % LBP_FORECAST_RING] / (float)span;
    for (int p = 0; p < LBP_PREDICTORS; p++) {
        float weight;

        if (isnan(said[p]))
            continue;
        f->judged[p]++;
        weight = fmaxf(RECENT, 1.f / (float)f->judged[p]);
        f->error[p] += weight * (fabsf(mean - said[p]) - f->error[p]);
    }
    if (span == f->ahead) {
        unsigned every = f->ahead > REMEMBER ? f->ahead / REMEMBER : 1;

        lbp_mix_learn(&f->mix, said, said[LBP_P_MIX], mean);
        if (f->samples % every == 0)
            lbp_analogue_remember(&f->analogue, &f->then[oldest], mean);
    }
    f->best = choose(f, f->judged[LBP_P_BLEND]);
}

static void add_day(struct lbp_forecast *f, int64_t at_ns, double value)
{
    int slot = slot_of(at_ns);

    if (slot != f->day_slot) {
        if (f->day_slot >= 0 && f->day_n > 0) {
            float mean = f->day_sum / (float)f->day_n, *day = &f->day[f->day_slot];

            *day = isnan(*day) ? mean : *day + (float)DAY_WEIGHT * (mean - *day);
        }
        f->day_slot = slot;
        f->day_sum = 0;
        f->day_n = 0;
    }
    f->day_sum += (float)value;
    f->day_n++;
}

static void begin_level(struct lbp_forecast *f, int64_t at_ns, double value, unsigned n)
{
    f->level = value;
    f->nlevel = n;
    f->spread = 0;
    f->level_ns = at_ns;
    f->odd = 0;
    f->odd_sum = 0;
}

/* One odd sample may be a spike; when the next is odd, too, the load has changed. */
static void add_level(struct lbp_forecast *f, int64_t at_ns, double value)
{
    double limit = fmax(f->least_change, LEVEL_SPREADS * f->spread), weight;

    if (f->nlevel == 0) {
        begin_level(f, at_ns, value, 1);
        return;
    }
    if (fabs(value - f->level) > limit) {
        f->odd++;
        f->odd_sum += (float)value;
        if (f->odd < ODD_MOST)
            return;
        f->stayed_ns = f->stayed_ns * FORGET + (double)(at_ns - f->level_ns);
        f->changes = f->changes * FORGET + 1;
        begin_level(f, at_ns, (double)f->odd_sum / f->odd, f->odd);
        return;
    }
    f->odd = 0;
    f->odd_sum = 0;
    f->nlevel += f->nlevel < LEVEL_MOST;
    weight = 1. / f->nlevel;
    f->spread += weight * (fabs(value - f->level) - f->spread);
    f->level += weight * (value - f->level);
}

/*
 * What is now, what has been of late, and what is usual: of those that err differently the mean errs less than each.  Medians, since
 * the absolute error is what counts.  The weights are not fitted to a host: on few samples that costs more than it gains.
 */
static float blend(const float *said)
{
    return .5f * said[LBP_P_LAST] + .25f * said[LBP_P_MEDIAN_3] + .25f * said[LBP_P_MEDIAN_31];
}

/* Who knows few moments of the past mostly tells of chance: as long as that is so the blend speaks along. */
static float analogue(const struct lbp_forecast *f, float usual)
{
    float lengths = (float)f->judged[LBP_P_ANALOGUE] / (float)f->ahead, value;

    if (!lbp_analogue_ask(&f->analogue, &f->moment, &value))
        return usual;
    lengths *= lengths;
    return usual + lengths / (lengths + UNSURE * UNSURE) * (value - usual);
}

/* The samples in order, the newest last. */
static size_t unroll(const struct lbp_forecast *f, float *ret_v)
{
    unsigned first = (f->head + LBP_FORECAST_RING - f->n) % LBP_FORECAST_RING;

    for (unsigned i = 0; i < f->n; i++)
        ret_v[i] = f->ring[(first + i) % LBP_FORECAST_RING];
    return f->n;
}

static void predict(struct lbp_forecast *f)
{
    float v[LBP_FORECAST_RING], most = 0, *said;
    size_t n = unroll(f, v);

    f->newest = f->nsaid > 0 ? (f->newest + 1) % f->ahead : 0;
    f->nsaid += f->nsaid < f->ahead;
    said = f->said[f->newest];
    for (size_t i = 0; i < n; i++)
        most = fmaxf(most, v[i]);
    for (int p = LBP_P_LAST; p <= LBP_P_MEDIAN_31; p++) {
        size_t length = predictor[p].length < n ? predictor[p].length : n;

        said[p] = (float)(p < LBP_P_MEDIAN_3 ? lbp_predict_mean(v + n - length, length)
                                             : lbp_predict_median(v + n - length, length));
    }
    for (int i = 0; i < 3; i++)
        said[LBP_P_EXP_10 + i] = f->smooth[i];
    said[LBP_P_LEVEL] =
        (float)(f->odd > 0 ? (f->level + (double)f->odd_sum / f->odd) / 2 : f->level);
    said[LBP_P_AR_1] = (float)fmin(fmax(0, lbp_predict_ar(v, n, 1, f->ahead)), (double)most);
    said[LBP_P_AR_4] = (float)fmin(fmax(0, lbp_predict_ar(v, n, 4, f->ahead)), (double)most);
    said[LBP_P_DAY] = f->day[f->day_slot];
    said[LBP_P_BLEND] = blend(said);
    f->then[f->newest] = f->moment;
    said[LBP_P_ANALOGUE] = analogue(f, said[LBP_P_BLEND]);
    said[LBP_P_MIX] = lbp_mix_say(&f->mix, said);
}

void lbp_forecast_add(struct lbp_forecast *f, int64_t at_ns, double value)
{
    if (!(isfinite(value) && value >= 0) || (f->samples > 0 && at_ns <= f->at_ns))
        return;
    if (f->samples > 0 &&
        at_ns - f->at_ns > LBP_FORECAST_GAP_NS) /* who erred how much still counts */
        f->n = f->nlevel = f->nsaid = f->seen = 0;
    for (int i = 0; i < 3; i++)
        f->smooth[i] =
            f->n == 0 ? (float)value : f->smooth[i] + smoothing[i] * ((float)value - f->smooth[i]);
    lbp_moment_add(&f->moment, f->seen, f->ahead, (float)value);
    f->seen += f->seen < UINT32_MAX;
    f->ring[f->head] = (float)value;
    f->head = (f->head + 1) % LBP_FORECAST_RING;
    f->n += f->n < LBP_FORECAST_RING;
    f->interval_ns = f->samples > 0 ? at_ns - f->at_ns : 0;
    f->first_ns = f->samples > 0 ? f->first_ns : at_ns;
    f->at_ns = at_ns;
    f->samples++;
    judge(f);
    add_day(f, at_ns, value);
    add_level(f, at_ns, value);
    predict(f);
}

bool lbp_forecast_one(const struct lbp_forecast *f, enum lbp_predictor p, double *ret_value,
                      double *ret_error)
{
    if ((unsigned)p >= LBP_PREDICTORS || f->nsaid == 0 || isnan(f->said[f->newest][p]))
        return false;
    *ret_value = (double)f->said[f->newest][p];
    *ret_error = (double)f->error[p];
    return true;
}

bool lbp_forecast_ask(const struct lbp_forecast *f, struct lbp_forecast_answer *ret)
{
    struct lbp_forecast_answer a = {.best = f->best};

    if (!lbp_forecast_one(f, a.best, &a.value, &a.error) &&
        !lbp_forecast_one(f, a.best = LBP_P_LAST, &a.value, &a.error))
        return false;
    /* changes that come by chance: the time seen over the changes seen in it, the present level's among it */
    a.stable_ns = (f->stayed_ns + (double)(f->at_ns - f->level_ns) + PRIOR_NS) / (f->changes + 1);
    /* Who has erred least before a change knows it too late; where levels last, the new one is what will be. */
    if (f->changes > 0 && f->nlevel < f->ahead &&
        a.stable_ns > LASTING * f->ahead * (double)f->interval_ns) {
        a.best = LBP_P_LEVEL;
        (void)lbp_forecast_one(f, a.best, &a.value, &a.error);
    }
    *ret = a;
    return true;
}
