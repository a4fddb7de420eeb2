/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What became of the wish to lay out a step's tasks: found by the plugin in srun, handed on by name in the step's environment
 * and in the balancer's figures, counted by the controller.  A user may write that environment: what is not known here is none.
 */
#ifndef LBW_PLACEMENT_H
#define LBW_PLACEMENT_H

enum lbw_placement {
    LBW_PLACE_NOT_ASKED, /* the site's rule, or the user's own options, leave it to Slurm */
    LBW_PLACE_OURS,
    LBW_PLACE_AS_GOOD, /* Slurm's layout was kept: ours would not be better by more than the noise */
    /* the rest are failures */
    LBW_PLACE_NO_LBD,         /* nobody at the socket, or garbage */
    LBW_PLACE_DEADLINE,       /* lbd did not answer in time */
    LBW_PLACE_NO_RANKING,     /* lbd has never had one: it has not reached the controller yet */
    LBW_PLACE_STALE_RANKING,  /* its ranking is older than 300 s: the controller is away */
    LBW_PLACE_UNKNOWN_HOSTS,  /* of some hosts nothing younger than 300 s is known */
    LBW_PLACE_NO_ROOM,        /* the tasks do not fit */
    LBW_PLACE_NO_IDLE_HOSTS,  /* slurmctld names none in time */
    LBW_PLACE_TOO_LARGE,      /* more than can be laid out within the deadline */
    LBW_PLACE_NOT_UNDERSTOOD, /* what Slurm says of the job's hosts */
    LBW_PLACEMENTS
};
#define LBW_PLACE_FAILURES LBW_PLACE_NO_LBD /* the first of them */

/* A word of small letters; static. */
const char *lbw_placement_name(enum lbw_placement what);

/* LBW_PLACE_NOT_ASKED for NULL and for what is no name. */
enum lbw_placement lbw_placement_of(const char *name);

#endif
