/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of the wish to lay out a step's tasks: its names. */
#include "wire/placement.h"

#include <string.h>

static const char *const names[LBW_PLACEMENTS] = {
    "not_asked",     "ours",          "as_good", "no_lbd",        "deadline",  "no_ranking",
    "stale_ranking", "unknown_hosts", "no_room", "no_idle_hosts", "too_large", "not_understood"};

const char *lbw_placement_name(enum lbw_placement what)
{
    return names[what];
}

enum lbw_placement lbw_placement_of(const char *name)
{
    for (int i = 0; name && i < LBW_PLACEMENTS; i++)
        if (strcmp(names[i], name) == 0)
            return (enum lbw_placement)i;
    return LBW_PLACE_NOT_ASKED;
}
