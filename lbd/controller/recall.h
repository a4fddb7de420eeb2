/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the database what it remembers of a host's load, so that a forecast does not begin with nothing. */
#ifndef LBD_CONTROLLER_RECALL_H
#define LBD_CONTROLLER_RECALL_H

#include <stdint.h>

#include "lbd/controller/store.h"

/*
 * Ask for the hours of the last two weeks and for the raw reports of the last 15 minutes.  take: called for each that comes, with
 * data and index as given, from the loop's thread and not before this returns; points borrowed during the call; not at all
 * when there is nothing.  data must live as long as the store.
 */
void lbd_recall_start(struct lbd_store *store, const char *host, void *data, uint32_t index,
                      void (*take)(void *data, uint32_t index, enum lbd_resolution resolution,
                                   const struct lbd_db_point *point, size_t n));

#endif
