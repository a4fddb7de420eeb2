/* SPDX-License-Identifier: BSD-3-Clause */
/* An ended step as the database keeps it. */
#ifndef LBD_CONTROLLER_RECORD_H
#define LBD_CONTROLLER_RECORD_H

#include "lbd/controller/store.h"
#include "wire/job.h"

/* Put what the lbd of that instance has told; its end is stamped here.  Returns the store's ticket. */
uint64_t lbd_record_job(struct lbd_store *store, uint64_t instance, const struct lbw_job *job);

#endif
