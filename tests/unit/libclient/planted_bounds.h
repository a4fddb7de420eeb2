/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted failure: ranks that bring bounds together without a vote before it; test_bounds must see it. */
#ifndef PLANTED_BOUNDS_H
#define PLANTED_BOUNDS_H

#include "libclient/vote.h"

#define lbc_vote_enter(l) ((void)(l), 0)
#define lbc_vote_end(ctx) ((void)(ctx), 0)

#endif
