/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of the figures of a job step. */
#include "wire/job.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "wire/hosts.h"

#define JOB_FIELDS (25 + LBW_JOB_REASONS)
#define HOST_FIELDS 6

const char *const lbw_job_reason[LBW_JOB_REASONS] = {"proportional", "dry",      "below_threshold",
                                                     "unprofitable", "filtered", "unstable"};

static bool is_ratio(double v)
{
    return isfinite(v) && v >= 0 && v <= 1;
}

/* Names go into a database, labels and terminals. */
static bool is_name(const char name[LBW_JOB_NAME_MAX])
{
    size_t n = strnlen(name, LBW_JOB_NAME_MAX);

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return false;
    return n < LBW_JOB_NAME_MAX;
}

static bool is_valid_host(const struct lbw_job_host *h)
{
    return memchr(h->host, 0, sizeof(h->host)) && lbw_host_name_valid(h->host) &&
           is_ratio(h->share) && isfinite(h->rate_hz) && h->rate_hz >= 0 &&
           h->iterations <= INT64_MAX && h->compute_ns >= 0 && h->wait_ns >= 0;
}

size_t lbw_job_bytes(const struct lbw_job *j)
{
    return offsetof(struct lbw_job, host) + j->nhost * sizeof(j->host[0]);
}

bool lbw_job_valid(const struct lbw_job *j)
{
    bool good = j->ended <= 1 && j->placement < LBW_PLACEMENTS && j->age_ns >= 0 &&
                j->run_ns >= 0 && j->placed_ns >= 0 && is_name(j->user) && is_name(j->account) &&
                is_name(j->partition) && is_name(j->policy) && is_ratio(j->load_balance) &&
                is_ratio(j->efficiency) && is_ratio(j->balance_before) && j->compute_ns >= 0 &&
                j->wait_ns >= 0 && j->overhead_ns >= 0 && j->period_ns >= 0 &&
                j->loops <= INT64_MAX && j->moved_bytes <= INT64_MAX &&
                j->moved_iterations <= INT64_MAX && j->nhost <= LBW_JOB_HOSTS_MAX;

    for (int i = 0; i < LBW_JOB_REASONS; i++)
        good = good && j->decisions[i] <= INT64_MAX;
    for (size_t i = 0; good && i < j->nhost; i++)
        good = is_valid_host(&j->host[i]);
    return good;
}

size_t lbw_job_fields(const struct lbw_job *j)
{
    return JOB_FIELDS + HOST_FIELDS * j->nhost;
}

void lbw_job_write(struct lbw_writer *w, const struct lbw_job *j)
{
    lbw_write_u64(w, j->seq);
    lbw_write_u64(w, j->ended);
    lbw_write_i64(w, j->age_ns);
    lbw_write_i64(w, j->run_ns);
    lbw_write_i64(w, j->placed_ns);
    lbw_write_u64(w, j->jobid);
    lbw_write_u64(w, j->stepid);
    lbw_write_str(w, j->user);
    lbw_write_str(w, j->account);
    lbw_write_str(w, j->partition);
    lbw_write_str(w, j->policy);
    lbw_write_u64(w, j->hosts);
    lbw_write_u64(w, j->ranks);
    lbw_write_u64(w, j->placement);
    lbw_write_f64(w, j->load_balance);
    lbw_write_f64(w, j->efficiency);
    lbw_write_f64(w, j->balance_before);
    lbw_write_i64(w, j->compute_ns);
    lbw_write_i64(w, j->wait_ns);
    lbw_write_i64(w, j->overhead_ns);
    lbw_write_i64(w, j->saved_ns);
    lbw_write_i64(w, j->period_ns);
    lbw_write_u64(w, j->loops);
    lbw_write_u64(w, j->moved_bytes);
    lbw_write_u64(w, j->moved_iterations);
    for (int i = 0; i < LBW_JOB_REASONS; i++)
        lbw_write_u64(w, j->decisions[i]);
    for (size_t i = 0; i < j->nhost; i++) {
        const struct lbw_job_host *h = &j->host[i];

        lbw_write_str(w, h->host);
        lbw_write_f64(w, h->share);
        lbw_write_f64(w, h->rate_hz);
        lbw_write_u64(w, h->iterations);
        lbw_write_i64(w, h->compute_ns);
        lbw_write_i64(w, h->wait_ns);
    }
}

static void read_host(struct lbw_reader *r, struct lbw_job_host *h)
{
    lbw_read_str(r, h->host, sizeof(h->host));
    h->share = lbw_read_f64(r, 0, 1);
    h->rate_hz = lbw_read_f64(r, 0, DBL_MAX);
    h->iterations = lbw_read_u64(r, INT64_MAX);
    h->compute_ns = lbw_read_i64(r, 0, INT64_MAX);
    h->wait_ns = lbw_read_i64(r, 0, INT64_MAX);
}

void lbw_job_read(struct lbw_reader *r, struct lbw_job *j)
{
    j->seq = lbw_read_u64(r, UINT64_MAX);
    j->ended = (uint32_t)lbw_read_u64(r, 1);
    j->age_ns = lbw_read_i64(r, 0, INT64_MAX);
    j->run_ns = lbw_read_i64(r, 0, INT64_MAX);
    j->placed_ns = lbw_read_i64(r, 0, INT64_MAX);
    j->jobid = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    j->stepid = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    lbw_read_str(r, j->user, sizeof(j->user));
    lbw_read_str(r, j->account, sizeof(j->account));
    lbw_read_str(r, j->partition, sizeof(j->partition));
    lbw_read_str(r, j->policy, sizeof(j->policy));
    j->hosts = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    j->ranks = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    j->placement = (uint32_t)lbw_read_u64(r, LBW_PLACEMENTS - 1);
    j->load_balance = lbw_read_f64(r, 0, 1);
    j->efficiency = lbw_read_f64(r, 0, 1);
    j->balance_before = lbw_read_f64(r, 0, 1);
    j->compute_ns = lbw_read_i64(r, 0, INT64_MAX);
    j->wait_ns = lbw_read_i64(r, 0, INT64_MAX);
    j->overhead_ns = lbw_read_i64(r, 0, INT64_MAX);
    j->saved_ns = lbw_read_i64(r, INT64_MIN, INT64_MAX);
    j->period_ns = lbw_read_i64(r, 0, INT64_MAX);
    j->loops = lbw_read_u64(r, INT64_MAX);
    j->moved_bytes = lbw_read_u64(r, INT64_MAX);
    j->moved_iterations = lbw_read_u64(r, INT64_MAX);
    for (int i = 0; i < LBW_JOB_REASONS; i++)
        j->decisions[i] = lbw_read_u64(r, INT64_MAX);
    for (j->nhost = 0; r->left > 0 && !r->bad && j->nhost < LBW_JOB_HOSTS_MAX; j->nhost++)
        read_host(r, &j->host[j->nhost]);
    if (!r->bad && !lbw_job_valid(j))
        r->bad = true;
}
