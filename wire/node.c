/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between nodes and controller. */
#include "wire/node.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "wire/claims.h"
#include "wire/flat.h"
#include "wire/hosts.h"

#define REPORT_FIELDS (29 + 3 * LBW_NODE_KERNELS)
#define PROOF_TYPE 1
#define PROOF_FIELDS 8
#define CLAIMS_FIELDS 7 /* and those of each */

static bool is_within(double v, double least, double most)
{
    return isfinite(v) && v >= least && v <= most;
}

static bool is_valid_report(const struct lbw_node_report *r)
{
    bool good = is_within(r->cpus, DBL_MIN, DBL_MAX) && is_within(r->hardware, DBL_MIN, DBL_MAX) &&
                is_within(r->core_speed, DBL_MIN, DBL_MAX) &&
                is_within(r->capacity, DBL_MIN, DBL_MAX) &&
                is_within(r->hardware_s, DBL_MIN, DBL_MAX) &&
                is_within(r->workload_ratio, 1, DBL_MAX) && is_within(r->share_ratio, 0, 1) &&
                is_within(r->external_cpus, 0, DBL_MAX) && is_within(r->busy_cpus, 0, DBL_MAX) &&
                is_within(r->steal_cpus, 0, DBL_MAX) && is_within(r->pressure_ratio, 0, 1) &&
                r->age_ns >= 0 && r->bench_age_ns >= 0 && memchr(r->model, 0, sizeof(r->model));

    good = good && is_within(r->slow_ratio, DBL_MIN, 1) && r->slow_kernel < LBW_NODE_KERNELS &&
           is_within(r->throttled_ratio, 0, 1) && is_within(r->fresh_tasks, 0, DBL_MAX) &&
           is_within(r->placed_cpus, 0, DBL_MAX) && is_within(r->others_cpus, 0, DBL_MAX);
    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        good = good && is_within(r->kernel_ops_hz[i], 0, DBL_MAX) &&
               is_within(r->kernel_all_hz[i], 0, DBL_MAX) &&
               is_within(r->kernel_dispersion[i], 0, DBL_MAX);
    return good;
}

static void write_report(struct lbw_writer *w, const struct lbw_node_report *r)
{
    lbw_write_u64(w, r->seq);
    lbw_write_i64(w, r->age_ns);
    lbw_write_f64(w, r->cpus);
    lbw_write_f64(w, r->hardware);
    lbw_write_f64(w, r->core_speed);
    lbw_write_f64(w, r->capacity);
    lbw_write_f64(w, r->hardware_s);
    lbw_write_f64(w, r->workload_ratio);
    lbw_write_f64(w, r->share_ratio);
    lbw_write_i64(w, r->bench_age_ns);
    for (int i = 0; i < LBW_NODE_KERNELS; i++) {
        lbw_write_f64(w, r->kernel_ops_hz[i]);
        lbw_write_f64(w, r->kernel_all_hz[i]);
        lbw_write_f64(w, r->kernel_dispersion[i]);
    }
    lbw_write_f64(w, r->slow_ratio);
    lbw_write_u64(w, r->slow_kernel);
    lbw_write_u64(w, r->packages);
    lbw_write_u64(w, r->cores);
    lbw_write_u64(w, r->numa_nodes);
    lbw_write_f64(w, r->external_cpus);
    lbw_write_f64(w, r->busy_cpus);
    lbw_write_f64(w, r->steal_cpus);
    lbw_write_f64(w, r->pressure_ratio);
    lbw_write_f64(w, r->throttled_ratio);
    lbw_write_f64(w, r->fresh_tasks);
    lbw_write_f64(w, r->placed_cpus);
    lbw_write_u64(w, r->samples);
    lbw_write_f64(w, r->others_cpus);
    lbw_write_u64(w, r->running);
    lbw_write_u64(w, r->users);
    lbw_write_u64(w, r->terminals);
    lbw_write_u64(w, r->tasks);
    lbw_write_str(w, r->model);
}

static void read_report(struct lbw_reader *rd, struct lbw_node_report *r)
{
    r->seq = lbw_read_u64(rd, UINT64_MAX);
    r->age_ns = lbw_read_i64(rd, 0, INT64_MAX);
    r->cpus = lbw_read_f64(rd, DBL_MIN, DBL_MAX);
    r->hardware = lbw_read_f64(rd, DBL_MIN, DBL_MAX);
    r->core_speed = lbw_read_f64(rd, DBL_MIN, DBL_MAX);
    r->capacity = lbw_read_f64(rd, DBL_MIN, DBL_MAX);
    r->hardware_s = lbw_read_f64(rd, DBL_MIN, DBL_MAX);
    r->workload_ratio = lbw_read_f64(rd, 1, DBL_MAX);
    r->share_ratio = lbw_read_f64(rd, 0, 1);
    r->bench_age_ns = lbw_read_i64(rd, 0, INT64_MAX);
    for (int i = 0; i < LBW_NODE_KERNELS; i++) {
        r->kernel_ops_hz[i] = lbw_read_f64(rd, 0, DBL_MAX);
        r->kernel_all_hz[i] = lbw_read_f64(rd, 0, DBL_MAX);
        r->kernel_dispersion[i] = lbw_read_f64(rd, 0, DBL_MAX);
    }
    r->slow_ratio = lbw_read_f64(rd, DBL_MIN, 1);
    r->slow_kernel = (uint32_t)lbw_read_u64(rd, LBW_NODE_KERNELS - 1);
    r->packages = (uint32_t)lbw_read_u64(rd, UINT32_MAX);
    r->cores = (uint32_t)lbw_read_u64(rd, UINT32_MAX);
    r->numa_nodes = (uint32_t)lbw_read_u64(rd, UINT32_MAX);
    r->external_cpus = lbw_read_f64(rd, 0, DBL_MAX);
    r->busy_cpus = lbw_read_f64(rd, 0, DBL_MAX);
    r->steal_cpus = lbw_read_f64(rd, 0, DBL_MAX);
    r->pressure_ratio = lbw_read_f64(rd, 0, 1);
    r->throttled_ratio = lbw_read_f64(rd, 0, 1);
    r->fresh_tasks = lbw_read_f64(rd, 0, DBL_MAX);
    r->placed_cpus = lbw_read_f64(rd, 0, DBL_MAX);
    r->samples = lbw_read_u64(rd, UINT64_MAX);
    r->others_cpus = lbw_read_f64(rd, 0, DBL_MAX);
    r->running = (uint32_t)lbw_read_u64(rd, UINT32_MAX);
    r->users = (uint32_t)lbw_read_u64(rd, UINT32_MAX);
    r->terminals = (uint32_t)lbw_read_u64(rd, UINT32_MAX);
    r->tasks = (uint32_t)lbw_read_u64(rd, UINT32_MAX);
    lbw_read_str(rd, r->model, sizeof(r->model));
}

static void write_claims(struct lbw_writer *w, const struct lbw_node_claims *c)
{
    lbw_write_str(w, c->origin);
    lbw_write_u64(w, c->uid);
    lbw_claims_write(w, &c->claims);
}

static void read_claims(struct lbw_reader *r, struct lbw_node_claims *c)
{
    lbw_read_str(r, c->origin, sizeof(c->origin));
    c->uid = (uint32_t)lbw_read_u64(r, UINT32_MAX);
    lbw_claims_read(r, &c->claims);
    if (!r->bad && !lbw_host_name_valid(c->origin))
        r->bad = true;
}

/* Fields of a message, 0 when it cannot be told. */
static size_t check_message(const struct lbw_node_msg *msg)
{
    switch (msg->type) {
    case LBW_N_CHALLENGE:
    case LBW_N_ACK:
        return 3;
    case LBW_N_HELLO:
        return memchr(msg->u.credential, 0, sizeof(msg->u.credential)) ? 3 : 0;
    case LBW_N_REPORT:
        return is_valid_report(&msg->u.report) ? 2 + REPORT_FIELDS : 0;
    case LBW_N_JOB:
        return lbw_job_valid(&msg->u.job) ? 2 + lbw_job_fields(&msg->u.job) : 0;
    case LBW_N_DECISIONS:
        return memchr(msg->u.decisions.text, 0, sizeof(msg->u.decisions.text)) ? 6 : 0;
    case LBW_N_CLAIMS:
        return memchr(msg->u.claims.origin, 0, sizeof(msg->u.claims.origin)) &&
                       lbw_host_name_valid(msg->u.claims.origin) &&
                       lbw_claims_valid(&msg->u.claims.claims)
                   ? CLAIMS_FIELDS + lbw_claims_fields(&msg->u.claims.claims)
                   : 0;
    case LBW_N_RANK:
        return lbw_hosts_valid(&msg->u.hosts) ? 2 + lbw_hosts_fields(&msg->u.hosts) : 0;
    }
    return 0;
}

int lbw_node_encode(const struct lbw_node_msg *msg, struct lbx_buf *out)
{
    size_t nfields = check_message(msg);
    struct lbw_writer w;

    if (nfields == 0)
        return -EINVAL;
    lbw_write_begin(&w, out, nfields, LBW_NODE_VERSION, msg->type);
    switch (msg->type) {
    case LBW_N_CHALLENGE:
        lbw_write_bytes(&w, msg->u.nonce, sizeof(msg->u.nonce));
        break;
    case LBW_N_HELLO:
        lbw_write_str(&w, msg->u.credential);
        break;
    case LBW_N_REPORT:
        write_report(&w, &msg->u.report);
        break;
    case LBW_N_JOB:
        lbw_job_write(&w, &msg->u.job);
        break;
    case LBW_N_DECISIONS:
        lbw_write_u64(&w, msg->u.decisions.jobid);
        lbw_write_u64(&w, msg->u.decisions.stepid);
        lbw_write_u64(&w, msg->u.decisions.uid);
        lbw_write_str(&w, msg->u.decisions.text);
        break;
    case LBW_N_CLAIMS:
        write_claims(&w, &msg->u.claims);
        break;
    case LBW_N_ACK:
        lbw_write_u64(&w, msg->u.acked_seq);
        break;
    case LBW_N_RANK:
        lbw_hosts_write(&w, &msg->u.hosts);
        break;
    }
    return lbw_write_end(&w);
}

int lbw_node_decode(const uint8_t *body, size_t n, struct lbw_node_msg *ret_msg)
{
    struct lbw_reader r;
    uint32_t type;

    if (lbw_read_begin(&r, body, n, LBW_NODE_VERSION, &type) < 0)
        return -EPROTO;
    ret_msg->type = (enum lbw_node_type)type;
    switch (ret_msg->type) {
    case LBW_N_CHALLENGE:
        lbw_read_bytes(&r, ret_msg->u.nonce, sizeof(ret_msg->u.nonce));
        break;
    case LBW_N_HELLO:
        lbw_read_str(&r, ret_msg->u.credential, sizeof(ret_msg->u.credential));
        break;
    case LBW_N_REPORT:
        read_report(&r, &ret_msg->u.report);
        break;
    case LBW_N_JOB:
        lbw_job_read(&r, &ret_msg->u.job);
        break;
    case LBW_N_DECISIONS:
        ret_msg->u.decisions.jobid = (uint32_t)lbw_read_u64(&r, UINT32_MAX);
        ret_msg->u.decisions.stepid = (uint32_t)lbw_read_u64(&r, UINT32_MAX);
        ret_msg->u.decisions.uid = (uint32_t)lbw_read_u64(&r, UINT32_MAX);
        lbw_read_str(&r, ret_msg->u.decisions.text, sizeof(ret_msg->u.decisions.text));
        break;
    case LBW_N_CLAIMS:
        read_claims(&r, &ret_msg->u.claims);
        break;
    case LBW_N_ACK:
        ret_msg->u.acked_seq = lbw_read_u64(&r, UINT64_MAX);
        break;
    case LBW_N_RANK:
        lbw_hosts_read(&r, &ret_msg->u.hosts);
        break;
    default:
        return -EPROTO;
    }
    return lbw_read_end(&r);
}

int lbw_node_proof_encode(const struct lbw_node_proof *proof, struct lbx_buf *out)
{
    struct lbw_writer w;

    if (!lbw_host_name_valid(proof->host))
        return -EINVAL;
    lbw_write_begin(&w, out, PROOF_FIELDS, LBW_NODE_VERSION, PROOF_TYPE);
    lbw_write_str(&w, LBW_NODE_PURPOSE);
    lbw_write_bytes(&w, proof->nonce, sizeof(proof->nonce));
    lbw_write_str(&w, proof->host);
    lbw_write_str(&w, proof->boot);
    lbw_write_u64(&w, proof->instance);
    lbw_write_bytes(&w, proof->session_key, sizeof(proof->session_key));
    return lbw_write_end(&w);
}

int lbw_node_proof_decode(const uint8_t *body, size_t n, struct lbw_node_proof *ret_proof)
{
    char purpose[sizeof(LBW_NODE_PURPOSE)];
    struct lbw_reader r;
    uint32_t type;

    if (lbw_read_begin(&r, body, n, LBW_NODE_VERSION, &type) < 0 || type != PROOF_TYPE)
        return -EPROTO;
    lbw_read_str(&r, purpose, sizeof(purpose));
    lbw_read_bytes(&r, ret_proof->nonce, sizeof(ret_proof->nonce));
    lbw_read_str(&r, ret_proof->host, sizeof(ret_proof->host));
    lbw_read_str(&r, ret_proof->boot, sizeof(ret_proof->boot));
    ret_proof->instance = lbw_read_u64(&r, UINT64_MAX);
    lbw_read_bytes(&r, ret_proof->session_key, sizeof(ret_proof->session_key));
    if (lbw_read_end(&r) < 0 || strcmp(purpose, LBW_NODE_PURPOSE) != 0 ||
        !lbw_host_name_valid(ret_proof->host))
        return -EPROTO;
    return 0;
}
