/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In salloc and sbatch, before anything is submitted.  What was asked for here is the default of
 * the job's steps: Slurm puts the option into the job's environment, where each srun finds it.
 */
#include "slurm_plugin/plugin.h"

void lbs_allocator_post_opt(void)
{
    lbs_options_check();
}
