/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of a list of claims. */
#ifndef LBW_CLAIMS_H
#define LBW_CLAIMS_H

#include "wire/flat.h"
#include "wire/local.h"

void lbw_claims_write(struct lbw_writer *w, const struct lbw_local_claims *claims);
size_t lbw_claims_fields(const struct lbw_local_claims *claims); /* beside those that each has */
bool lbw_claims_valid(const struct lbw_local_claims *claims);
/* What is wrong sets r->bad. */
void lbw_claims_read(struct lbw_reader *r, struct lbw_local_claims *ret_claims);

#endif
