/* SPDX-License-Identifier: BSD-3-Clause */
/* srun's command line and environment. */
#include "slurm_plugin/command.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_MAX 1000000

enum arg { NO, REQUIRED, OPTIONAL };
enum meaning {
    HARMLESS,
    VERBOSE,
    LAYOUT, /* says itself where tasks go */
    FRESH,  /* says which hosts a new job may have, or when */
    NTASKS,
    NODES,
    CPUS,
    EXACT, /* a step has the CPUs that it asks for, not all that the job has on its hosts */
    PARTITION,
    ACCOUNT,
    LB,
};

struct option {
    const char *name;
    char letter; /* 0: none */
    enum arg arg;
    enum meaning meaning;
};

/* Of srun(1), 20.11 to 24.05.  What is missing here is taken for a conflict: among it all of -m, -w, -x, -r and --ntasks-per-*. */
static const struct option options[] = {
    {"account", 'A', REQUIRED, ACCOUNT},
    {"acctg-freq", 0, REQUIRED, HARMLESS},
    {"bcast", 0, OPTIONAL, HARMLESS},
    {"chdir", 'D', REQUIRED, HARMLESS},
    {"comment", 0, REQUIRED, HARMLESS},
    {"compress", 0, OPTIONAL, HARMLESS},
    {"constraint", 'C', REQUIRED, FRESH},
    {"container", 0, REQUIRED, HARMLESS},
    {"contiguous", 0, NO, FRESH},
    {"cpu-bind", 0, REQUIRED, HARMLESS},
    {"cpu-freq", 0, REQUIRED, HARMLESS},
    {"cpus-per-task", 'c', REQUIRED, CPUS},
    {"deadline", 0, REQUIRED, FRESH},
    {"dependency", 'd', REQUIRED, FRESH},
    {"disable-status", 'X', NO, HARMLESS},
    {"epilog", 0, REQUIRED, HARMLESS},
    {"error", 'e', REQUIRED, HARMLESS},
    {"exact", 0, NO, EXACT},
    {"export", 0, REQUIRED, HARMLESS},
    {"immediate", 'I', OPTIONAL, FRESH},
    {"input", 'i', REQUIRED, HARMLESS},
    {"job-name", 'J', REQUIRED, HARMLESS},
    {"kill-on-bad-exit", 'K', OPTIONAL, HARMLESS},
    {"label", 'l', NO, HARMLESS},
    {"lb", 0, OPTIONAL, LB},
    {"mail-type", 0, REQUIRED, HARMLESS},
    {"mail-user", 0, REQUIRED, HARMLESS},
    {"mem", 0, REQUIRED, FRESH},
    {"mem-bind", 0, REQUIRED, HARMLESS},
    {"mem-per-cpu", 0, REQUIRED, FRESH},
    {"mpi", 0, REQUIRED, HARMLESS},
    {"msg-timeout", 0, REQUIRED, HARMLESS},
    {"nice", 0, OPTIONAL, HARMLESS},
    {"no-kill", 'k', OPTIONAL, HARMLESS},
    {"nodes", 'N', REQUIRED, NODES},
    {"ntasks", 'n', REQUIRED, NTASKS},
    {"open-mode", 0, REQUIRED, HARMLESS},
    {"output", 'o', REQUIRED, HARMLESS},
    {"partition", 'p', REQUIRED, PARTITION},
    {"preserve-env", 'E', NO, HARMLESS},
    {"priority", 0, REQUIRED, HARMLESS},
    {"profile", 0, REQUIRED, HARMLESS},
    {"prolog", 0, REQUIRED, HARMLESS},
    {"propagate", 0, OPTIONAL, HARMLESS},
    {"qos", 'q', REQUIRED, FRESH},
    {"quiet", 'Q', NO, HARMLESS},
    {"quit-on-interrupt", 0, NO, HARMLESS},
    {"send-libs", 0, OPTIONAL, HARMLESS},
    {"signal", 0, REQUIRED, HARMLESS},
    {"slurmd-debug", 0, REQUIRED, HARMLESS},
    {"task-epilog", 0, REQUIRED, HARMLESS},
    {"task-prolog", 0, REQUIRED, HARMLESS},
    {"threads", 'T', REQUIRED, HARMLESS},
    {"time", 't', REQUIRED, HARMLESS},
    {"unbuffered", 'u', NO, HARMLESS},
    {"verbose", 'v', NO, VERBOSE},
    {"wait", 'W', REQUIRED, HARMLESS},
    {"wckey", 0, REQUIRED, HARMLESS},
};

static const struct {
    const char *name;
    enum meaning meaning;
} variables[] = {
    /* in this order the later ones count, as in srun */
    {"SLURM_ACCOUNT", ACCOUNT},
    {"SLURM_PARTITION", PARTITION},
    {"SLURM_NPROCS", NTASKS},
    {"SLURM_NTASKS", NTASKS},
    {"SLURM_JOB_NUM_NODES", NODES},
    {"SRUN_CPUS_PER_TASK", CPUS},
    {"SLURM_EXACT", EXACT},
    {"SLURM_ARBITRARY_NODELIST", LAYOUT},
    {"SLURM_DISTRIBUTION", LAYOUT},
    {"SLURM_HET_SIZE", LAYOUT},
    {"SLURM_HINT", LAYOUT},
    {"SLURM_HOSTFILE", LAYOUT},
    {"SLURM_NTASKS_PER_CORE", LAYOUT},
    {"SLURM_NTASKS_PER_GPU", LAYOUT},
    {"SLURM_NTASKS_PER_NODE", LAYOUT},
    {"SLURM_NTASKS_PER_SOCKET", LAYOUT},
    {"SLURM_NTASKS_PER_TRES", LAYOUT},
    {"SLURM_OVERCOMMIT", LAYOUT},
    {"SLURM_OVERLAP", LAYOUT},
    {"SLURM_SPREAD_JOB", LAYOUT},
    {"SLURM_SRUN_MULTI", LAYOUT},
    {"SLURM_USE_MIN_NODES", LAYOUT},
    {"SLURM_CLUSTERS", FRESH},
    {"SLURM_CONSTRAINT", FRESH},
    {"SLURM_CORE_SPEC", FRESH},
    {"SLURM_DEPENDENCY", FRESH},
    {"SLURM_EXCLUSIVE", FRESH},
    {"SLURM_GPUS", FRESH},
    {"SLURM_GPUS_PER_NODE", FRESH},
    {"SLURM_GPUS_PER_TASK", FRESH},
    {"SLURM_GRES", FRESH},
    {"SLURM_MEM_PER_CPU", FRESH},
    {"SLURM_MEM_PER_GPU", FRESH},
    {"SLURM_MEM_PER_NODE", FRESH},
    {"SLURM_QOS", FRESH},
    {"SLURM_RESERVATION", FRESH},
    {"SLURM_THREAD_SPEC", FRESH},
};

/* A whole number, or for -N also one range that is a number.  0: anything else. */
static uint32_t count(const char *text, bool range)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || n > COUNT_MAX)
        return 0;
    if (range && *end == '-' && end[1] >= '0' && end[1] <= '9' && strtoul(end + 1, &end, 10) != n)
        return 0;
    return *end == '\0' ? (uint32_t)n : 0;
}

static void take(struct lbs_command *c, enum meaning meaning, const char *name, const char *value)
{
    uint32_t n = value ? count(value, meaning == NODES) : 0;

    switch (meaning) {
    case HARMLESS:
        return;
    case LAYOUT:
        c->conflict = name;
        return;
    case FRESH:
        c->fresh_conflict = name;
        return;
    case PARTITION:
        c->partition = value;
        if (value && strchr(value, ','))
            c->fresh_conflict = name;
        return;
    case VERBOSE:
        c->verbose = true;
        return;
    case EXACT:
        c->exact = true;
        return;
    case ACCOUNT:
        c->account = value;
        return;
    case LB:
        c->has_lb = true;
        c->lb = value;
        return;
    case NTASKS:
        c->ntasks = n;
        break;
    case NODES:
        c->nodes = n;
        break;
    case CPUS:
        c->cpus = n;
        c->exact = true; /* as srun has it */
        break;
    }
    if (n == 0)
        c->conflict = name;
}

static const struct option *find_long(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (strncmp(options[i].name, name, n) == 0 && options[i].name[n] == '\0')
            return &options[i];
    return NULL;
}

static const struct option *find_letter(char letter)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (options[i].letter != 0 && options[i].letter == letter)
            return &options[i];
    return NULL;
}

/* Both return how many words were used, 0 when the word is not understood. */
static int take_long(struct lbs_command *c, char *const *argv)
{
    const char *name = argv[0] + 2, *value = strchr(name, '=');
    const struct option *o = find_long(name, value ? (size_t)(value - name) : strlen(name));
    int used = 1;

    if (!o || (o->arg == NO && value))
        return 0;
    if (value) {
        value++;
    } else if (o->arg == REQUIRED) {
        value = argv[1];
        used = 2;
        if (!value)
            return 0;
    }
    c->nodes_by_option = c->nodes_by_option || o->meaning == NODES;
    take(c, o->meaning, argv[0], value);
    return used;
}

static int take_letters(struct lbs_command *c, char *const *argv)
{
    for (const char *at = argv[0] + 1; *at; at++) {
        const struct option *o = find_letter(*at);
        const char *value = at[1] ? at + 1 : NULL;
        int used = 1;

        if (!o)
            return 0;
        if (o->arg == NO) {
            take(c, o->meaning, argv[0], NULL);
            continue;
        }
        if (o->arg == REQUIRED && !value) {
            value = argv[1];
            used = 2;
            if (!value)
                return 0;
        }
        c->nodes_by_option = c->nodes_by_option || o->meaning == NODES;
        take(c, o->meaning, argv[0], value);
        return used;
    }
    return 1;
}

void lbs_command_scan(char *const *argv, char *(*get)(const char *name),
                      struct lbs_command *ret_command)
{
    struct lbs_command c = {0};

    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        const char *value = get(variables[i].name);

        if (value)
            take(&c, variables[i].meaning, variables[i].name, value);
    }
    if (argv[0])
        argv++;
    while (argv[0] && argv[0][0] == '-' && argv[0][1] != '\0') {
        int used;

        if (strcmp(argv[0], "--") == 0) {
            argv++;
            break;
        }
        used = argv[0][1] == '-' ? take_long(&c, argv) : take_letters(&c, argv);
        if (used == 0) {
            c.conflict = argv[0];
            *ret_command = c; /* where the program begins is not known from here on */
            return;
        }
        argv += used;
    }
    if (!argv[0])
        c.conflict = "no program";
    for (; argv[0]; argv++)
        if (strcmp(argv[0], ":") == 0)
            c.conflict = ":"; /* a job of several kinds */
    *ret_command = c;
}
