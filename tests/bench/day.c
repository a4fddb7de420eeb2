/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A day of many hosts' reports through the controller's database, in a time of its own: day DIR [HOSTS [HOURS]]
 * Commits each simulated second, housekeeping each five, a backup in the night and a snapshot at the end.  Prints
 * day rows= rows_per_s= database_mb= wal_mb= cpu_ratio= worst_commit_ms= backup_s= snapshot_s= rank_ms=
 * rows_per_s is rows over the time spent on writing and housekeeping, cpu_ratio their CPU time over the simulated time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/clock.h"
#include "lbd/controller/keep.h"
#include "lbd/controller/rank.h"

#define INTERVAL_S 10
#define KEEP_EACH_S 5
#define BEGIN_S INT64_C(1767225600) /* midnight in Greenwich */
#define RANKINGS 101

struct day {
    struct lbd_db *db;
    struct lbd_keep keep;
    struct lbd_keep_settings settings;
    int nhosts, hours;
    struct lbd_host *host; /* [nhosts] */
    int64_t *id;           /* [nhosts] */
    uint64_t random;
    int64_t rows, spent_ns, cpu_ns, worst_ns, backup_ns;
};

static void fail(const char *what)
{
    fprintf(stderr, "day: %s\n", what);
    exit(1);
}

static uint64_t draw(struct day *d)
{
    d->random ^= d->random << 13;
    d->random ^= d->random >> 7;
    d->random ^= d->random << 17;
    return d->random;
}

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * LBX_NS_PER_S + t.tv_nsec;
}

/* Hosts of 64 cores whose load wanders; one in four runs a job. */
static void move(struct day *d, struct lbw_node_report *r)
{
    r->external_cpus += ((double)(draw(d) % 2001) - 1000) / 5000;
    if (r->external_cpus < 0 || r->external_cpus > 60)
        r->external_cpus = 1;
    r->busy_cpus = r->external_cpus + (double)r->tasks;
    r->capacity = r->cpus - r->external_cpus;
    r->core_speed = .9 + (double)(draw(d) % 200) / 1000;
    r->workload_ratio = 1 / (r->core_speed < 1 ? r->core_speed : 1);
    r->pressure_ratio = (double)(draw(d) % 100) / 1000;
    r->running = (uint32_t)r->busy_cpus + 1;
    r->bench_age_ns += INTERVAL_S * LBX_NS_PER_S;
    if (draw(d) % 2000 == 0) { /* about each six hours */
        r->tasks = draw(d) % 4 == 0 ? 32 : 0;
        r->bench_age_ns = 0;
    }
}

static void make_hosts(struct day *d)
{
    if (lbd_db_begin(d->db) < 0)
        fail("begin");
    for (int i = 0; i < d->nhosts; i++) {
        struct lbd_host *h = &d->host[i];
        struct lbd_db_host row = {.boot = "c6a2a5a4-0000-0000-0000-000000000000",
                                  .model = "A processor of 64 cores",
                                  .seen_s = BEGIN_S};

        snprintf(h->name, sizeof(h->name), "node%04d", i);
        memcpy(row.name, h->name, sizeof(row.name));
        if (lbd_db_put_host(d->db, &row, &d->id[i]) < 0)
            fail("host");
        h->report = (struct lbw_node_report){.cpus = 64,
                                             .hardware = 1,
                                             .core_speed = 1,
                                             .capacity = 64,
                                             .hardware_s = 1,
                                             .workload_ratio = 1,
                                             .share_ratio = 1,
                                             .slow_ratio = 1,
                                             .external_cpus = (double)(draw(d) % 8),
                                             .users = 1};
        for (int k = 0; k < LBW_NODE_KERNELS; k++)
            h->report.kernel_ops_hz[k] = 2e8 + (double)(draw(d) % 100000000);
    }
    if (lbd_db_commit(d->db) < 0)
        fail("commit");
}

/* What reports in this second, in the order in which it happens to come. */
static void write_second(struct day *d, int64_t at_s)
{
    int first = (int)(at_s % INTERVAL_S), n = 0, rc;
    static int order[65536];

    for (int i = first; i < d->nhosts; i += INTERVAL_S) {
        int k = (int)(draw(d) % (uint64_t)(n + 1));

        order[n++] = order[k];
        order[k] = i;
        move(d, &d->host[i].report);
    }
    if (n == 0)
        return;
    rc = lbd_db_begin(d->db);
    for (int i = 0; i < n && rc == 0; i++) {
        lbd_keep_note(&d->keep, at_s);
        rc = lbd_db_put_report(d->db, d->id[order[i]], at_s, &d->host[order[i]].report);
    }
    if (rc == 0)
        rc = lbd_db_commit(d->db);
    if (rc < 0)
        fail(lbd_db_reason(d->db));
    d->rows += n;
}

static void keep_house(struct day *d, int64_t at_s)
{
    int rc = 1;

    while (rc == 1)
        rc = lbd_keep_step(&d->keep, d->db, &d->settings, at_s);
    if (rc < 0)
        fail(d->keep.copy_failed ? d->keep.why : lbd_db_reason(d->db));
}

static void run_day(struct day *d)
{
    for (int64_t at_s = BEGIN_S; at_s < BEGIN_S + d->hours * 3600; at_s++) {
        int64_t start_ns = lbx_clock_mono_ns(), start_cpu_ns = cpu_ns(), took_ns;

        write_second(d, at_s);
        took_ns = lbx_clock_mono_ns() - start_ns;
        if (took_ns > d->worst_ns)
            d->worst_ns = took_ns;
        if (at_s % KEEP_EACH_S == 0)
            keep_house(d, at_s);
        d->spent_ns += lbx_clock_mono_ns() - start_ns;
        d->cpu_ns += cpu_ns() - start_cpu_ns;
    }
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Median time of a ranking of all hosts, with forecasts that have seen some load. */
static double rank_ms(struct day *d)
{
    struct lbp_index_weights weights = {1, .01, .005, 1};
    struct lbd_ranking ranking = {0};
    int64_t took_ns[RANKINGS], at_s = BEGIN_S;

    for (int i = 0; i < d->nhosts; i++) {
        struct lbd_host *h = &d->host[i];

        h->reported = true;
        h->instance = 1;
        h->outlook = lbd_outlook_create(INTERVAL_S * LBX_NS_PER_S, h->report.cpus);
        for (int k = 1; k <= 60 && h->outlook; k++) {
            move(d, &h->report);
            h->report.seq = (uint64_t)k;
            lbd_outlook_report(h->outlook, 1, (at_s + k * INTERVAL_S) * LBX_NS_PER_S, &h->report);
        }
        h->at_ns = lbx_clock_mono_ns();
    }
    for (int i = 0; i < RANKINGS; i++) {
        int64_t start_ns = lbx_clock_mono_ns();

        move(d, &d->host[i % d->nhosts].report);
        if (lbd_rank_hosts(d->host, (size_t)d->nhosts, &weights, &ranking, start_ns, at_s + 601) <
            0)
            fail("rank");
        took_ns[i] = lbx_clock_mono_ns() - start_ns;
    }
    qsort(took_ns, RANKINGS, sizeof(took_ns[0]), compare);
    lbd_ranking_fini(&ranking);
    for (int i = 0; i < d->nhosts; i++)
        lbd_outlook_destroy(d->host[i].outlook);
    return (double)took_ns[RANKINGS / 2] / 1e6;
}

static double size_mb(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (double)st.st_size / 1e6 : 0;
}

/* Seconds for one more of the housekeeping's copies. */
static double time_copy(struct day *d, const char *dir, bool backup)
{
    int64_t start_ns = lbx_clock_mono_ns();

    if (backup)
        snprintf(d->settings.backup, sizeof(d->settings.backup), "%s/backup", dir);
    else
        snprintf(d->settings.snapshot, sizeof(d->settings.snapshot), "%s/snapshot.db", dir);
    keep_house(d, BEGIN_S + d->hours * 3600);
    d->settings.backup[0] = d->settings.snapshot[0] = '\0';
    return (double)(lbx_clock_mono_ns() - start_ns) / 1e9;
}

int main(int argc, char **argv)
{
    struct day d = {.nhosts = argc > 2 ? atoi(argv[2]) : 1000,
                    .hours = argc > 3 ? atoi(argv[3]) : 24,
                    .random = 88172645463325252U};
    double rank, backup, snapshot, database, wal;
    struct lbx_error err = {0};
    char path[1024], log[1040];

    if (argc < 2 || d.nhosts < 1 || d.nhosts > 65536 || d.hours < 1) {
        fprintf(stderr, "Usage: day DIR [HOSTS [HOURS]]\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/lbd.db", argv[1]);
    snprintf(log, sizeof(log), "%s-wal", path);
    d.host = calloc((size_t)d.nhosts, sizeof(*d.host));
    d.id = calloc((size_t)d.nhosts, sizeof(*d.id));
    if (!d.host || !d.id)
        fail("out of memory");
    for (int i = 0; i < LBD_TABLES; i++)
        d.settings.keep_s[i] = i == LBD_T_RAW ? 86400 : INT64_C(1) << 33;
    d.settings.backups = 1;
    d.settings.snapshot_interval_s = 3600;
    lbd_keep_init(&d.keep);
    if (lbd_db_open(path, INT64_C(8) << 30, &d.db, &err) < 0)
        fail(err.text);
    make_hosts(&d);
    run_day(&d);
    database = size_mb(path);
    wal = size_mb(log);
    backup = time_copy(&d, argv[1], true);
    snapshot = time_copy(&d, argv[1], false);
    lbd_keep_fini(&d.keep);
    lbd_db_close(d.db);
    rank = rank_ms(&d);
    printf("day rows=%lld rows_per_s=%.0f database_mb=%.1f wal_mb=%.1f cpu_ratio=%.5f "
           "worst_commit_ms=%.1f backup_s=%.2f snapshot_s=%.2f rank_ms=%.3f outlook_bytes=%zu\n",
           (long long)d.rows, (double)d.rows * 1e9 / (double)d.spent_ns, database, wal,
           (double)d.cpu_ns / 1e9 / (d.hours * 3600.), (double)d.worst_ns / 1e6, backup, snapshot,
           rank, sizeof(struct lbd_outlook));
    free(d.host);
    free(d.id);
    return 0;
}
