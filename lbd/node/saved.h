/* SPDX-License-Identifier: BSD-3-Clause */
/* The last benchmark on disk: a host that is never idle after lbd's start is still known by it. */
#ifndef LBD_NODE_SAVED_H
#define LBD_NODE_SAVED_H

#include "lbd/node/bench.h"
#include "wire/node.h"

/* What it belongs to: another system or processor makes it void. */
struct lbd_saved {
    char boot[LBW_NODE_BOOT_MAX];
    char model[LBW_NODE_MODEL_MAX];
    int64_t at_ns; /* since 1970 */
    struct lbd_bench_result result;
};

/* Returns 0 or a negative errno; a file that is there is replaced at once or left as it is. */
int lbd_saved_write(const char *path, const struct lbd_saved *saved)
    __attribute__((warn_unused_result));

/* Returns 0, -ENOENT, -EPROTO (not one of ours, or damaged). */
int lbd_saved_read(const char *path, struct lbd_saved *ret) __attribute__((warn_unused_result));

#endif
