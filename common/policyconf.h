/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * policy.conf as values.  The grammar and what each key means: policy.conf(5).  What a policy's text may be is not known here:
 * the caller's check says so, and its words are reported with file and line like any other mistake.
 */
#ifndef LBX_POLICYCONF_H
#define LBX_POLICYCONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/confvalue.h"
#include "common/error.h"

/* What is different in one partition or for one account. */
struct lbx_conf_rule {
    char name[LBX_CONF_NAME_MAX];
    char policy[LBX_CONF_POLICY_MAX]; /* "" : as elsewhere */
    enum lbx_conf_mode mode;
    enum lbx_conf_placement placement;
};

struct lbx_policyconf {
    char policy[LBX_CONF_POLICY_MAX]; /* of the site */
    enum lbx_conf_mode mode;
    enum lbx_conf_placement placement;
    size_t npartitions, naccounts;
    struct lbx_conf_rule *partition, *account; /* owned */

    /* limits that users cannot pass */
    size_t npolicies; /* names allowed; 0: all */
    char allowed[LBX_CONF_LIST_MAX][LBX_CONF_NAME_MAX];
    int64_t least_period_ns, least_chunk_ns; /* 0: none */
    bool trace;                              /* whether trace=FILE is allowed */

    int64_t load_interval_ns, benchmark_interval_ns;
    double jitter_ratio;

    double index_scale, index_user, index_terminal, index_task;

    int64_t keep_raw_ns, keep_5m_ns, keep_1h_ns;
    int64_t keep_benchmarks_ns, keep_jobs_ns, keep_events_ns;
    int64_t database_bytes_max;
    char backup[LBX_CONF_PATH_MAX];   /* folder; "": in the state folder; "off" */
    char snapshot[LBX_CONF_PATH_MAX]; /* file; likewise */
    int backup_hour, backups;         /* 0 to 23; how many are kept */
    int64_t snapshot_interval_ns;

    bool verify_address; /* a node's address must be one of its name's */
    size_t nusers;       /* who may use lbctl, beside root and the daemon's own user */
    uid_t user[LBX_CONF_LIST_MAX];
};

/* What is in force where nothing is configured. */
void lbx_policyconf_init(struct lbx_policyconf *conf);
void lbx_policyconf_fini(struct lbx_policyconf *conf); /* NULL is fine */

/*
 * Read a file.  Not from two threads at once; may ask the system for users by name.
 * check[in]  returns 0 when text is a policy, else -EINVAL with err
 * ret[out]   becomes the new values, to be given to lbx_policyconf_fini; untouched on failure
 * Returns 0; on failure a negative errno and a text "FILE:LINE: reason".
 */
int lbx_policyconf_read(const char *path, int (*check)(const char *text, struct lbx_error *err),
                        struct lbx_policyconf *ret, struct lbx_error *err)
    __attribute__((warn_unused_result));

#endif
