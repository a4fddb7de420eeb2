/* SPDX-License-Identifier: BSD-3-Clause */
/* A pass through a loop: handing out iterations, hooks, waiting, and the end that all agree on. */
#ifndef LBC_PASS_H
#define LBC_PASS_H

#include <stdint.h>

#include "libclient/loop.h"

/* End a pass that the program left early: nothing more is handed out, but the others are waited
 * for. */
void lbc_pass_abandon(struct lb_loop *l);

#endif
