/* SPDX-License-Identifier: BSD-3-Clause */
/* Bringing what the parts of lbd know into the metrics. */
#include "lbd/expose.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "config.h"
#include "lbd/node/backlog.h"
#include "lbd/node/kernel.h"

static void set(struct lbd_metrics *m, enum lbd_metric metric, double value)
{
    lbd_metrics_set(m, metric, NULL, value);
}

static void set1(struct lbd_metrics *m, enum lbd_metric metric, const char *label, double value)
{
    lbd_metrics_set(m, metric, (const char *const[]){label}, value);
}

static double count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = -3; /* ".", "..", and this one */

    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static double read_resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f) {
        if (fscanf(f, "%lu %lu", &size, &resident) != 2)
            resident = 0;
        fclose(f);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void expose_process(struct lbd_metrics *m, const struct lbd_view *v)
{
    lbd_metrics_set(m, LBD_M_BUILD_INFO, (const char *const[]){PACKAGE_VERSION, LB_REVISION}, 1);
    set(m, LBD_M_PROCESS_CPU_SECONDS_TOTAL, (double)lbx_clock_process_cpu_ns() / 1e9);
    set(m, LBD_M_PROCESS_RESIDENT_MEMORY_BYTES, read_resident_bytes());
    set(m, LBD_M_PROCESS_OPEN_FDS, count_fds());
    set(m, LBD_M_PROCESS_START_TIME_SECONDS, (double)v->started_wall_ns / 1e9);
    set(m, LBD_M_CONFIG_RELOAD_FAILURES_TOTAL, (double)v->reload_failures);
    set(m, LBD_M_METRICS_LEFT_OUT_TOTAL, (double)lbd_metrics_left_out(m));
}

static void expose_kernels(struct lbd_metrics *m, const struct lbd_node_stats *s)
{
    for (int i = 0; i < LBD_KERNELS; i++) {
        const char *name = lbd_kernels[i].name;
        bool memory = lbd_kernels[i].least_bytes > 0;

        set1(m, LBD_M_BENCHMARK_RUNS_TOTAL, name, (double)s->bench_runs);
        lbd_metrics_set(m, LBD_M_BENCHMARK_FAILURES_TOTAL, (const char *const[]){name, "cancelled"},
                        (double)s->bench_cancelled);
        lbd_metrics_set(m, LBD_M_BENCHMARK_FAILURES_TOTAL, (const char *const[]){name, "error"},
                        (double)s->bench_failures);
        if (!s->measured)
            continue;
        set1(m,
             memory ? LBD_M_BENCHMARK_MEMORY_BYTES_PER_SECOND
                    : LBD_M_BENCHMARK_OPERATIONS_PER_SECOND,
             name, s->bench.kernel[i].ops_hz);
        set1(m, LBD_M_BENCHMARK_DISPERSION_RATIO, name, s->bench.kernel[i].dispersion_ratio);
        set1(m, LBD_M_BENCHMARK_LAST_RUN_TIMESTAMP_SECONDS, name, (double)s->bench_wall_ns / 1e9);
    }
}

static void expose_node(struct lbd_metrics *m, const struct lbd_node *node)
{
    struct lbd_node_stats s;
    struct lbw_local_host self;

    lbd_node_stats(node, &s);
    set1(m, LBD_M_HOST_INFO, s.model, 1);
    set(m, LBD_M_HOST_CPUS, s.load.cpus);
    set(m, LBD_M_HOST_EXTERNAL_LOAD_CPUS, s.external_cpus);
    set(m, LBD_M_HOST_TASKS, s.tasks);
    set(m, LBD_M_LOAD_SAMPLES_TOTAL, (double)s.samples);
    set(m, LBD_M_LOAD_SAMPLE_FAILURES_TOTAL, (double)s.sample_failures);
    expose_kernels(m, &s);
    if (lbd_node_self(node, &self) < 0)
        return;
    set(m, LBD_M_HOST_PERFORMANCE_INDEX, self.index);
    set(m, LBD_M_HOST_HARDWARE_INDEX_SECONDS, s.bench.hardware_s);
    set(m, LBD_M_HOST_WORKLOAD_INDEX_RATIO, self.hardware / self.core_speed);
    set(m, LBD_M_HOST_EFFECTIVE_SPEED_RATIO, self.core_speed);
    set(m, LBD_M_HOST_CAPACITY_RATIO, self.capacity);
    set(m, LBD_M_HOST_OWN_HISTORY_RATIO, s.health.slow ? s.health.ratio : 1);
}

static void expose_foreseen(struct lbd_metrics *m, const struct lbd_foreseen *f)
{
    lbd_metrics_set_histogram(m, LBD_M_LOAD_FORECAST_ERROR_CPUS, NULL, f->counts, f->sum_cpus);
}

static void expose_socket(struct lbd_metrics *m, const struct lbd_view *v)
{
    int64_t age_ns = lbd_ranking_age_ns(v->ranking, lbx_clock_mono_ns());
    struct lbd_local_stats s;

    lbd_local_server_stats(v->server, &s);
    set(m, LBD_M_LOCAL_REQUESTS_TOTAL, (double)s.requests);
    set(m, LBD_M_LOCAL_CONNECTIONS, s.connections);
    set(m, LBD_M_LOCAL_REFUSED_TOTAL, (double)s.refused);
    set(m, LBD_M_LOCAL_BAD_TOTAL, (double)s.bad);
    lbd_metrics_set_histogram(m, LBD_M_PLACEMENT_DURATION_SECONDS, NULL, s.place_counts,
                              s.place_sum_s);
    if (age_ns != INT64_MAX)
        set(m, LBD_M_RANKING_AGE_SECONDS, (double)age_ns / 1e9);
}

static void expose_uplink(struct lbd_metrics *m, const struct lbd_uplink *uplink)
{
    struct lbd_uplink_stats s;

    lbd_uplink_stats(uplink, &s);
    set(m, LBD_M_UPLINK_CONNECTED, s.connected);
    set(m, LBD_M_UPLINK_FAILURES_TOTAL, (double)s.failures);
    set(m, LBD_M_UPLINK_PENDING_REPORTS, s.pending);
    set(m, LBD_M_UPLINK_PENDING_REPORTS_MAX, LBD_BACKLOG_MAX);
    set(m, LBD_M_UPLINK_DROPPED_REPORTS_TOTAL, (double)s.dropped);
}

/* Times that are not known yet are left out, but for copies that are asked for: one that was never made is as old as can be. */
static void expose_copies(struct lbd_metrics *m, const struct lbd_store_stats *s)
{
    if (s->means_s > 0)
        set(m, LBD_M_DATABASE_MEANS_TIMESTAMP_SECONDS, (double)s->means_s);
    if (s->backup) {
        set(m, LBD_M_DATABASE_BACKUP_TIMESTAMP_SECONDS, (double)s->backup_s);
        set(m, LBD_M_DATABASE_BACKUPS_TOTAL, (double)s->backups);
        set(m, LBD_M_DATABASE_BACKUP_FAILURES_TOTAL, (double)s->backup_failures);
    }
    if (s->snapshot) {
        set(m, LBD_M_DATABASE_SNAPSHOT_TIMESTAMP_SECONDS, (double)s->snapshot_s);
        set(m, LBD_M_DATABASE_SNAPSHOT_INTERVAL_SECONDS, (double)s->snapshot_interval_s);
        set(m, LBD_M_DATABASE_SNAPSHOTS_TOTAL, (double)s->snapshots);
        set(m, LBD_M_DATABASE_SNAPSHOT_FAILURES_TOTAL, (double)s->snapshot_failures);
    }
}

static void expose_database(struct lbd_metrics *m, struct lbd_store *store)
{
    static const char *const op[LBD_OPS] = {"open", "write", "commit", "maintain", "read"};
    struct lbd_store_stats s;

    lbd_store_stats(store, &s);
    set(m, LBD_M_DATABASE_SIZE_BYTES, (double)s.size_bytes);
    set(m, LBD_M_DATABASE_WAL_BYTES, (double)s.wal_bytes);
    set(m, LBD_M_DATABASE_MAX_BYTES, (double)s.max_bytes);
    set(m, LBD_M_DATABASE_OPEN, s.open);
    set(m, LBD_M_DATABASE_RESETS_TOTAL, (double)s.resets);
    set(m, LBD_M_DATABASE_WAITING_ROWS, s.waiting);
    set(m, LBD_M_DATABASE_WAITING_ROWS_MAX, LBD_STORE_ROWS_MAX);
    set(m, LBD_M_DATABASE_ROWS_TOTAL, (double)s.rows);
    set(m, LBD_M_DATABASE_DROPPED_ROWS_TOTAL, (double)s.dropped);
    for (int i = 0; i < LBD_OPS; i++)
        set1(m, LBD_M_DATABASE_ERRORS_TOTAL, op[i], (double)s.errors[i]);
    lbd_metrics_set_histogram(m, LBD_M_DATABASE_WRITE_DURATION_SECONDS, NULL, s.write_counts,
                              s.write_sum_s);
    expose_copies(m, &s);
}

static void expose_placement(struct lbd_metrics *m, const struct lbd_finished_policy *p)
{
    const char *const labels[] = {p->name};
    uint64_t asked = 0;

    for (int i = LBW_PLACE_OURS; i < LBW_PLACEMENTS; i++)
        asked += p->placement[i];
    lbd_metrics_set(m, LBD_M_PLACEMENTS_TOTAL, labels, (double)asked);
    lbd_metrics_set(m, LBD_M_PLACEMENTS_KEPT_TOTAL, labels,
                    (double)p->placement[LBW_PLACE_AS_GOOD]);
    for (int i = LBW_PLACE_FAILURES; i < LBW_PLACEMENTS; i++)
        lbd_metrics_set(m, LBD_M_PLACEMENT_FAILURES_TOTAL,
                        (const char *const[]){p->name, lbw_placement_name((enum lbw_placement)i)},
                        (double)p->placement[i]);
}

static void expose_finished(struct lbd_metrics *m, const struct lbd_finished *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct lbd_finished_policy *p = &f->policy[i];
        const char *const labels[] = {p->name};

        lbd_metrics_set(m, LBD_M_JOBS_FINISHED_TOTAL, labels, (double)p->jobs);
        expose_placement(m, p);
        lbd_metrics_set(m, LBD_M_SAVED_CORE_SECONDS_TOTAL, labels, p->saved_s);
        lbd_metrics_set_histogram(m, LBD_M_JOB_FINAL_LOAD_BALANCE_RATIO, labels, p->balance,
                                  p->balance_sum);
        lbd_metrics_set_histogram(m, LBD_M_PLACEMENT_PREDICTION_ERROR_RATIO, labels, p->error,
                                  p->error_sum);
    }
}

static void expose_jobs(struct lbd_metrics *m, const struct lbd_jobs *jobs)
{
    static const char *const why[LBD_JOBS_REFUSALS] = {"stranger", "garbage", "jobs", "series",
                                                       "rate"};
    struct lbd_jobs_stats s;

    lbd_jobs_stats(jobs, &s);
    set(m, LBD_M_HOST_JOBS, (double)s.jobs);
    set(m, LBD_M_JOB_MESSAGES_TOTAL, (double)s.messages);
    for (int i = 0; i < LBD_JOBS_REFUSALS; i++)
        set1(m, LBD_M_JOB_MESSAGES_REFUSED_TOTAL, why[i], (double)s.refused[i]);
}

void lbd_expose_controller(struct lbd_metrics *m, struct lbd_controller *c)
{
    struct lbd_controller_stats s;

    lbd_controller_stats(c, &s);
    set(m, LBD_M_CONTROLLER_HOSTS, s.hosts_fresh);
    set(m, LBD_M_CONTROLLER_NODES_CONNECTED, s.connected);
    set(m, LBD_M_CONTROLLER_REPORTS_TOTAL, (double)s.reports);
    set1(m, LBD_M_CONTROLLER_REFUSED_TOTAL, "cap", (double)s.refused.cap);
    set1(m, LBD_M_CONTROLLER_REFUSED_TOTAL, "credential", (double)s.refused.credential);
    set1(m, LBD_M_CONTROLLER_REFUSED_TOTAL, "address", (double)s.refused.address);
    set1(m, LBD_M_CONTROLLER_REFUSED_TOTAL, "proof", (double)s.refused.proof);
    set1(m, LBD_M_CONTROLLER_REFUSED_TOTAL, "garbage", (double)s.refused.garbage);
    set1(m, LBD_M_CONTROLLER_REFUSED_TOTAL, "timeout", (double)s.refused.timeout);
    expose_database(m, lbd_controller_store(c));
    expose_finished(m, &lbd_controller_hosts(c)->finished);
}

void lbd_expose(struct lbd_metrics *m, const struct lbd_view *v)
{
    expose_process(m, v);
    expose_socket(m, v);
    if (v->jobs)
        expose_jobs(m, v->jobs);
    if (v->node)
        expose_node(m, v->node);
    if (v->node)
        expose_foreseen(m, v->foreseen);
    if (v->uplink)
        expose_uplink(m, v->uplink);
    if (v->controller)
        lbd_expose_controller(m, v->controller);
}
