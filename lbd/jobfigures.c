/* SPDX-License-Identifier: BSD-3-Clause */
/* A balancer's figures as a message. */
#include "lbd/jobfigures.h"

#include <math.h>
#include <string.h>

#include "common/text.h"
#include "wire/hosts.h"

#define NS_MOST 4e18 /* a century; two of them still fit */

bool lbd_jobfigures_number(const json_t *o, const char *key, double *ret)
{
    const json_t *v = json_object_get(o, key);

    if (!json_is_number(v) || !isfinite(json_number_value(v)) || json_number_value(v) < 0)
        return false;
    *ret = json_number_value(v);
    return true;
}

void lbd_jobfigures_text(const json_t *o, const char *key, char ret[LBW_JOB_NAME_MAX])
{
    const char *text = json_string_value(json_object_get(o, key));

    lbx_text_clean(text ? text : "", ret, LBW_JOB_NAME_MAX);
}

static int64_t ns_of(const json_t *o, const char *key)
{
    double s = 0;

    lbd_jobfigures_number(o, key, &s);
    return (int64_t)fmin(s * 1e9, NS_MOST);
}

static double ratio_of(const json_t *o, const char *key)
{
    double v = 0;

    lbd_jobfigures_number(o, key, &v);
    return fmin(v, 1);
}

static uint64_t count_of(const json_t *o, const char *key)
{
    double v = 0;

    lbd_jobfigures_number(o, key, &v);
    return (uint64_t)fmin(v, NS_MOST);
}

static int64_t add(int64_t a, int64_t b) /* both >= 0 */
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static void fill_hosts(const json_t *list, struct lbw_job *ret)
{
    ret->nhost = 0;
    for (size_t i = 0; i < json_array_size(list) && ret->nhost < LBW_JOB_HOSTS_MAX; i++) {
        const json_t *o = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(o, "host"));
        struct lbw_job_host *h = &ret->host[ret->nhost];

        if (!name || strlen(name) >= sizeof(h->host) || !lbw_host_name_valid(name))
            continue;
        *h = (struct lbw_job_host){.share = ratio_of(o, "share"),
                                   .iterations = count_of(o, "iterations"),
                                   .compute_ns = ns_of(o, "compute_s"),
                                   .wait_ns = ns_of(o, "wait_s")};
        lbd_jobfigures_number(o, "rate", &h->rate_hz);
        strcpy(h->host, name);
        ret->compute_ns = add(ret->compute_ns, h->compute_ns);
        ret->wait_ns = add(ret->wait_ns, h->wait_ns);
        ret->nhost++;
    }
}

void lbd_jobfigures_fill(const json_t *o, int64_t wall_ns, struct lbw_job *ret)
{
    const json_t *saved = json_object_get(o, "saved_s");
    double s = json_is_number(saved) ? json_number_value(saved) : 0;
    int64_t begun_ns = ns_of(o, "begun_s");

    lbd_jobfigures_text(o, "policy", ret->policy);
    lbd_jobfigures_text(o, "account", ret->account);
    lbd_jobfigures_text(o, "partition", ret->partition);
    ret->run_ns = begun_ns > 0 && begun_ns < wall_ns ? wall_ns - begun_ns : 0;
    ret->placed_ns = ns_of(o, "placed_s");
    ret->hosts = (uint32_t)json_array_size(json_object_get(o, "hosts"));
    ret->ranks = (uint32_t)(count_of(o, "ranks") & UINT32_MAX);
    ret->placement = lbw_placement_of(json_string_value(json_object_get(o, "placement")));
    /* nothing was computed yet: nobody waits for anybody */
    ret->load_balance = json_object_get(o, "load_balance") ? ratio_of(o, "load_balance") : 1;
    ret->efficiency = ratio_of(o, "efficiency");
    ret->balance_before = ratio_of(o, "balance_before");
    ret->compute_ns = ret->wait_ns = 0;
    ret->overhead_ns = ns_of(o, "moving_s") + ns_of(o, "balancer_cpu_s");
    ret->saved_ns = isfinite(s) ? (int64_t)fmax(fmin(s * 1e9, NS_MOST), -NS_MOST) : 0;
    ret->period_ns = ns_of(o, "period_s");
    ret->loops = count_of(o, "loops");
    ret->moved_bytes = count_of(o, "moved_bytes");
    ret->moved_iterations = count_of(o, "moved_iterations");
    for (int i = 0; i < LBW_JOB_REASONS; i++)
        ret->decisions[i] =
            count_of(json_object_get(o, i < LBW_JOB_REASONS_MOVING ? "moved" : "skipped"),
                     lbw_job_reason[i]);
    fill_hosts(json_object_get(o, "hosts"), ret);
}
