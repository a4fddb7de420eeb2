/* SPDX-License-Identifier: BSD-3-Clause */
/* The hooks that Slurm calls, handed on by context.  None of them can fail. */
#include "slurm_plugin/plugin.h"

SPANK_PLUGIN(lb, 1)

struct lbs_plugin lbs_plugin;

/* Wrong arguments switch the plugin off: a typing mistake of the site must not cost anybody a job.
 */
int slurm_spank_init(spank_t spank, int argc, char **argv)
{
    spank_context_t context = spank_context();
    struct lbx_error err;

    if (context == S_CTX_JOB_SCRIPT)
        return ESPANK_SUCCESS;
    if (lbs_config_parse(argc, argv, &lbs_plugin.config, &err) == 0) {
        lbs_plugin.off = lbs_config_is_off(&lbs_plugin.config);
    } else {
        lbs_plugin.off = true;
        if (context == S_CTX_REMOTE)
            slurm_verbose("lb: switched off: plugstack.conf, line of lb.so: %s", err.text);
        else
            slurm_spank_log("lb: switched off: plugstack.conf, line of lb.so: %s", err.text);
    }
    lbs_options_register(spank);
    if (context == S_CTX_LOCAL && !lbs_plugin.off)
        lbs_local_init();
    return ESPANK_SUCCESS;
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
    (void)spank, (void)argc, (void)argv;
    if (spank_context() == S_CTX_LOCAL)
        lbs_local_post_opt();
    else if (spank_context() == S_CTX_ALLOCATOR)
        lbs_allocator_post_opt();
    return ESPANK_SUCCESS;
}

int slurm_spank_user_init(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    if (spank_context() == S_CTX_REMOTE && !lbs_plugin.off)
        lbs_remote_user_init(spank);
    return ESPANK_SUCCESS;
}

int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv)
{
    (void)spank, (void)argc, (void)argv;
    if (spank_context() == S_CTX_REMOTE)
        lbs_remote_task_post_fork();
    return ESPANK_SUCCESS;
}

int slurm_spank_task_exit(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    if (spank_context() == S_CTX_REMOTE)
        lbs_remote_task_exit(spank);
    return ESPANK_SUCCESS;
}

int slurm_spank_exit(spank_t spank, int argc, char **argv)
{
    (void)spank, (void)argc, (void)argv;
    if (spank_context() == S_CTX_REMOTE)
        lbs_remote_exit();
    return ESPANK_SUCCESS;
}
