/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl explain: what a job step's balancer decided and why, in plain words. */
#ifndef LBD_CTL_EXPLAIN_H
#define LBD_CTL_EXPLAIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Ask lbd at path page by page about `step` ("JOBID[.STEP]") and print all to out.
 * Returns 0, 1 when lbd refused (told on stderr), or the negative errno of asking.
 */
int lbd_explain_ask(const char *path, const char *step, bool json, FILE *out);

/* Print an answer of lbd/decisions.h, with all its decisions. */
void lbd_explain_print(FILE *out, const json_t *answer);

#endif
