/* SPDX-License-Identifier: BSD-3-Clause */
/* What a step's balancing came to, in a few lines for its user (--lb=...,report): rank 0 prints them at the end. */
#ifndef LBD_SUMMARY_H
#define LBD_SUMMARY_H

#include <stddef.h>

struct lbd_job;

/*
 * text[out] [size], ended by a NUL; "" when there is nothing to tell: no loop was closed.  What does not fit is left out by
 * whole lines.
 */
void lbd_summary(const struct lbd_job *job, const char *policy, char *text, size_t size);

#endif
