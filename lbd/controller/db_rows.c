/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the database: hosts, their reports, events, ended steps. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lbd/controller/db_impl.h"

#define BENCH_DIFFERS_S 5 /* the same benchmark's time differs so much from report to report */
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

_Static_assert(LBW_NODE_KERNELS == 5, "each kernel has columns of its own");

static const char sql_load[] =
    "SELECT h.name, h.boot, h.model, h.last_seen, c.at, c.cpus, c.hardware, c.core_speed,"
    " c.capacity, c.hardware_us, c.workload, c.share, c.integer_hz, c.floating_hz, c.memory_hz,"
    " c.fma_hz, c.triad_hz, c.integer_all_hz, c.floating_all_hz, c.memory_all_hz, c.fma_all_hz,"
    " c.triad_all_hz, c.integer_dispersion, c.floating_dispersion, c.memory_dispersion,"
    " c.fma_dispersion, c.triad_dispersion, c.slow, c.slow_kernel, c.packages, c.cores,"
    " c.numa_nodes, c.external, c.running, c.users, c.terminals, c.tasks, c.benchmark_at"
    " FROM host h LEFT JOIN current c ON c.host_id = h.id ORDER BY h.id";

static void read_text(sqlite3_stmt *st, int column, char *ret, size_t size)
{
    const unsigned char *text = sqlite3_column_text(st, column);

    snprintf(ret, size, "%s", text ? (const char *)text : "");
}

static double read_milli(sqlite3_stmt *st, int column)
{
    return (double)sqlite3_column_int64(st, column) / 1000;
}

/* Columns from `column` on, as sql_load has them.  Returns the next one. */
static int read_benchmark(sqlite3_stmt *st, int column, struct lbw_node_report *r)
{
    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        r->kernel_ops_hz[i] = (double)sqlite3_column_int64(st, column++);
    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        r->kernel_all_hz[i] = (double)sqlite3_column_int64(st, column++);
    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        r->kernel_dispersion[i] = read_milli(st, column++);
    r->slow_ratio = read_milli(st, column++);
    if (!(r->slow_ratio > 0 && r->slow_ratio <= 1))
        r->slow_ratio = 1;
    r->slow_kernel = (uint32_t)sqlite3_column_int64(st, column++);
    if (r->slow_kernel >= LBW_NODE_KERNELS)
        r->slow_kernel = 0;
    r->packages = (uint32_t)sqlite3_column_int64(st, column++);
    r->cores = (uint32_t)sqlite3_column_int64(st, column++);
    r->numa_nodes = (uint32_t)sqlite3_column_int64(st, column++);
    return column;
}

static void read_row(sqlite3_stmt *st, struct lbd_db_host *h, int64_t *ret_at_s,
                     struct lbw_node_report *r)
{
    int column;

    memset(h, 0, sizeof(*h));
    memset(r, 0, sizeof(*r));
    read_text(st, 0, h->name, sizeof(h->name));
    read_text(st, 1, h->boot, sizeof(h->boot));
    read_text(st, 2, h->model, sizeof(h->model));
    h->seen_s = sqlite3_column_int64(st, 3);
    *ret_at_s = sqlite3_column_int64(st, 4);
    r->cpus = read_milli(st, 5);
    r->hardware = read_milli(st, 6);
    r->core_speed = read_milli(st, 7);
    r->capacity = read_milli(st, 8);
    r->hardware_s = read_milli(st, 9) / 1000;
    r->workload_ratio = read_milli(st, 10);
    r->share_ratio = read_milli(st, 11);
    column = read_benchmark(st, 12, r);
    r->external_cpus = read_milli(st, column++);
    r->running = (uint32_t)sqlite3_column_int64(st, column++);
    r->users = (uint32_t)sqlite3_column_int64(st, column++);
    r->terminals = (uint32_t)sqlite3_column_int64(st, column++);
    r->tasks = (uint32_t)sqlite3_column_int64(st, column++);
    memcpy(r->model, h->model, sizeof(r->model));
}

int lbd_db_load(struct lbd_db *db,
                void (*on_host)(void *data, const struct lbd_db_host *host, int64_t at_s,
                                const struct lbw_node_report *report),
                void *data)
{
    struct lbw_node_report report;
    struct lbd_db_host host;
    sqlite3_stmt *st = NULL;
    int64_t at_s;
    int rc = sqlite3_prepare_v2(db->sqlite, sql_load, -1, &st, NULL);

    while (rc == SQLITE_OK || rc == SQLITE_ROW) {
        rc = sqlite3_step(st);
        if (rc != SQLITE_ROW)
            break;
        read_row(st, &host, &at_s, &report);
        on_host(data, &host, at_s, &report);
    }
    sqlite3_finalize(st);
    return lbd_db_errno(rc);
}

/* Integers in thousandths, whatever a node tells. */
static int64_t to_milli(double v)
{
    return isfinite(v) ? (int64_t)llround(fmin(fmax(v, 0), 1e12) * 1000) : 0;
}

int lbd_db_put_host(struct lbd_db *db, const struct lbd_db_host *host, int64_t *ret_id)
{
    sqlite3_stmt *st = db->statement[S_HOST];

    sqlite3_bind_text(st, 1, host->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 2, host->boot, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 3, host->model, -1, SQLITE_STATIC);
    sqlite3_bind_int64(st, 4, host->seen_s);
    return lbd_db_run(db, S_HOST, ret_id);
}

static int64_t to_whole(double v)
{
    return to_milli(v) / 1000;
}

/* One row a benchmark: a report tells of the same one again and again. */
static int put_benchmark(struct lbd_db *db, int64_t host_id, int64_t at_s,
                         const struct lbw_node_report *r)
{
    int64_t bench_s = at_s - r->bench_age_ns / INT64_C(1000000000), last_s = INT64_MIN;
    int64_t row[3 + 2 * LBW_NODE_KERNELS];
    double dispersion = 0;
    int n = 0, rc;

    if (bench_s < 0)
        return 0;
    lbd_db_bind(db->statement[S_BENCHED_AT], &host_id, 1);
    rc = lbd_db_run(db, S_BENCHED_AT, &last_s);
    if (rc < 0 || (last_s != INT64_MIN && bench_s <= last_s + BENCH_DIFFERS_S))
        return rc;
    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        dispersion = fmax(dispersion, r->kernel_dispersion[i]);
    row[n++] = bench_s << LBD_DB_HOST_BITS | host_id;
    row[n++] = to_milli(r->hardware_s * 1000);
    row[n++] = to_milli(dispersion);
    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        row[n++] = to_whole(r->kernel_ops_hz[i]);
    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        row[n++] = to_whole(r->kernel_all_hz[i]);
    lbd_db_bind(db->statement[S_BENCHMARK], row, n);
    return lbd_db_run(db, S_BENCHMARK, NULL);
}

static int put_current(struct lbd_db *db, int64_t host_id, int64_t at_s,
                       const struct lbw_node_report *r)
{
    int64_t head[] = {host_id,
                      at_s,
                      to_milli(r->cpus),
                      to_milli(r->hardware),
                      to_milli(r->core_speed),
                      to_milli(r->capacity),
                      to_milli(r->hardware_s * 1000),
                      to_milli(r->workload_ratio),
                      to_milli(r->share_ratio),
                      at_s - r->bench_age_ns / INT64_C(1000000000)};
    int64_t tail[] = {
        to_milli(r->slow_ratio),    r->slow_kernel, r->packages, r->cores,     r->numa_nodes,
        to_milli(r->external_cpus), r->running,     r->users,    r->terminals, r->tasks};
    int64_t row[LENGTH(head) + 3 * LBW_NODE_KERNELS + LENGTH(tail)];
    size_t n = LENGTH(head);

    memcpy(row, head, sizeof(head));
    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        row[n++] = to_whole(r->kernel_ops_hz[i]);
    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        row[n++] = to_whole(r->kernel_all_hz[i]);
    for (int i = 0; i < LBW_NODE_KERNELS; i++)
        row[n++] = to_milli(r->kernel_dispersion[i]);
    memcpy(row + n, tail, sizeof(tail));
    lbd_db_bind(db->statement[S_CURRENT], row, (int)LENGTH(row));
    return lbd_db_run(db, S_CURRENT, NULL);
}

int lbd_db_put_report(struct lbd_db *db, int64_t host_id, int64_t at_s,
                      const struct lbw_node_report *r)
{
    int64_t raw[] = {at_s << LBD_DB_HOST_BITS | host_id,
                     to_milli(r->core_speed),
                     to_milli(r->capacity),
                     to_milli(r->busy_cpus),
                     to_milli(r->external_cpus),
                     to_milli(r->steal_cpus),
                     to_milli(r->pressure_ratio),
                     r->running,
                     r->users,
                     r->tasks};
    int rc;

    if (host_id <= 0 || host_id >= INT64_C(1) << LBD_DB_HOST_BITS || at_s < 0)
        return -EINVAL;
    rc = put_benchmark(db, host_id, at_s, r);
    if (rc < 0)
        return rc;
    rc = put_current(db, host_id, at_s, r);
    if (rc < 0)
        return rc;
    lbd_db_bind(db->statement[S_RAW], raw, (int)LENGTH(raw));
    return lbd_db_run(db, S_RAW, NULL);
}

int lbd_db_put_event(struct lbd_db *db, int64_t at_s, int64_t host_id, const char *what,
                     const char *detail)
{
    sqlite3_stmt *st = db->statement[S_EVENT];

    sqlite3_bind_int64(st, 1, at_s);
    if (host_id > 0)
        sqlite3_bind_int64(st, 2, host_id);
    else
        sqlite3_bind_null(st, 2);
    sqlite3_bind_text(st, 3, what, -1, SQLITE_STATIC);
    sqlite3_bind_text(st, 4, detail, -1, SQLITE_STATIC);
    return lbd_db_run(db, S_EVENT, NULL);
}

/* Signed, for what may be negative. */
static int64_t to_milli_signed(double v)
{
    return v < 0 ? -to_milli(-v) : to_milli(v);
}

static void bind_or_null(sqlite3_stmt *st, int column, bool known, int64_t v)
{
    if (known)
        sqlite3_bind_int64(st, column, v);
    else
        sqlite3_bind_null(st, column);
}

static int put_job_row(struct lbd_db *db, const struct lbd_db_job *j, int64_t *ret_id)
{
    const char *text[] = {j->user, j->account, j->partition, j->policy};
    int64_t number[] = {j->hosts,
                        j->ranks,
                        j->started_s,
                        j->ended_s,
                        to_milli(j->load_balance),
                        to_milli(j->efficiency),
                        to_milli(j->compute_s),
                        to_milli(j->wait_s),
                        to_milli(j->overhead_s),
                        to_milli_signed(j->saved_s),
                        j->moved_bytes,
                        j->moves};
    sqlite3_stmt *st = db->statement[S_JOB];
    int column = 1;

    sqlite3_bind_int64(st, column++, j->jobid);
    sqlite3_bind_int64(st, column++, j->stepid);
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
        sqlite3_bind_text(st, column++, text[i], -1, SQLITE_STATIC);
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
        sqlite3_bind_int64(st, column++, number[i]);
    bind_or_null(st, column++, j->predicted_s > 0, to_milli(j->predicted_s));
    bind_or_null(st, column++, j->balance_before >= 0, to_milli(j->balance_before));
    bind_or_null(st, column, j->nonce != 0, j->nonce);
    return lbd_db_run(db, S_JOB, ret_id);
}

int lbd_db_put_job(struct lbd_db *db, const struct lbd_db_job *job, int64_t *ret_id)
{
    int64_t id = 0;
    int rc = put_job_row(db, job, &id);

    for (size_t i = 0; i < job->nhost && rc == 0 && id > 0; i++) {
        const struct lbd_db_job_host *h = &job->host[i];
        int64_t row[] = {id,
                         0,
                         to_milli(h->share_ratio),
                         h->iterations,
                         to_milli(h->compute_s),
                         to_milli(h->wait_s)};

        sqlite3_bind_text(db->statement[S_HOST_ID], 1, h->host, -1, SQLITE_STATIC);
        rc = lbd_db_run(db, S_HOST_ID, &row[1]);
        if (rc < 0 || row[1] == 0) /* a name that is the user's word makes no host */
            continue;
        lbd_db_bind(db->statement[S_JOB_HOST], row, sizeof(row) / sizeof(row[0]));
        rc = lbd_db_run(db, S_JOB_HOST, NULL);
    }
    if (rc == 0)
        *ret_id = id;
    return rc;
}
