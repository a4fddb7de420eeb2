/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In srun, before anything is submitted.  The option travels to the hosts by itself, and so does
 * SLURM_LB: Slurm hands on every variable SLURM_*, also with --export=NONE.
 *
 * A layout of tasks is given to srun as SLURM_HOSTFILE.  srun reads it when it has read its options and before it asks a
 * plugin again: so it is made when the plugin is loaded, from a look at the command line, and taken back afterwards.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "slurm_plugin/place.h"
#include "slurm_plugin/plugin.h"
#include "slurm_plugin/rules.h"

#define COMMAND_BYTES_MAX (1 << 18)
#define WORDS_MAX 8192

/* How Slurm hands --lb of sbatch and salloc to the steps of the job. */
#define OF_JOB "SLURM_SPANK__SLURM_SPANK_OPTION_lb_lb"

static char words[COMMAND_BYTES_MAX];
static char *word[WORDS_MAX + 1];
static struct lbs_slot slot[LBS_SLOTS_MAX];
static int hostfile = -1; /* ended with the process, or in lbs_local_post_opt */
static size_t nslots;

/* This process's command line, as word[]; false when it is too long or cannot be read. */
static bool read_command(void)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t n = 0, nwords = 0;
    ssize_t got = 0;

    while (fd >= 0 && n < sizeof(words) && (got = read(fd, words + n, sizeof(words) - n)) > 0)
        n += (size_t)got;
    if (fd >= 0)
        close(fd);
    if (n == 0 || got != 0 || words[n - 1] != '\0')
        return false;
    for (char *at = words; at < words + n; at += strlen(at) + 1) {
        if (nwords == WORDS_MAX)
            return false;
        word[nwords++] = at;
    }
    word[nwords] = NULL;
    return true;
}

/* As slurm does it: the option, that of the job, SLURM_LB.  A wrong one is told when srun comes to it. */
static struct lbs_choice asked(const struct lbs_command *c)
{
    const char *text = c->has_lb ? c->lb : getenv(OF_JOB);
    struct lbs_choice choice = {.wish = LBS_UNSET};
    struct lbx_error err;

    if (!c->has_lb && !text)
        text = getenv("SLURM_LB");
    else if (text && strcmp(text, LBS_NO_ARGUMENT) == 0)
        text = "";
    if ((c->has_lb || text) && lbs_choice_parse(text, &choice, &err) < 0)
        choice.wish = LBS_OFF;
    return choice;
}

static void use_layout(size_t n)
{
    char path[64];

    hostfile = lbs_place_hostfile(slot, n);
    if (hostfile < 0)
        return;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", hostfile);
    if (setenv("SLURM_HOSTFILE", path, 1) < 0)
        return;
    (void)setenv(LBS_PLACED, "1", 1);
    nslots = n;
}

/* At once: srun does not know yet how verbose it is when it asks for the last time. */
static void tell_layout(const char *why_not)
{
    for (size_t i = 0; i < nslots; i++)
        if (slot[i].tasks > 0)
            slurm_spank_log("lb: %s gets %u tasks", slot[i].host, slot[i].tasks);
    if (nslots == 0)
        slurm_spank_log("lb: Slurm lays out the tasks: %s", why_not);
}

static void place(struct lbs_place *p, const struct lbs_choice *choice)
{
    bool in_job = getenv("SLURM_JOB_ID") != NULL;
    const char *why = "SLURM_JOB_NODELIST is missing";
    enum lbw_placement what = LBW_PLACE_NOT_UNDERSTOOD;
    size_t n = 0;

    p->choose_hosts = choice->params.hosts; /* the site's rule may have it too */
    if (p->job_hosts || !in_job)
        n = lbs_place(p, &lbs_plugin.lbd, slot, &what, &why);
    if (n > 0) {
        why = "no host file could be made";
        use_layout(n);
    }
    if (p->command->verbose)
        tell_layout(why);
    (void)setenv(LBS_PLACEMENT, lbw_placement_name(what), 1);
}

/* How long lbd is waited for when the site's decision is asked for. */
static int64_t rule_deadline_ns(const struct lbs_choice *choice, bool waits_for_idle)
{
    int64_t most_ns = LBS_SRUN_NS(lbs_plugin.config.deadline_ns);

    if (waits_for_idle) /* no other step is to lose so much, and without lbd it has nothing */
        most_ns = lbs_plugin.config.deadline_ns / 2;
    else if (choice->wish == LBS_UNSET && most_ns > lbs_plugin.config.unasked_ns)
        most_ns = lbs_plugin.config.unasked_ns;
    return lbx_clock_mono_ns() + most_ns;
}

/* What the site has decided, and then where the tasks go. */
static void decide(struct lbs_place *p, struct lbs_choice *choice)
{
    const struct lbs_command *c = p->command;
    const char *partition = getenv("SLURM_JOB_PARTITION");
    struct lbx_error err;

    if (!getenv("SLURM_JOB_ID") || !partition)
        partition = c->partition;
    lbs_plugin.has_rule =
        lbs_ask_rule(&lbs_plugin.lbd, partition,
                     c->account ? c->account : getenv("SLURM_JOB_ACCOUNT"),
                     rule_deadline_ns(choice, *p->idle >= 0), &lbs_plugin.rule) == 0;
    if (!lbs_plugin.has_rule) { /* without an lbd there is no ranking either */
        if (choice->wish == LBS_ON && !c->conflict &&
            (choice->params.hosts || getenv("SLURM_JOB_ID")))
            (void)setenv(LBS_PLACEMENT, lbw_placement_name(lbs_plugin.lbd.why), 1);
        if (choice->wish == LBS_ON && c->verbose)
            tell_layout("lbd does not answer");
        return;
    }
    if (choice->wish == LBS_ON && c->verbose && !lbs_plugin.rule.place)
        tell_layout("so the site wants it");
    if (!lbs_plugin.rule.place || lbs_rules_apply(&lbs_plugin.rule, choice, &err) < 0 ||
        choice->wish != LBS_ON)
        return;
    place(p, choice);
}

void lbs_local_init(void)
{
    const char *jobid = getenv("SLURM_JOB_ID");
    struct lbs_command c;
    struct lbs_choice choice;
    int idle = -1;
    struct lbs_place p = {.command = &c,
                          .job_hosts = jobid ? getenv("SLURM_JOB_NODELIST") : NULL,
                          .job_cpus = getenv("SLURM_JOB_CPUS_PER_NODE"),
                          .jobid = jobid ? (uint32_t)strtoul(jobid, NULL, 10) : 0,
                          .idle = &idle,
                          .deadline_ns = lbx_clock_mono_ns() + lbs_plugin.config.deadline_ns};

    (void)unsetenv(LBS_PLACED); /* an outer step's */
    (void)unsetenv(LBS_PLACEMENT);
    if (!read_command())
        return;
    lbs_command_scan(word, getenv, &c);
    choice = asked(&c);
    if (choice.wish == LBS_OFF)
        return;
    lbs_plugin.lbd.socket = lbs_plugin.config.socket;
    p.choose_hosts = choice.wish == LBS_ON && choice.params.hosts;
    if (!jobid)
        idle = lbs_place_begin(&p, &lbs_plugin.lbd);
    decide(&p, &choice);
    if (idle >= 0)
        close(idle);
}

void lbs_local_post_opt(void)
{
    if (hostfile >= 0) {
        (void)unsetenv("SLURM_HOSTFILE");
        close(hostfile);
        hostfile = -1;
    }
    lbs_options_check();
}
