/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a host's load is expected to be: its forecast, fed by its reports and, at first, by what the database remembers.  All
 * calls on the loop's thread.
 */
#ifndef LBD_CONTROLLER_OUTLOOK_H
#define LBD_CONTROLLER_OUTLOOK_H

#include <stdint.h>

#include "lbd/controller/store.h"
#include "policy/forecast.h"
#include "wire/node.h"

#define LBD_OUTLOOK_AHEAD_NS (60 * LBX_NS_PER_S) /* a forecast is the mean over so long */

struct lbd_outlook {
    struct lbp_forecast forecast;
    uint64_t instance, samples; /* the newest sample that was taken in, and whose */
};

/* interval_ns: between samples.  cpus: of the host; a change of a twentieth of it matters.  NULL: out of memory. */
struct lbd_outlook *lbd_outlook_create(int64_t interval_ns, double cpus);
void lbd_outlook_destroy(struct lbd_outlook *o); /* NULL is fine */

/*
 * A report of the host's lbd `instance`, taken at at_ns since 1970.  Reports come in the order of their times; when the clock was set
 * back by more than a minute, what is known begins anew.
 */
void lbd_outlook_report(struct lbd_outlook *o, uint64_t instance, int64_t at_ns,
                        const struct lbw_node_report *r);

/* Records of the host, oldest first: means of hours for the time of day, or raw samples, put before the first reports. */
void lbd_outlook_remember(struct lbd_outlook *o, enum lbd_resolution resolution,
                          const struct lbd_db_point *point, size_t n);

/* What a task and a job get of the host in the time to come. */
struct lbd_prospect {
    double core_speed, capacity, workload_ratio;
    int64_t stable_ns;
};

/*
 * o: NULL, or one that knows nothing yet: as the report says.  at_s: now, since 1970; a forecast that is too old is not used
 * either.
 */
void lbd_outlook_apply(const struct lbd_outlook *o, const struct lbw_node_report *r, int64_t at_s,
                       struct lbd_prospect *ret);

#endif
