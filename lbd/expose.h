/* SPDX-License-Identifier: BSD-3-Clause */
/* Bringing what the parts of lbd know into the metrics. */
#ifndef LBD_EXPOSE_H
#define LBD_EXPOSE_H

#include "lbd/metrics/metrics.h"
#include "lbd/view.h"

/* Set every metric there is data for.  On the loop's thread. */
void lbd_expose(struct lbd_metrics *m, const struct lbd_view *v);

/* Of these the controller's alone. */
void lbd_expose_controller(struct lbd_metrics *m, struct lbd_controller *c);

#endif
