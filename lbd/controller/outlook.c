/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host's load is expected to be. */
#include "lbd/controller/outlook.h"

#include <math.h>
#include <stdlib.h>

#include "common/clock.h"
#include "policy/index.h"

#define CHANGE_RATIO .05 /* of the host: what matters to a job */
#define CHANGE_LEAST .05 /* cores: less is what daemons do */
#define OLD_S (2 * LBD_OUTLOOK_AHEAD_NS / LBX_NS_PER_S)
#define SET_BACK_NS (60 * LBX_NS_PER_S) /* a clock that is earlier than it was by this was set */
#define LEAST_SAMPLES 6                 /* before that the report is as good */
#define LATE_SAMPLES 12 /* with more of its own, what is remembered comes too late */
#define SLOT_S (86400 / LBP_FORECAST_SLOTS)

struct lbd_outlook *lbd_outlook_create(int64_t interval_ns, double cpus)
{
    struct lbd_outlook *o = calloc(1, sizeof(*o));
    int64_t ahead = LBD_OUTLOOK_AHEAD_NS / (interval_ns > 0 ? interval_ns : 1);

    if (o)
        lbp_forecast_init(&o->forecast,
                          ahead < LBP_FORECAST_AHEAD ? (unsigned)ahead : LBP_FORECAST_AHEAD,
                          fmax(CHANGE_LEAST, CHANGE_RATIO * cpus));
    return o;
}

void lbd_outlook_destroy(struct lbd_outlook *o)
{
    free(o);
}

/* Of what is known the times of day alone. */
static void begin_anew(struct lbp_forecast *f)
{
    struct lbp_forecast was = *f;

    lbp_forecast_init(f, was.ahead, was.least_change);
    for (int slot = 0; slot < LBP_FORECAST_SLOTS; slot++)
        lbp_forecast_set_day(f, slot, (double)was.day[slot]);
}

void lbd_outlook_report(struct lbd_outlook *o, uint64_t instance, int64_t at_ns,
                        const struct lbw_node_report *r)
{
    if (r->samples == 0 || (o->instance == instance && o->samples == r->samples))
        return;
    o->instance = instance;
    o->samples = r->samples;
    if (at_ns < o->forecast.at_ns - SET_BACK_NS) /* else nothing would be learned until then */
        begin_anew(&o->forecast);
    lbp_forecast_add(&o->forecast, at_ns, r->others_cpus);
}

static void remember_days(struct lbd_outlook *o, const struct lbd_db_point *point, size_t n)
{
    double sum[24] = {0};
    int count[24] = {0};

    for (size_t i = 0; i < n; i++) {
        int hour = (int)(point[i].at_s % 86400 / 3600);

        sum[hour] += point[i].external_cpus;
        count[hour]++;
    }
    for (int slot = 0; slot < LBP_FORECAST_SLOTS; slot++) {
        int hour = slot * SLOT_S / 3600;

        if (count[hour] > 0)
            lbp_forecast_set_day(&o->forecast, slot, sum[hour] / count[hour]);
    }
}

/* Put before the samples that have come meanwhile. */
static void remember_raw(struct lbd_outlook *o, const struct lbd_db_point *point, size_t n)
{
    struct lbp_forecast *f = &o->forecast, now = *f;

    if (now.samples > LATE_SAMPLES)
        return;
    begin_anew(f);
    for (size_t i = 0; i < n; i++)
        if (now.samples == 0 || point[i].at_s < now.first_ns / LBX_NS_PER_S)
            lbp_forecast_add(f, point[i].at_s * LBX_NS_PER_S, point[i].external_cpus);
    for (unsigned i = 0; i < now.n; i++)
        lbp_forecast_add(
            f, now.first_ns + (now.at_ns - now.first_ns) / (now.n > 1 ? now.n - 1 : 1) * i,
            (double)now.ring[(now.head + LBP_FORECAST_RING - now.n + i) % LBP_FORECAST_RING]);
}

void lbd_outlook_remember(struct lbd_outlook *o, enum lbd_resolution resolution,
                          const struct lbd_db_point *point, size_t n)
{
    if (resolution == LBD_1H)
        remember_days(o, point, n);
    else if (resolution == LBD_RAW)
        remember_raw(o, point, n);
}

void lbd_outlook_apply(const struct lbd_outlook *o, const struct lbw_node_report *r, int64_t at_s,
                       struct lbd_prospect *ret)
{
    struct lbd_prospect p = {r->core_speed, r->capacity, r->workload_ratio, 0};
    struct lbp_forecast_answer a;
    double was, is;

    *ret = p;
    if (!o || o->forecast.samples < LEAST_SAMPLES ||
        at_s - o->forecast.at_ns / LBX_NS_PER_S > OLD_S || !lbp_forecast_ask(&o->forecast, &a))
        return;
    was = lbp_index_task_share(r->cpus, r->external_cpus + r->placed_cpus);
    is = lbp_index_task_share(r->cpus, a.value + r->placed_cpus);
    p.core_speed *= is / was;
    p.workload_ratio = fmax(1, p.workload_ratio * was / is);
    was = lbp_index_job_cpus(r->cpus, r->external_cpus + r->placed_cpus);
    is = lbp_index_job_cpus(r->cpus, a.value + r->placed_cpus);
    p.capacity *= is / was;
    p.stable_ns = a.stable_ns < 1e18 ? (int64_t)a.stable_ns : 0;
    *ret = p;
}
