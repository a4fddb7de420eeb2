/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lb-slurm: the controller's hands in Slurm, a process of its own.  libslurm ends its process when it does not like its
 * configuration and may wait for minutes: neither may happen to lbd, which also runs where there is no libslurm.
 *
 * Lines on standard input, each answered on standard output by lines and a last one, "." or "! reason":
 *   nodes                 -> NAME WEIGHT PARTITION[,PARTITION...]   for each node
 *   states                -> NAME up|drained|down                   likewise
 *   idle                  -> NAME CPUS PARTITION[,PARTITION...]     where a job can start at once; a star before the default one
 *   weight N NAME[,...]   these nodes get that weight
 *   restore FILE          lines NAME WEIGHT: nodes whose weight is one of ours get theirs back, and the file is removed
 * It ends at the end of its input.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "policy/nodeweight.h"

#define PARTITIONS_KEPT_S 10

static int load(node_info_msg_t **ret_nodes, partition_info_msg_t **ret_parts)
{
    if (slurm_load_node(0, ret_nodes, SHOW_ALL) != SLURM_SUCCESS)
        return -1;
    if (slurm_load_partitions(0, ret_parts, SHOW_ALL) == SLURM_SUCCESS)
        return 0;
    slurm_free_node_info_msg(*ret_nodes);
    return -1;
}

static int is_in(const partition_info_t *p, int32_t i)
{
    for (const int32_t *range = p->node_inx; range && range[0] >= 0; range += 2)
        if (i >= range[0] && i <= range[1])
            return 1;
    return 0;
}

static int list_nodes(void)
{
    node_info_msg_t *nodes = NULL;
    partition_info_msg_t *parts = NULL;

    if (load(&nodes, &parts) < 0)
        return slurm_get_errno();
    for (uint32_t i = 0; i < nodes->record_count; i++) {
        const char *comma = " ";

        if (!nodes->node_array[i].name)
            continue;
        printf("%s %" PRIu32, nodes->node_array[i].name, nodes->node_array[i].weight);
        for (uint32_t k = 0; k < parts->record_count; k++)
            if (parts->partition_array[k].name && is_in(&parts->partition_array[k], (int32_t)i)) {
                printf("%s%s", comma, parts->partition_array[k].name);
                comma = ",";
            }
        putchar('\n');
    }
    slurm_free_node_info_msg(nodes);
    slurm_free_partition_info_msg(parts);
    return 0;
}

/* Whether jobs may start there; a host that drains may still have some. */
static const char *state_of(uint32_t state)
{
    uint32_t base = state & NODE_STATE_BASE;

    if (base == NODE_STATE_DOWN || base == NODE_STATE_UNKNOWN || base == NODE_STATE_ERROR ||
        base == NODE_STATE_FUTURE || (state & NODE_STATE_NO_RESPOND))
        return "down";
    return state & (NODE_STATE_DRAIN | NODE_STATE_FAIL) ? "drained" : "up";
}

static int list_states(void)
{
    node_info_msg_t *nodes = NULL;

    if (slurm_load_node(0, &nodes, SHOW_ALL) != SLURM_SUCCESS)
        return slurm_get_errno();
    for (uint32_t i = 0; i < nodes->record_count; i++)
        if (nodes->node_array[i].name)
            printf("%s %s\n", nodes->node_array[i].name, state_of(nodes->node_array[i].node_state));
    slurm_free_node_info_msg(nodes);
    return 0;
}

/* As many tasks as it has cores: hardware threads hold none of their own on many sites. */
static unsigned places_of(const node_info_t *n)
{
    unsigned cores = (unsigned)n->sockets * n->cores;

    return cores > 0 && cores < n->cpus ? cores : n->cpus;
}

static void print_idle(const node_info_t *n, int32_t i, const partition_info_msg_t *parts)
{
    const char *comma = "";

    if (!n->name || (n->node_state & NODE_STATE_BASE) != NODE_STATE_IDLE ||
        (n->node_state & NODE_STATE_FLAGS) != 0)
        return;
    for (uint32_t k = 0; k < parts->record_count; k++) {
        const partition_info_t *p = &parts->partition_array[k];

        if (!p->name || p->state_up != PARTITION_UP || !is_in(p, i))
            continue;
        if (!*comma)
            printf("%s %u ", n->name, places_of(n));
        printf("%s%s%s", comma, p->flags & PART_FLAG_DEFAULT ? "*" : "", p->name);
        comma = ",";
    }
    if (*comma)
        putchar('\n');
}

/* Asked for again and again: Slurm sends only what has changed, and partitions do so seldom. */
static int list_idle(void)
{
    static node_info_msg_t *nodes;
    static partition_info_msg_t *parts;
    static time_t parts_at;
    node_info_msg_t *new_nodes = NULL;
    time_t now = time(NULL);

    if (!parts || now - parts_at > PARTITIONS_KEPT_S || now < parts_at) {
        partition_info_msg_t *new_parts = NULL;

        if (slurm_load_partitions(0, &new_parts, SHOW_ALL) != SLURM_SUCCESS)
            return slurm_get_errno();
        slurm_free_partition_info_msg(parts);
        parts = new_parts;
        parts_at = now;
    }
    if (slurm_load_node(nodes ? nodes->last_update : 0, &new_nodes, SHOW_ALL) == SLURM_SUCCESS) {
        slurm_free_node_info_msg(nodes);
        nodes = new_nodes;
    } else if (!nodes || slurm_get_errno() != SLURM_NO_CHANGE_IN_DATA) {
        return slurm_get_errno();
    }
    for (uint32_t i = 0; i < nodes->record_count; i++)
        print_idle(&nodes->node_array[i], (int32_t)i, parts);
    return 0;
}

static int set_weight(uint32_t weight, char *names)
{
    update_node_msg_t msg;

    slurm_init_update_node_msg(&msg);
    msg.node_names = names;
    msg.weight = weight;
    return slurm_update_node(&msg) == SLURM_SUCCESS ? 0 : slurm_get_errno();
}

static const node_info_t *find(const node_info_msg_t *nodes, const char *name)
{
    for (uint32_t i = 0; i < nodes->record_count; i++)
        if (nodes->node_array[i].name && strcmp(nodes->node_array[i].name, name) == 0)
            return &nodes->node_array[i];
    return NULL;
}

/* A weight that an administrator has set since is left as it is. */
static int restore_lines(FILE *f, const node_info_msg_t *nodes)
{
    char line[512], name[256];
    uint32_t weight;
    int rc = 0;

    while (rc == 0 && fgets(line, sizeof(line), f)) {
        const node_info_t *n;

        if (sscanf(line, "%255s %" SCNu32, name, &weight) != 2)
            continue;
        n = find(nodes, name);
        if (n && n->weight != weight && lbp_nodeweight_is_ours(n->weight, weight))
            rc = set_weight(weight, name);
    }
    return rc;
}

static int restore(const char *path)
{
    node_info_msg_t *nodes = NULL;
    FILE *f = fopen(path, "re");
    int rc;

    if (!f)
        return errno == ENOENT ? 0 : errno;
    if (slurm_load_node(0, &nodes, SHOW_ALL) == SLURM_SUCCESS) {
        rc = restore_lines(f, nodes);
        slurm_free_node_info_msg(nodes);
    } else {
        rc = slurm_get_errno();
    }
    fclose(f);
    if (rc == 0 && unlink(path) < 0)
        rc = errno;
    return rc;
}

static int obey(char *line)
{
    char *end;
    unsigned long weight;

    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "nodes") == 0)
        return list_nodes();
    if (strcmp(line, "states") == 0)
        return list_states();
    if (strcmp(line, "idle") == 0)
        return list_idle();
    if (strncmp(line, "restore ", 8) == 0)
        return restore(line + 8);
    if (strncmp(line, "weight ", 7) != 0)
        return EINVAL;
    weight = strtoul(line + 7, &end, 10);
    return *end == ' ' && weight < UINT32_MAX ? set_weight((uint32_t)weight, end + 1) : EINVAL;
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;

    signal(
        SIGTERM,
        SIG_IGN); /* the end of lbd is the end of the input: what it asked for last is still done */
    signal(SIGINT, SIG_IGN);
    while (getline(&line, &size, stdin) >= 0) {
        int rc = obey(line);

        if (rc == 0)
            puts(".");
        else
            printf("! %s\n", slurm_strerror(rc));
        fflush(stdout);
    }
    free(line);
    return 0;
}
