/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In slurmstepd: tells the tasks their policy and what this host is worth, tells lbd that they
 * begin and end, and keeps the step's balancer on the host of task 0.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "slurm_plugin/ask.h"
#include "slurm_plugin/balancer.h"
#include "slurm_plugin/plugin.h"
#include "slurm_plugin/rules.h"
#include "wire/local.h"

#define STEP_SPECIAL 0xfffffff0u /* from here on: batch script, extern, interactive, pending */
#define TASKS_MOST (1 << 20)     /* as of lb-balancer */
#define HANDED_ON 5
#define HANDED_ON_MAX 320

/* What this slurmstepd's step came to; see struct lbs_plugin for why it is static. */
static struct {
    bool known; /* a step with tasks, of which lbd is told */
    bool on;    /* it is balanced */
    struct lbs_lbd lbd;
    bool begun;       /* lbd was told that tasks begin */
    bool interrupted; /* a task was ended by a signal */
    enum lbw_placement placement;
    bool heterogeneous;
    uint32_t jobid, stepid, ntasks, nexited;
    struct lbs_balancer balancer;
    char trouble[LBX_ERROR_TEXT_MAX]; /* why it was not started; "" when it was */
} step;

/* What was asked for: the option, else SLURM_LB of the step's environment. */
static struct lbs_choice asked(spank_t spank)
{
    struct lbs_choice choice = lbs_plugin.option;
    char text[LBS_TEXT_MAX];
    struct lbx_error err;

    if (choice.wish == LBS_UNSET &&
        spank_getenv(spank, "SLURM_LB", text, sizeof(text)) == ESPANK_SUCCESS &&
        lbs_choice_parse(text, &choice, &err) < 0)
        /* judged by srun before: a wrong one comes from a host without the plugin */
        slurm_verbose("lb: SLURM_LB is ignored: %s", err.text);
    return choice;
}

/*
 * Precedence: the site's limits, the option, SLURM_LB, the account's section of policy.conf, the partition's, the site's
 * keys there, policy= of the plugin's line.  ret_place[out]  whether shares follow the ranking
 */
static struct lbs_choice choose(spank_t spank, int64_t deadline_ns, bool *ret_place)
{
    char partition[LBW_LOCAL_NAME_MAX] = "", account[LBW_LOCAL_NAME_MAX] = "";
    struct lbs_choice choice = asked(spank);
    struct lbw_local_rule rule;
    struct lbx_error err;
    int64_t unasked_until_ns;

    *ret_place = true;
    if (choice.wish == LBS_OFF)
        return choice;
    (void)spank_getenv(spank, "SLURM_JOB_PARTITION", partition, sizeof(partition));
    (void)spank_getenv(spank, "SLURM_JOB_ACCOUNT", account, sizeof(account));
    unasked_until_ns = lbx_clock_mono_ns() + lbs_plugin.config.unasked_ns;
    if (choice.wish == LBS_UNSET && deadline_ns > unasked_until_ns)
        deadline_ns = unasked_until_ns;
    if (lbs_ask_rule(&step.lbd, partition, account, deadline_ns, &rule) == 0) {
        *ret_place = rule.place;
        if (lbs_rules_apply(&rule, &choice, &err) < 0) { /* it came round srun's own check */
            slurm_verbose("lb: left alone: %s", err.text);
            choice.wish = LBS_OFF;
        }
    }
    if (choice.wish == LBS_UNSET && lbs_plugin.config.policy[0] != '\0' &&
        lbs_choice_parse(lbs_plugin.config.policy, &choice, &err) < 0)
        slurm_verbose("lb: the site's policy is ignored: %s", err.text);
    return choice;
}

static void set_task_env(spank_t spank, const char *name, const char *value)
{
    if (spank_setenv(spank, name, value, 1) != ESPANK_SUCCESS)
        slurm_verbose("lb: %s could not be set", name);
}

/* Variables that a step within a step inherits, and which speak of the outer one's balancer and
 * host. */
static void unset_stale(spank_t spank)
{
    static const char *const name[] = {"LB_BALANCER_DIR", "LB_HOST_SPEED"};

    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
        (void)spank_unsetenv(spank, name[i]);
}

/* The user asked for no layout: steps within the step must not take ours for their own. */
static void unset_layout(spank_t spank)
{
    static const char *const name[] = {LBS_PLACED, "SLURM_DISTRIBUTION",
                                       "SLURM_ARBITRARY_NODELIST"};
    char text[32];

    if (spank_getenv(spank, LBS_PLACEMENT, text, sizeof(text)) == ESPANK_SUCCESS)
        step.placement = lbw_placement_of(text);
    (void)spank_unsetenv(spank, LBS_PLACEMENT);
    if (spank_getenv(spank, LBS_PLACED, text, sizeof(text)) != ESPANK_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
        (void)spank_unsetenv(spank, name[i]);
}

static void tell_host_speed(spank_t spank, int64_t deadline_ns)
{
    struct lbw_local_host h;
    char text[96];

    if (lbs_ask_self(&step.lbd, deadline_ns, &h) < 0)
        return;
    snprintf(text, sizeof(text), "%.6g:%.6g:%.6g", h.core_speed, h.capacity, h.hardware);
    if (h.stable_ns > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ":%.6g",
                 (double)h.stable_ns / 1e9);
    set_task_env(spank, "LB_HOST_SPEED", text);
}

static void notify(uint32_t begin)
{
    struct lbw_local_notice notice = {begin, step.jobid, step.stepid, step.ntasks};

    lbs_tell_notice(&step.lbd, &notice);
}

/* What of the step's environment the balancer's figures are labelled with. */
static void hand_on(spank_t spank, char (*text)[HANDED_ON_MAX], const char **ret_env)
{
    static const char *const name[HANDED_ON] = {"SLURM_CLUSTER_NAME", "SLURM_JOB_ACCOUNT",
                                                "SLURM_JOB_PARTITION", "SLURM_JOB_USER",
                                                "SLURMD_NODENAME"};
    size_t n = 0;

    for (size_t i = 0; i < HANDED_ON; i++) {
        int used = snprintf(text[n], HANDED_ON_MAX, "%s=", name[i]);

        if (spank_getenv(spank, name[i], text[n] + used, HANDED_ON_MAX - used) == ESPANK_SUCCESS) {
            ret_env[n] = text[n];
            n++;
        }
    }
    snprintf(text[n], HANDED_ON_MAX, LBS_PLACEMENT "=%s", lbw_placement_name(step.placement));
    ret_env[n] = text[n];
    ret_env[n + 1] = NULL;
}

/*
 * In a heterogeneous step Slurm counts the tasks of one component, and each has a task 0 of its own; all of them are the ranks
 * of one program.  Its launcher tells the whole step's number.  Returns 0 in other steps.
 */
static uint32_t count_all_components(spank_t spank)
{
    char text[16];
    unsigned long n;
    char *end;

    if (spank_getenv(spank, "SLURM_HET_SIZE", text, sizeof(text)) != ESPANK_SUCCESS ||
        spank_getenv(spank, "SLURM_NTASKS", text, sizeof(text)) != ESPANK_SUCCESS)
        return 0;
    n = strtoul(text, &end, 10);
    return end != text && *end == '\0' && n <= TASKS_MOST ? (uint32_t)n : 0;
}

static void start_balancer(spank_t spank, const char *policy)
{
    char text[HANDED_ON + 1][HANDED_ON_MAX];
    const char *env[HANDED_ON + 2];
    struct lbs_balancer_job job = {.path = lbs_plugin.config.balancer,
                                   .socket = lbs_plugin.config.socket,
                                   .policy = policy,
                                   .jobid = step.jobid,
                                   .stepid = step.stepid,
                                   .env = env};
    uint32_t all = count_all_components(spank);
    struct lbx_error err;
    gid_t *groups = NULL;
    int ngroups = 0;

    if (spank_get_item(spank, S_JOB_UID, &job.user.uid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_GID, &job.user.gid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &ngroups) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &job.ntasks) != ESPANK_SUCCESS ||
        ngroups < 0 || (ngroups > 0 && !groups))
        return;
    if (spank_get_item(spank, S_SLURM_RESTART_COUNT, &job.restarts) != ESPANK_SUCCESS)
        job.restarts = 0;
    if (all > job.ntasks) {
        job.ntasks = all;
        step.heterogeneous = true;
    }
    job.user.groups = groups;
    job.user.ngroups = (size_t)ngroups;
    hand_on(spank, text, env);
    if (lbs_balancer_start(&job, &step.balancer, &err) < 0) {
        /* said when the tasks have ended: what is written as early as now is sometimes lost on its way to srun */
        memcpy(step.trouble, err.text, sizeof(step.trouble));
        slurm_verbose("lb: no balancer: %s", err.text);
        return;
    }
    set_task_env(spank, "LB_BALANCER_DIR", step.balancer.dir);
}

static bool is_host_of_task_0(spank_t spank)
{
    uint32_t local;

    return spank_get_item(spank, S_JOB_GLOBAL_TO_LOCAL_ID, 0, &local) == ESPANK_SUCCESS;
}

/*
 * The balancer is in another folder than the tasks, and perhaps than liblb's own balancer elsewhere: a trace goes to where
 * the user meant it.  slurmstepd is in the tasks' folder here.  Left alone where the name would not survive as a key's value.
 */
static void make_trace_absolute(struct lbp_params *params)
{
    char folder[sizeof(params->trace)];
    size_t n;

    if (params->trace[0] == '\0' || params->trace[0] == '/' || !getcwd(folder, sizeof(folder)) ||
        folder[0] != '/' || strchr(folder, ','))
        return;
    for (const char *c = folder; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return;
    n = strlen(folder);
    if (n + 1 + strlen(params->trace) >= sizeof(params->trace))
        return;
    memmove(params->trace + n + 1, params->trace, strlen(params->trace) + 1);
    memcpy(params->trace, folder, n);
    params->trace[n] = '/';
}

void lbs_remote_user_init(spank_t spank)
{
    int64_t deadline_ns = lbx_clock_mono_ns() + LBS_STEPD_NS(lbs_plugin.config.deadline_ns);
    struct lbs_choice choice;
    char policy[LBS_TEXT_MAX];
    bool place;

    if (step.known || spank_get_item(spank, S_JOB_ID, &step.jobid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &step.stepid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &step.ntasks) != ESPANK_SUCCESS ||
        step.stepid >= STEP_SPECIAL)
        return;
    step.known = true;
    step.lbd = (struct lbs_lbd){.socket = lbs_plugin.config.socket};
    unset_stale(spank);
    unset_layout(spank);
    choice = choose(spank, deadline_ns, &place);
    make_trace_absolute(&choice.params);
    if (choice.wish == LBS_OFF)
        set_task_env(spank, "LB_POLICY", "off");
    if (choice.wish != LBS_ON ||
        lbp_params_print(&choice.params, policy, sizeof(policy)) >= (int)sizeof(policy))
        return;
    step.on = true;
    set_task_env(spank, "LB_POLICY", policy);
    if (is_host_of_task_0(spank))
        start_balancer(spank, policy);
    if (place)
        tell_host_speed(spank, deadline_ns);
}

/* lbd believes root alone, and in user_init the effective ids are the user's: so it is told here, once. */
void lbs_remote_task_post_fork(void)
{
    if (!step.known || step.begun)
        return;
    step.begun = true;
    notify(1);
}

/*
 * status: how the balancer ended, as waitpid's.  SIGTERM kills it only before it has begun to listen, and then nobody can
 * have joined either.
 */
static void tell_if_nobody_joined(int status)
{
    bool nobody = WIFEXITED(status) ? WEXITSTATUS(status) == LBS_EXIT_NOBODY
                                    : WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;

    /* of the components' balancers only that of rank 0 is joined, and which that is cannot be told here */
    if (nobody && !step.interrupted && !step.heterogeneous)
        slurm_spank_log("lb: the program did not call lb_init: no loop was balanced");
}

/* Rank 0 is gone with the others of this host.  In this hook a line still reaches the user. */
static void end_balancing(int64_t deadline_ns)
{
    int status = 0;

    if (lbs_balancer_ask(&step.balancer, deadline_ns, &status) == 0)
        tell_if_nobody_joined(status);
    if (step.trouble[0] != '\0')
        slurm_spank_log("lb: the loops were not balanced: %s", step.trouble);
}

void lbs_remote_task_exit(spank_t spank)
{
    int64_t deadline_ns = lbx_clock_mono_ns() + lbs_plugin.config.deadline_ns;
    int status = 0;

    if (!step.known)
        return;
    if (spank_get_item(spank, S_TASK_EXIT_STATUS, &status) == ESPANK_SUCCESS && WIFSIGNALED(status))
        step.interrupted = true;
    if (++step.nexited < step.ntasks)
        return;
    if (step.on)
        end_balancing(deadline_ns);
    notify(0);
}

void lbs_remote_exit(void)
{
    int64_t deadline_ns = lbx_clock_mono_ns() + lbs_plugin.config.deadline_ns;
    int status = 0;

    if (!step.known)
        return;
    step.known = false;
    if (step.on && lbs_balancer_end(&step.balancer, deadline_ns, &status) == 0 &&
        step.nexited == step.ntasks)
        tell_if_nobody_joined(status); /* slow to end: perhaps in the log only */
    step.on = false;
    if (step.begun && step.nexited < step.ntasks) /* not all of the tasks ended in sight */
        notify(0);
}
