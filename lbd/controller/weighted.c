/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes with the weights of the site, and their file. */
#include "lbd/controller/weighted.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/nodeweight.h"

#define NODES_MAX ((size_t)65536)

void lbd_weighted_fini(struct lbd_weighted_set *set)
{
    free(set->node);
    *set = (struct lbd_weighted_set){0};
}

struct lbd_weighted *lbd_weighted_find(struct lbd_weighted_set *set, const char *name)
{
    for (size_t i = 0; i < set->n; i++)
        if (strcmp(set->node[i].name, name) == 0)
            return &set->node[i];
    return NULL;
}

struct lbd_weighted *lbd_weighted_add(struct lbd_weighted_set *set, const char *name, uint32_t site)
{
    struct lbd_weighted *node;

    if (set->n == NODES_MAX || strlen(name) >= sizeof(node->name))
        return NULL;
    if (set->n == set->size) {
        size_t size = set->size ? 2 * set->size : 64;

        node = realloc(set->node, size * sizeof(*node));
        if (!node)
            return NULL;
        set->node = node;
        set->size = size;
    }
    node = &set->node[set->n++];
    *node = (struct lbd_weighted){.site = site, .bucket = LBP_NODEWEIGHT_UNKNOWN};
    strcpy(node->name, name);
    return node;
}

void lbd_weighted_load(struct lbd_weighted_set *set, const char *path)
{
    char line[512], name[LBW_LOCAL_HOST_MAX];
    FILE *f = fopen(path, "re");
    uint32_t site;

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "%63s %" SCNu32, name, &site) == 2 && !lbd_weighted_find(set, name))
            (void)lbd_weighted_add(set, name, site);
    if (f)
        fclose(f);
}

int lbd_weighted_save(const struct lbd_weighted_set *set, const char *path)
{
    char new_path[4096 + 8];
    FILE *f;
    int rc = 0;

    if (snprintf(new_path, sizeof(new_path), "%s.new", path) >= (int)sizeof(new_path))
        return -ENAMETOOLONG;
    f = fopen(new_path, "we");
    if (!f)
        return -errno;
    for (size_t i = 0; i < set->n; i++)
        fprintf(f, "%s %" PRIu32 "\n", set->node[i].name, set->node[i].site);
    if (fflush(f) != 0 || fsync(fileno(f)) < 0)
        rc = -errno;
    if (fclose(f) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(new_path, path) < 0)
        rc = -errno;
    return rc;
}
