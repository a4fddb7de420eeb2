/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the database share. */
#ifndef TESTS_UNIT_LBD_STORE_H
#define TESTS_UNIT_LBD_STORE_H

#include <sqlite3.h>

#include "common/clock.h"
#include "lbd/controller/store.h"
#include "tests/unit/folder.h"

#define MAX_BYTES ((int64_t)64 << 20)

static char dir[64], path[128];
static struct lbx_error err;

static inline void set_up(void)
{
    make_folder(dir);
    snprintf(path, sizeof(path), "%s/lbd.db", dir);
    memset(&err, 0, sizeof(err));
}

static inline void tear_down(void)
{
    remove_folder(dir);
}

/* A number out of the file, by a connection of its own. */
static inline int64_t query(const char *sql)
{
    sqlite3_stmt *st = NULL;
    sqlite3 *db = NULL;
    int64_t v = -1;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    if (sqlite3_step(st) == SQLITE_ROW)
        v = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return v;
}

static inline struct lbw_node_report a_report(void)
{
    struct lbw_node_report r = {.seq = 1,
                                .cpus = .4,
                                .hardware = 1.25,
                                .core_speed = .5,
                                .capacity = .5,
                                .hardware_s = .8,
                                .workload_ratio = 2.5,
                                .share_ratio = .4,
                                .kernel_ops_hz = {1e8, 2e8, 3e10, 4e9, 5e9},
                                .kernel_all_hz = {2e8, 4e8, 5e10, 7e9, 6e9},
                                .kernel_dispersion = {.01, .02, .03, .04, .05},
                                .slow_ratio = .75,
                                .slow_kernel = 4,
                                .packages = 2,
                                .cores = 16,
                                .numa_nodes = 3,
                                .external_cpus = .123,
                                .users = 3,
                                .terminals = 4,
                                .tasks = 5};

    strcpy(r.model, "model");
    return r;
}

static inline struct lbd_db_host a_host(const char *name)
{
    struct lbd_db_host h = {.boot = "boot", .model = "model", .seen_s = 1000};

    snprintf(h.name, sizeof(h.name), "%s", name);
    return h;
}

static inline void wait_for(struct lbd_store *store, uint64_t ticket)
{
    uint64_t dropped;

    while (lbd_store_committed(store, &dropped) < ticket)
        lbx_clock_sleep_ns(LBX_NS_PER_MS);
}

static inline struct lbd_store_settings settings_of(int64_t max_bytes)
{
    struct lbd_store_settings settings = {.max_bytes = max_bytes,
                                          .commit_interval_ns = LBX_NS_PER_MS};

    for (int i = 0; i < LBD_TABLES; i++)
        settings.keep.keep_s[i] = INT64_C(1) << 33;
    snprintf(settings.path, sizeof(settings.path), "%s", path);
    return settings;
}

#endif
