/* SPDX-License-Identifier: BSD-3-Clause */
/* Every statement that the database is used by. */
#include "lbd/controller/db_impl.h"

/* Keys of one host at the seconds a, a + step, ... up to b: a search each, where a range would read all hosts' rows. */
#define KEYS                                                                               \
    "WITH RECURSIVE t(k) AS (SELECT ?1 UNION ALL SELECT k + ?3 FROM t WHERE k + ?3 <= ?2)" \
    " SELECT r.key"
#define MEANS                                                                         \
    ", r.reports, r.core_speed, r.capacity, r.busy, r.external, r.steal, r.pressure," \
    " r.running, r.users, r.tasks FROM t CROSS JOIN "
#define JOB                                                                                  \
    "SELECT id, jobid, stepid, username, account, partition, policy, hosts, ranks, started," \
    " ended, load_balance, efficiency, compute_ms, wait_ms, overhead_ms, saved_ms,"          \
    " moved_bytes, moves, predicted_ms, balance_before FROM job"

#define RANGE " WHERE key >= ? AND key < ? ORDER BY key LIMIT ?"
/* Tables of reports are in order of time by their key, the others by an index. */
#define PURGE(table, key, bound, order)                                                  \
    "DELETE FROM " table " WHERE " key " IN (SELECT " key " FROM " table " WHERE " order \
    " < " bound " ORDER BY " order " LIMIT ?2)"

const char *const lbd_db_sql[STATEMENTS] = {
    [S_BEGIN] = "BEGIN IMMEDIATE",
    [S_COMMIT] = "COMMIT",
    [S_HOST] = "INSERT INTO host(name, boot, model, first_seen, last_seen)"
               " VALUES(?1, ?2, ?3, ?4, ?4) ON CONFLICT(name) DO UPDATE SET boot = excluded.boot,"
               " model = excluded.model, last_seen = excluded.last_seen RETURNING id",
    [S_HOST_ID] = "SELECT id FROM host WHERE name = ?",
    [S_BENCHED_AT] = "SELECT benchmark_at FROM current WHERE host_id = ?",
    [S_BENCHMARK] = "INSERT OR REPLACE INTO benchmark(key, hardware_us, dispersion, integer_hz,"
                    " floating_hz, memory_hz, fma_hz, triad_hz, integer_all_hz, floating_all_hz,"
                    " memory_all_hz, fma_all_hz, triad_all_hz) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [S_CURRENT] = "INSERT OR REPLACE INTO current(host_id, at, cpus, hardware, core_speed,"
                  " capacity, hardware_us, workload, share, benchmark_at, integer_hz, floating_hz,"
                  " memory_hz, fma_hz, triad_hz, integer_all_hz, floating_all_hz, memory_all_hz,"
                  " fma_all_hz, triad_all_hz, integer_dispersion, floating_dispersion,"
                  " memory_dispersion, fma_dispersion, triad_dispersion, slow, slow_kernel,"
                  " packages, cores, numa_nodes, external, running, users, terminals, tasks)"
                  " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [S_RAW] = "INSERT OR REPLACE INTO report_raw VALUES(?,?,?,?,?,?,?,?,?,?)",
    [S_EVENT] = "INSERT INTO event(at, host_id, what, detail) VALUES(?,?,?,?)",
    [S_JOB] = "INSERT INTO job(jobid, stepid, username, account, partition, policy, hosts, ranks,"
              " started, ended, load_balance, efficiency, compute_ms, wait_ms, overhead_ms,"
              " saved_ms, moved_bytes, moves, predicted_ms, balance_before, nonce)"
              " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(nonce) DO NOTHING"
              " RETURNING id",
    [S_JOB_HOST] = "INSERT OR REPLACE INTO job_host(job_id, host_id, share, iterations,"
                   " compute_ms, wait_ms) VALUES(?,?,?,?,?,?)",
    [S_READ_RAW] = KEYS ", 1, r.core_speed, r.capacity, r.busy, r.external, r.steal, r.pressure,"
                        " r.running * 1000, r.users * 1000, r.tasks * 1000"
                        " FROM t CROSS JOIN report_raw r ON r.key = t.k LIMIT ?4",
    [S_READ_5M] = KEYS MEANS "report_5m r ON r.key = t.k LIMIT ?4",
    [S_READ_1H] = KEYS MEANS "report_1h r ON r.key = t.k LIMIT ?4",
    [S_READ_JOBS] = JOB " WHERE ended BETWEEN ? AND ? ORDER BY ended DESC, id DESC LIMIT ?",
    [S_READ_JOB] = JOB " WHERE jobid = ? ORDER BY id DESC LIMIT ?",
    [S_READ_JOB_HOSTS] = "SELECT h.name, j.share, j.iterations, j.compute_ms, j.wait_ms"
                         " FROM job_host j JOIN host h ON h.id = j.host_id WHERE j.job_id = ?"
                         " ORDER BY j.share DESC, h.name",
    [S_EACH_RAW] = "SELECT key, 1, core_speed, capacity, busy, external, steal, pressure,"
                   " running * 1000, users * 1000, tasks * 1000 FROM report_raw" RANGE,
    [S_EACH_5M] = "SELECT key, reports, core_speed, capacity, busy, external, steal, pressure,"
                  " running, users, tasks FROM report_5m" RANGE,
    [S_MEANS_5M] = "INSERT OR REPLACE INTO report_5m VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    [S_MEANS_1H] = "INSERT OR REPLACE INTO report_1h VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    [S_FIRST_RAW] = "SELECT min(key) FROM report_raw",
    [S_FIRST_5M] = "SELECT min(key) FROM report_5m",
    [S_FIRST_1H] = "SELECT min(key) FROM report_1h",
    [S_LAST_RAW] = "SELECT max(key) FROM report_raw WHERE key < ?",
    [S_LAST_5M] = "SELECT max(key) FROM report_5m WHERE key < ?",
    [S_LAST_1H] = "SELECT max(key) FROM report_1h WHERE key < ?",
    [S_PURGE_RAW] = PURGE("report_raw", "key", "?1 << 20", "key"),
    [S_PURGE_5M] = PURGE("report_5m", "key", "?1 << 20", "key"),
    [S_PURGE_1H] = PURGE("report_1h", "key", "?1 << 20", "key"),
    [S_PURGE_BENCHMARK] = PURGE("benchmark", "key", "?1 << 20", "key"),
    [S_PURGE_JOB] = PURGE("job", "id", "?1", "ended"),
    [S_PURGE_EVENT] = PURGE("event", "id", "?1", "at"),
};
