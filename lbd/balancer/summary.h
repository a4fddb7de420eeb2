/* SPDX-License-Identifier: BSD-3-Clause */
/* What a step's balancing came to, in a few lines for its user (--lb=...,report): rank 0 prints them at the end. */
#ifndef LBD_SUMMARY_H
#define LBD_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

struct lbd_loops;

/* The name of a rank's host; borrowed. */
typedef const char *lbd_summary_host(const void *arg, uint32_t rank);

/*
 * loops[in]  NULL is fine: nothing to tell
 * text[out] [size], ended by a NUL; "" when there is nothing to tell: no loop was closed.  What does not fit is left out by
 * whole lines.
 */
void lbd_summary(const struct lbd_loops *loops, uint32_t nranks, lbd_summary_host *host,
                 const void *arg, const char *policy, char *text, size_t size);

#endif
