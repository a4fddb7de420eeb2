/* SPDX-License-Identifier: BSD-3-Clause */
/* A message of a pipelined pass, from one rank to the next. */
#ifndef LBC_MESSAGE_H
#define LBC_MESSAGE_H

#include <stdbool.h>

#include "libclient/step.h"

/* Begin to send or receive (NULL: nothing).  When that fails the context has failed. */
void lbc_message_start(struct lb_loop *l, struct lbc_exchange *e);

/* Begin to send; the CPU time that it takes is added to the step's. */
void lbc_message_send(struct lb_loop *l, struct lbc_exchange *e);

/* Add this thread's CPU time since then to a cost of the step's. */
void lbc_message_took(struct lb_loop *l, struct lbc_cost *cost, int64_t since_cpu_ns);

/* Whether it is through; NULL is, and one that failed. */
bool lbc_message_is_through(struct lb_loop *l, struct lbc_exchange *e);

#endif
