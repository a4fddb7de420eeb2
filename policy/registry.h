/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies by name, and the parameters that a person may set: `--lb=auto,period=0.5s,threshold=0.1,report`.
 * One table for the plugin's check before submission, for --lb=help, and for the balancer.
 */
#ifndef LBP_REGISTRY_H
#define LBP_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum lbp_policy { LBP_AUTO, LBP_SIEGELL, LBP_LIU, LBP_STATIC, LBP_NONE, LBP_POLICIES };

/*
 * What one job runs with.  Negative (times, ratios) means: chosen automatically.
 * static: placement's first shares, and no move after; none: even shares, no move (measured all the same).
 */
struct lbp_params {
    enum lbp_policy policy;
    int64_t period_ns; /* period= : time between balancing decisions */
    double threshold;  /* threshold= : least projected gain in time, ratio 0 to 1 */
    double filter;     /* filter= : h, weight of history, 0 to 1 */
    int64_t chunk_ns;  /* chunk= : time of one chunk handed to the program */
    int64_t grain;     /* grain= : iterations of a chunk, or elements of a pipelined loop's block */
    double profit;     /* profit= : a plan must bring so many times its cost */
    double stake;      /* stake= : part of what moves would have won that they may lose, 0 to 1 */
    int64_t stable_ns; /* stable= : the hosts' speeds are taken to stay so long */
    bool report;       /* report : a summary at the end, on stderr */
    char trace[256];   /* trace=FILE : write every decision there; "" none */
    bool hosts;        /* hosts : the step's hosts are chosen by rank */
    bool sync;         /* sync= : ranks wait for what the balancer says to what they report */
};

/* Whether the policy is a system as others have published it, without what is ours: siegell and liu. */
static inline bool lbp_policy_is_published(enum lbp_policy policy)
{
    return policy == LBP_SIEGELL || policy == LBP_LIU;
}

struct lbp_policy_info {
    const char *name;
    const char *summary; /* one line */
};
struct lbp_key_info {
    const char *name;
    const char *unit;      /* "s", "ratio", "number", "file", "yes|no", or "" for a flag */
    const char *summary;   /* one line */
    const char *automatic; /* what is done when it is not given */
    /* What is accepted: ns ("s"), millionths ("ratio"), itself ("number"), bytes of the name ("file"); else 0 and 0. */
    int64_t min, max;
};

/* Static tables, in the order of --lb=help. */
const struct lbp_policy_info *lbp_policy_table(size_t *ret_n);
const struct lbp_key_info *lbp_key_table(size_t *ret_n);

/*
 * The range that the key accepts, as a person writes its ends, "10ms to 3600s"; of a file's name its length; empty for flags and
 * yes|no.  Returns what snprintf would.
 */
int lbp_key_range(const struct lbp_key_info *key, char *text, size_t size);

/* policy auto, everything automatic, no report. */
void lbp_params_init(struct lbp_params *p);

#define LBP_GRAIN_MAX (INT64_C(1) << 40)
#define LBP_PROFIT_MAX 1000

/*
 * Parse [POLICY][,key[=value]...]; without a policy it is auto.  Durations: 50ms, 0.5s, 2 (seconds).  "off" and "help" are
 * not policies: the plugin takes them out before.
 * On error: -EINVAL and a text that names what is wrong and the nearest valid name; *p untouched.
 */
int lbp_params_parse(struct lbp_params *p, const char *text, struct lbx_error *err)
    __attribute__((warn_unused_result));

/*
 * Likewise, but a text without a policy changes only what it gives, and leaves the rest of *p as it is; one with a policy
 * starts anew.
 */
int lbp_params_overlay(struct lbp_params *p, const char *text, struct lbx_error *err)
    __attribute__((warn_unused_result));

/* The canonical text of p, parsing to the same; returns what snprintf would. */
int lbp_params_print(const struct lbp_params *p, char *text, size_t size);

#endif
