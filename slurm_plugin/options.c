/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --lb, and SLURM_LB in its place. */
#include "slurm_plugin/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "slurm_plugin/ask.h"
#include "slurm_plugin/rules.h"

#define HAS_OPTIONAL_ARGUMENT 2

/*
 * Whether this process is a person's srun, sbatch or salloc, which may be ended like by any other
 * wrong option.  Never slurmstepd or slurmd: ending one of these hangs the step.
 */
static bool is_client(void)
{
    spank_context_t context = spank_context();

    return context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR;
}

static void print_help(void)
{
    size_t npolicies, nkeys;
    const struct lbp_policy_info *policy = lbp_policy_table(&npolicies);
    const struct lbp_key_info *key = lbp_key_table(&nkeys);

    printf("--lb[=POLICY][,key=value...]  place and balance the tasks by what the hosts can do\n\n"
           "POLICY (auto when none is given):\n");
    for (size_t i = 0; i < npolicies; i++)
        printf("  %-10s  %s\n", policy[i].name, policy[i].summary);
    printf("  %-10s  leave the step alone\n  %-10s  print this and start nothing\n\n"
           "keys, and what they accept:\n",
           "off", "help");
    for (size_t i = 0; i < nkeys; i++) {
        char name[64], range[64];

        lbp_key_range(&key[i], range, sizeof(range));
        snprintf(name, sizeof(name), "%s%s%s", key[i].name, *key[i].unit ? "=" : "", key[i].unit);
        printf("  %-15s  %-18s  %s; else %s\n", name, range, key[i].summary, key[i].automatic);
    }
    printf("\nSLURM_LB in the environment holds for steps that do not give the option.\n");
    if (lbs_plugin.config.policy[0] != '\0')
        printf("Here steps that give neither run with --lb=%s.\n", lbs_plugin.config.policy);
    if (lbs_plugin.off)
        printf("Here it is switched off by the site: the option is taken, and nothing is done.\n");
    fflush(stdout);
}

/*
 * Slurm calls this for each --lb, in the client and again in slurmstepd.  An error in the client
 * ends it before anything is submitted; in slurmstepd nobody is helped by one.
 */
static int on_option(int val, const char *optarg, int remote)
{
    struct lbx_error err;

    (void)val;
    if (optarg && strcmp(optarg, LBS_NO_ARGUMENT) == 0)
        optarg = NULL;
    if (optarg && strcmp(optarg, "help") == 0) {
        if (!remote && is_client()) {
            print_help();
            exit(0);
        }
        return 0;
    }
    if (lbs_plugin.off)
        return 0;
    if (lbs_choice_parse(optarg, &lbs_plugin.option, &err) == 0)
        return 0;
    if (remote) {
        slurm_verbose("lb: --lb=%.100s is ignored: %s", optarg ? optarg : "", err.text);
        return 0;
    }
    slurm_spank_log("lb: %s", err.text);
    return -1;
}

void lbs_options_register(spank_t spank)
{
    static char name[] = "lb", arginfo[] = "[POLICY][,key=value...]",
                usage[] = "balance the load of the tasks; --lb=help lists policies and keys, "
                          "--lb=off leaves the step alone";
    struct spank_option option = {.name = name,
                                  .arginfo = arginfo,
                                  .usage = usage,
                                  .has_arg = HAS_OPTIONAL_ARGUMENT,
                                  .cb = on_option};

    if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
        slurm_verbose("lb: --lb could not be registered");
}

/* Nothing was submitted yet, and an optional plugin's error code is dropped by Slurm: only this stops the client. */
static void refuse(const char *what, const char *why)
{
    slurm_spank_log("lb: %s%s", what, why);
    if (is_client())
        exit(1);
}

struct lbs_choice lbs_options_asked(void)
{
    const char *text = getenv("SLURM_LB");
    struct lbs_choice choice = lbs_plugin.option;
    struct lbx_error err;

    if (text && choice.wish == LBS_UNSET && lbs_choice_parse(text, &choice, &err) < 0)
        refuse("SLURM_LB: ", err.text);
    return choice;
}

void lbs_options_check(void)
{
    int64_t deadline_ns = lbx_clock_mono_ns() + LBS_SRUN_NS(lbs_plugin.config.deadline_ns);
    struct lbs_choice choice;
    struct lbx_error err;

    if (lbs_plugin.off)
        return;
    choice = lbs_options_asked();
    lbs_plugin.lbd.socket = lbs_plugin.config.socket;
    /* limits are the same in all partitions, and only what somebody asked for can pass them */
    if (choice.wish == LBS_ON && !lbs_plugin.has_rule)
        lbs_plugin.has_rule =
            lbs_ask_rule(&lbs_plugin.lbd, NULL, NULL, deadline_ns, &lbs_plugin.rule) == 0;
    if (lbs_plugin.has_rule && lbs_rules_apply(&lbs_plugin.rule, &choice, &err) < 0)
        refuse("", err.text);
}
