/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in quotes, as CSV and JSON have it. */
#ifndef SIM_QUOTED_H
#define SIM_QUOTED_H

#include <stdio.h>

#include "sim/options.h"

/* text[in]  may name a file, and so have any byte in it; what is no UTF-8 or a control character becomes a question mark */
void sim_print_quoted(FILE *out, enum sim_output form, const char *text);

#endif
