/* SPDX-License-Identifier: BSD-3-Clause */
/* An ended step as the database keeps it. */
#include "lbd/controller/record.h"

#include <string.h>

#include "common/clock.h"

uint64_t lbd_record_job(struct lbd_store *store, uint64_t instance, const struct lbw_job *job)
{
    int64_t ended_s = lbx_clock_wall_ns() / LBX_NS_PER_S - job->age_ns / LBX_NS_PER_S;
    struct lbd_db_job_host host[LBW_JOB_HOSTS_MAX];
    struct lbd_db_job row = {.jobid = job->jobid,
                             .stepid = job->stepid,
                             .hosts = job->hosts,
                             .ranks = job->ranks,
                             .started_s = ended_s - job->run_ns / LBX_NS_PER_S,
                             .ended_s = ended_s,
                             .load_balance = job->load_balance,
                             .efficiency = job->efficiency,
                             .balance_before = job->balance_before > 0 ? job->balance_before : -1,
                             .compute_s = (double)job->compute_ns / 1e9,
                             .wait_s = (double)job->wait_ns / 1e9,
                             .overhead_s = (double)job->overhead_ns / 1e9,
                             .saved_s = (double)job->saved_ns / 1e9,
                             .predicted_s = (double)job->placed_ns / 1e9,
                             .moved_bytes = (int64_t)job->moved_bytes,
                             .nhost = job->nhost,
                             .host = host};

    if (job->seq > 0) /* another run of this controller may have had it and not said so */
        row.nonce = (int64_t)(instance ^ job->seq * UINT64_C(0x9e3779b97f4a7c15));
    memcpy(row.user, job->user, sizeof(row.user));
    memcpy(row.account, job->account, sizeof(row.account));
    memcpy(row.partition, job->partition, sizeof(row.partition));
    memcpy(row.policy, job->policy, sizeof(row.policy));
    for (int i = 0; i < LBW_JOB_REASONS_MOVING; i++)
        row.moves += (int64_t)job->decisions[i];
    for (size_t i = 0; i < job->nhost; i++) {
        host[i] = (struct lbd_db_job_host){.share_ratio = job->host[i].share,
                                           .iterations = (int64_t)job->host[i].iterations,
                                           .compute_s = (double)job->host[i].compute_ns / 1e9,
                                           .wait_s = (double)job->host[i].wait_ns / 1e9};
        memcpy(host[i].host, job->host[i].host, sizeof(host[i].host));
    }
    return lbd_store_put_job(store, &row);
}
