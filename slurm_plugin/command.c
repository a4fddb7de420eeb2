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

struct kind {
    enum meaning meaning;
    enum arg arg;
    const char *names; /* NAME or NAME|LETTER, behind spaces */
};

/* Of srun(1), 20.11 to 24.05.  What is missing here is taken for a conflict: among it all of -m, -w, -x, -r and --ntasks-per-*. */
static const struct kind options[] = {
    {HARMLESS, NO,
     "disable-status|X label|l preserve-env|E quiet|Q quit-on-interrupt unbuffered|u"},
    {HARMLESS, REQUIRED,
     "acctg-freq chdir|D comment container cpu-bind cpu-freq epilog error|e export "
     "input|i job-name|J mail-type mail-user mem-bind mpi msg-timeout open-mode "
     "output|o priority profile prolog signal slurmd-debug task-epilog task-prolog "
     "threads|T time|t wait|W wckey"},
    {HARMLESS, OPTIONAL, "bcast compress kill-on-bad-exit|K nice no-kill|k propagate send-libs"},
    {FRESH, NO, "contiguous"},
    {FRESH, REQUIRED, "constraint|C deadline dependency|d mem mem-per-cpu qos|q"},
    {FRESH, OPTIONAL, "immediate|I"},
    {NTASKS, REQUIRED, "ntasks|n"},
    {NODES, REQUIRED, "nodes|N"},
    {CPUS, REQUIRED, "cpus-per-task|c"},
    {EXACT, NO, "exact"},
    {PARTITION, REQUIRED, "partition|p"},
    {ACCOUNT, REQUIRED, "account|A"},
    {VERBOSE, NO, "verbose|v"},
    {LB, OPTIONAL, "lb"},
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
    {"SLURM_THREADS_PER_CORE", LAYOUT},
    {"SLURM_USE_MIN_NODES", LAYOUT},
    {"SLURM_BURST_BUFFER", FRESH},
    {"SLURM_CLUSTER_CONSTRAINT", FRESH},
    {"SLURM_CLUSTERS", FRESH},
    {"SLURM_CONSTRAINT", FRESH},
    {"SLURM_CORE_SPEC", FRESH},
    {"SLURM_CPUS_PER_GPU", FRESH},
    {"SLURM_DEPENDENCY", FRESH},
    {"SLURM_EXCLUSIVE", FRESH},
    {"SLURM_GPUS", FRESH},
    {"SLURM_GPUS_PER_NODE", FRESH},
    {"SLURM_GPUS_PER_SOCKET", FRESH},
    {"SLURM_GPUS_PER_TASK", FRESH},
    {"SLURM_GRES", FRESH},
    {"SLURM_MEM_PER_CPU", FRESH},
    {"SLURM_MEM_PER_GPU", FRESH},
    {"SLURM_MEM_PER_NODE", FRESH},
    {"SLURM_NETWORK", FRESH},
    {"SLURM_QOS", FRESH},
    {"SLURM_REQ_SWITCH", FRESH},
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

/* The kind whose names have this one, of n bytes, or this letter (then n is 0). */
static const struct kind *find(const char *name, size_t n, char letter)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        for (const char *at = options[i].names; *at; at += strspn(at, " ")) {
            size_t len = strcspn(at, " |");

            if (n > 0 ? len == n && memcmp(at, name, n) == 0
                      : at[len] == '|' && at[len + 1] == letter)
                return &options[i];
            at += strcspn(at, " ");
        }
    return NULL;
}

/* Both return how many words were used, 0 when the word is not understood. */
static int take_long(struct lbs_command *c, char *const *argv)
{
    const char *name = argv[0] + 2, *value = strchr(name, '=');
    const struct kind *o = find(name, value ? (size_t)(value - name) : strlen(name), 0);
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
        const struct kind *o = find(NULL, 0, *at);
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
