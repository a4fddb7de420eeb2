/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's speed out of noisy measurements. */
#include "policy/filter.h"

#include <math.h>

/* The first window of elapsed time, so that something is known soon; and later ones: several periods of a quota. */
#define FIRST_NS 20e6
#define WINDOW_NS 45e6
/* A steady speed is the mean of so much at most. */
#define HISTORY_NS 1500e6
/* By so much is a rank's progress ahead or behind in a window, before it was measured; and at least. */
#define NOISE_NS 3e6
#define NOISE_MIN 2e5
/* A window that is off by less than so many times that, and this ratio more, is noise and no change. */
#define BAND 3.0
#define BAND_MIN 0.02

void lbp_filter_init(struct lbp_filter *f, double fixed)
{
    *f = (struct lbp_filter){.state = LBP_FILTER_EMPTY, .fixed = fixed, .noise_ns = NOISE_NS};
}

static enum lbp_filter_state next_state(enum lbp_filter_state s, int direction)
{
    if (direction == 0)
        return LBP_FILTER_STEADY;
    if (direction < 0)
        return s == LBP_FILTER_FALL1 || s == LBP_FILTER_FALL2 ? LBP_FILTER_FALL2 : LBP_FILTER_FALL1;
    if (s == LBP_FILTER_RISE1)
        return LBP_FILTER_RISE2;
    return s == LBP_FILTER_RISE2 || s == LBP_FILTER_RISE3 ? LBP_FILTER_RISE3 : LBP_FILTER_RISE1;
}

/* beyond: how far the measurement is outside the noise, in bands, >= 1. */
static double history_weight(struct lbp_filter *f, double wall, double beyond)
{
    switch (f->state) {
    case LBP_FILTER_FALL1:
        return fmax(0.1, 0.5 / beyond);
    case LBP_FILTER_RISE2:
        return 0.5;
    case LBP_FILTER_FALL2:
    case LBP_FILTER_RISE3:
        f->history_ns = wall;
        return 0.1;
    case LBP_FILTER_RISE1:
        return 1.0;
    case LBP_FILTER_EMPTY:
    case LBP_FILTER_STEADY:
        break;
    }
    f->history_ns = fmin(f->history_ns, HISTORY_NS - wall);
    f->history_ns = fmax(f->history_ns, 0) + wall;
    return 1 - wall / f->history_ns;
}

static double band(const struct lbp_filter *f, double wall)
{
    return BAND_MIN + BAND * f->noise_ns / wall;
}

/* The last window was far off and half believed, but this one is as those before it again: then it is one of many. */
static void forget_outlier(struct lbp_filter *f, double x, double wall)
{
    double off = fabs(x - f->before), history;

    if (f->before > 0 && off <= band(f, wall) * f->before && off < fabs(x - f->value)) {
        history = fmax(fmin(f->before_ns, HISTORY_NS - f->outlier_ns), 0);
        f->history_ns = history + f->outlier_ns;
        f->value = (f->before * history + f->outlier * f->outlier_ns) / f->history_ns;
        f->state = LBP_FILTER_STEADY;
    }
    f->before = 0;
}

/* One window of wall ns with rate x. */
static bool take_window(struct lbp_filter *f, double x, double wall)
{
    double error, h, value, history_ns;
    int direction = 0;

    if (f->state == LBP_FILTER_EMPTY) {
        f->value = x;
        f->history_ns = wall;
        f->state = LBP_FILTER_STEADY;
        return false; /* nothing was known that could have changed */
    }
    if (f->fixed < 0)
        forget_outlier(f, x, wall);
    value = f->value;
    history_ns = f->history_ns;
    error = f->value > 0 ? (x - f->value) / f->value : (x > 0 ? 1 : 0);
    if (fabs(error) > band(f, wall))
        direction = error < 0 ? -1 : 1;
    else /* the value is uncertain too, when its history is short */
        f->noise_ns += 0.1 * (fmax(fabs(error) * wall, NOISE_MIN) - f->noise_ns);
    f->state = next_state(f->state, direction);
    h = f->fixed >= 0 ? f->fixed : history_weight(f, wall, fabs(error) / band(f, wall));
    f->value = (1 - h) * x + h * f->value;
    if (f->state == LBP_FILTER_FALL1 || f->state == LBP_FILTER_RISE2) {
        f->before = value;
        f->before_ns = history_ns;
        f->outlier = x;
        f->outlier_ns = wall;
    }
    return direction != 0;
}

bool lbp_filter_add(struct lbp_filter *f, double work, int64_t wall_ns)
{
    double full = f->state == LBP_FILTER_EMPTY ? FIRST_NS : WINDOW_NS;
    bool trend;

    if (wall_ns <= 0 || !(work >= 0) || !isfinite(work))
        return false;
    f->work += work;
    f->wall += (double)wall_ns;
    if (f->wall < full)
        return false;
    trend = take_window(f, f->work / f->wall, f->wall);
    f->work = 0;
    f->wall = 0;
    return trend;
}

bool lbp_filter_flush(struct lbp_filter *f)
{
    bool trend;

    if (f->state == LBP_FILTER_EMPTY || f->wall <= 0)
        return false;
    trend = take_window(f, f->work / f->wall, f->wall);
    f->work = 0;
    f->wall = 0;
    return trend;
}

bool lbp_filter_known(const struct lbp_filter *f)
{
    return f->state != LBP_FILTER_EMPTY;
}

double lbp_filter_value(const struct lbp_filter *f)
{
    return f->value;
}

double lbp_filter_error(const struct lbp_filter *f)
{
    return f->history_ns > 0 ? fmin(1, f->noise_ns / f->history_ns) : 1;
}
