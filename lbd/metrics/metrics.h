/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of the metrics of schema/metrics.json, and the page made of them.  Thread-safe: the loop sets, the web server's thread
 * renders.  A metric that was never set is not on the page.
 */
#ifndef LBD_METRICS_METRICS_H
#define LBD_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lbd/metrics/catalogue.h"

#define LBD_METRIC_LABELS_MAX 6
#define LBD_METRIC_VALUE_MAX 256 /* bytes of a label's value that are kept */
#define LBD_METRIC_SERIES_MAX 8192

enum lbd_metric_type { LBD_TYPE_GAUGE, LBD_TYPE_COUNTER, LBD_TYPE_HISTOGRAM };

struct lbd_metric_info {
    const char *name;
    enum lbd_metric_type type;
    const char *help, *unit;
    int nlabels;
    const char *label[LBD_METRIC_LABELS_MAX];
    int nbuckets;
    const double *bucket; /* upper bounds, ascending; one more without bound follows */
};

extern const struct lbd_metric_info lbd_metric_info[LBD_METRICS];

struct lbd_metrics;

struct lbd_metrics *lbd_metrics_create(void);    /* NULL: out of memory */
void lbd_metrics_destroy(struct lbd_metrics *m); /* NULL is fine */

/*
 * Set the value of a series.  labels [nlabels of the metric]: any bytes, copied; what is no UTF-8 becomes '?'.
 * What cannot be kept (too many series, out of memory) is left out.
 */
void lbd_metrics_set(struct lbd_metrics *m, enum lbd_metric metric, const char *const *labels,
                     double value);

/* The same for a histogram: counts [nbuckets + 1], not cumulative. */
void lbd_metrics_set_histogram(struct lbd_metrics *m, enum lbd_metric metric,
                               const char *const *labels, const uint64_t *counts, double sum);

/* Forget the series whose first labels [n] are these. */
void lbd_metrics_drop(struct lbd_metrics *m, enum lbd_metric metric, const char *const *labels,
                      int n);

/*
 * The page, classic text or OpenMetrics; *ret_text is to be freed.
 * Returns 0 or -ENOMEM.
 */
int lbd_metrics_render(struct lbd_metrics *m, bool openmetrics, char **ret_text, size_t *ret_n)
    __attribute__((warn_unused_result));

/* Values that had no room: more than LBD_METRIC_SERIES_MAX series, or no memory. */
uint64_t lbd_metrics_left_out(struct lbd_metrics *m);

/* Pages rendered so far. */
uint64_t lbd_metrics_pages(struct lbd_metrics *m);

#endif
