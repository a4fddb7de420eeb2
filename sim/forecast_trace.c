/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forecast-trace: runs policy/forecast over recorded load, one sample after the other, and says how it did against the last value
 * and against each single predictor.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/forecast.h"
#include "sim/load.h"

#define LEAST_CHANGE_CPUS .1

struct score {
    double chosen, single[LBP_PREDICTORS];
    long samples;
    long answered[LBP_PREDICTORS]; /* times that it was the chosen one */
};

/* Each answer against the mean of what came. */
static int run(const struct sim_load *t, unsigned ahead, struct score *s)
{
    struct lbp_forecast f;

    lbp_forecast_init(&f, ahead, LEAST_CHANGE_CPUS);
    for (size_t i = 0; i + ahead < t->n; i++) {
        struct lbp_forecast_answer a;
        double mean = 0, single, error;

        lbp_forecast_add(&f, (int64_t)(t->interval_s * 1e9 * (double)(i + 1)), t->cpus[i]);
        for (unsigned k = 1; k <= ahead; k++)
            mean += t->cpus[i + k] / ahead;
        if (!lbp_forecast_ask(&f, &a))
            continue;
        s->samples++;
        s->chosen += fabs(a.value - mean);
        s->answered[a.best]++;
        for (int p = 0; p < LBP_PREDICTORS; p++)
            s->single[p] += lbp_forecast_one(&f, (enum lbp_predictor)p, &single, &error)
                                ? fabs(single - mean)
                                : INFINITY; /* one that cannot always answer is no rival */
    }
    return s->samples > 0 ? 0 : -ENODATA;
}

static void print(const char *path, const struct sim_load *t, unsigned ahead, const struct score *s,
                  bool all)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    int best = 0, usual = 0;

    for (int p = 0; p < LBP_PREDICTORS; p++) {
        if (p != LBP_P_BLEND && p != LBP_P_MIX) /* they are made of single ones */
            best = s->single[p] < s->single[best] ? p : best;
        usual = s->answered[p] > s->answered[usual] ? p : usual;
    }
    printf("forecast trace=%.*s interval_s=%g ahead_s=%g over_last_value=%.3f over_hindsight=%.3f "
           "hindsight_over_last_value=%.3f mae_cpus=%.4f samples=%ld "
           "hindsight=\"%s\" mostly=\"%s\"\n",
           (int)strcspn(name, "."), name, t->interval_s, ahead * t->interval_s,
           s->chosen / s->single[LBP_P_LAST], s->chosen / s->single[best],
           s->single[best] / s->single[LBP_P_LAST], s->chosen / (double)s->samples, s->samples,
           lbp_predictor_name((enum lbp_predictor)best),
           lbp_predictor_name((enum lbp_predictor)usual));
    for (int p = 0; p < LBP_PREDICTORS && all; p++)
        fprintf(stderr, "  %-12s %.4f cores, answered %ld times\n",
                lbp_predictor_name((enum lbp_predictor)p), s->single[p] / (double)s->samples,
                s->answered[p]);
}

static int number(const char *arg, const char *option, double *ret)
{
    size_t n = strlen(option);
    char *end;
    double v;

    if (strncmp(arg, option, n) != 0)
        return -ENOENT;
    v = strtod(arg + n, &end);
    if (*end || end == arg + n || !(v > 0))
        return -EINVAL;
    *ret = v;
    return 0;
}

int main(int argc, char **argv)
{
    double interval_s = 10, ahead_s = 60;
    int first = 1, failed = 0;
    bool all = false;

    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--all") == 0)
            all = true;
        else if (number(argv[first], "--interval=", &interval_s) < 0 &&
                 number(argv[first], "--ahead=", &ahead_s) < 0)
            first = argc;
    }
    if (first >= argc) {
        fprintf(stderr,
                "Usage: forecast-trace [--interval=S] [--ahead=S] [--all] TRACE...\n"
                "--interval: of a sample (10 s);  --ahead: what is forecast is the mean "
                "over so long (60 s), at most %d samples\n"
                "--all: each predictor's error, on stderr\n",
                LBP_FORECAST_AHEAD);
        return 2;
    }
    for (int i = first; i < argc; i++) {
        struct score s = {0};
        struct sim_load t = {0};
        int rc = sim_load_read(argv[i], interval_s, &t);
        unsigned ahead = 0;

        if (rc == 0) {
            ahead = (unsigned)fmin(fmax(1, floor(ahead_s / t.interval_s + .5)), LBP_FORECAST_AHEAD);
            rc = run(&t, ahead, &s);
        }
        if (rc < 0) {
            fprintf(stderr, "forecast-trace: %s: %s\n", argv[i], strerror(-rc));
            failed = 1;
        } else {
            print(argv[i], &t, ahead, &s, all);
        }
        sim_load_fini(&t);
    }
    return failed;
}
