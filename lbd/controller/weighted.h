/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes whose weights follow the ranking, with the weights that they have without us, and the file that keeps those. */
#ifndef LBD_CONTROLLER_WEIGHTED_H
#define LBD_CONTROLLER_WEIGHTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/local.h"

struct lbd_weighted {
    char name[LBW_LOCAL_HOST_MAX];
    uint32_t site;   /* the weight that it has without us */
    uint32_t weight; /* as last seen in Slurm */
    uint32_t wanted; /* as it will be */
    uint32_t bucket;
    bool managed; /* by the placement of one of its partitions */
    bool seen;    /* in the last list of Slurm's */
};

struct lbd_weighted_set { /* of zeros: empty */
    struct lbd_weighted *node;
    size_t n, size;
};

void lbd_weighted_fini(struct lbd_weighted_set *set);

/* Both borrowed until the next one is added; NULL: there is none, or it cannot be had (no memory, too many, too long a name). */
struct lbd_weighted *lbd_weighted_find(struct lbd_weighted_set *set, const char *name);
struct lbd_weighted *lbd_weighted_add(struct lbd_weighted_set *set, const char *name,
                                      uint32_t site);

/* What the file at path says of nodes that are not in the set: of before a crash, or of an lbd whose weights could not be put back. */
void lbd_weighted_load(struct lbd_weighted_set *set, const char *path);

/* Before a weight is changed: what it was must not be lost.  Returns 0 or a negative errno. */
int lbd_weighted_save(const struct lbd_weighted_set *set, const char *path)
    __attribute__((warn_unused_result));

#endif
