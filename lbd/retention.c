/* SPDX-License-Identifier: BSD-3-Clause */
/* What policy.conf says of the database. */
#include "lbd/retention.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

/* Copies have full paths: the state folder may be given by another. */
static void set_path(const char *given, const char *state, const char *below,
                     char ret[LBD_KEEP_PATH_MAX])
{
    char *folder;

    ret[0] = '\0';
    if (strcmp(given, "off") == 0)
        return;
    if (given[0]) {
        snprintf(ret, LBD_KEEP_PATH_MAX, "%s", given);
        return;
    }
    folder = realpath(state, NULL);
    if (folder && snprintf(ret, LBD_KEEP_PATH_MAX, "%s/%s", folder, below) >= LBD_KEEP_PATH_MAX)
        ret[0] = '\0';
    free(folder);
}

void lbd_retention(const struct lbx_policyconf *conf, const char *state,
                   struct lbd_keep_settings *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->keep_s[LBD_T_RAW] = conf->keep_raw_ns / LBX_NS_PER_S;
    ret->keep_s[LBD_T_5M] = conf->keep_5m_ns / LBX_NS_PER_S;
    ret->keep_s[LBD_T_1H] = conf->keep_1h_ns / LBX_NS_PER_S;
    ret->keep_s[LBD_T_BENCHMARK] = conf->keep_benchmarks_ns / LBX_NS_PER_S;
    ret->keep_s[LBD_T_JOB] = conf->keep_jobs_ns / LBX_NS_PER_S;
    ret->keep_s[LBD_T_EVENT] = conf->keep_events_ns / LBX_NS_PER_S;
    set_path(conf->backup, state, "backup", ret->backup);
    ret->backup_hour = conf->backup_hour;
    ret->backups = conf->backups;
    set_path(conf->snapshot, state, "snapshot/lbd.db", ret->snapshot);
    ret->snapshot_interval_s = conf->snapshot_interval_ns / LBX_NS_PER_S;
    if (ret->snapshot_interval_s < 1)
        ret->snapshot_interval_s = 1;
}
