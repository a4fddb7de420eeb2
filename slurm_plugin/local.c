/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In srun, before anything is submitted.  The option travels to the hosts by itself, and so does
 * SLURM_LB: Slurm hands on every variable SLURM_*, also with --export=NONE.
 */
#include "slurm_plugin/plugin.h"

void lbs_local_post_opt(void)
{
    lbs_options_check();
}
