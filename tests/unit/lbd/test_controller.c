/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller between nodes and database: what is acknowledged is on disk, and what was dropped is taken again. */
#include "lbd/controller/controller.h"

#include <unistd.h>

#include "tests/unit/lbd/store.h"
#include "tests/unit/suite.h"

static uv_loop_t loop;
static struct lbd_ranking ranking;

static struct lbd_controller *start(void)
{
    struct lbd_controller_settings settings = {.state = dir,
                                               .listen_address = "127.0.0.1",
                                               .weights = {1, .01, .005, 1},
                                               .max_bytes = MAX_BYTES,
                                               .keep = settings_of(MAX_BYTES).keep,
                                               .load_interval_ns = LBX_NS_PER_S};
    struct lbd_controller *c = NULL;

    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_msg(lbd_controller_create(&loop, &settings, &ranking, &err, &c) == 0, "%s", err.text);
    return c;
}

static void end(struct lbd_controller *c)
{
    lbd_controller_stop(c);
    uv_run(&loop, UV_RUN_DEFAULT);
    lbd_controller_destroy(c);
    lbd_ranking_fini(&ranking);
    memset(&ranking, 0, sizeof(ranking));
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}

static uint64_t report(struct lbd_controller *c, uint32_t host, uint64_t seq)
{
    struct lbw_node_report r = a_report();

    r.seq = seq;
    r.slow_ratio = 1;
    return lbd_hosts_report(lbd_controller_hosts(c), host, &r);
}

START_TEST(a_report_that_comes_again_waits_for_the_first)
{
    struct lbd_controller *c = start();
    uint32_t host = lbd_hosts_join(lbd_controller_hosts(c), "n1", "boot", 7);
    uint64_t first = report(c, host, 1), second = report(c, host, 2);

    ck_assert_uint_gt(first, 0);
    ck_assert_uint_gt(second, first);
    ck_assert_uint_eq(report(c, host, 1), second); /* not 0: it may not be on disk yet */
    ck_assert_uint_eq(report(c, host, 2), second);
    ck_assert_uint_eq(lbd_hosts_join(lbd_controller_hosts(c), "n1", "boot", 8), host);
    ck_assert_uint_gt(report(c, host, 1), second); /* another lbd counts anew */
    end(c);
    ck_assert_int_eq(query("SELECT count(*) FROM report_raw"), 3);
}
END_TEST

START_TEST(what_was_dropped_is_taken_again)
{
    struct lbd_store_stats stats = {0};
    struct lbd_controller *c;
    struct lbd_db *other;
    uint32_t host;
    uint64_t seq = 0, last, again = 0;

    ck_assert_int_eq(lbd_db_open(path, MAX_BYTES, &other, &err), 0);
    c = start();
    host = lbd_hosts_join(lbd_controller_hosts(c), "n1", "boot", 7);
    while (stats.dropped == 0) { /* locked: rows wait, and then there are too many */
        last = report(c, host, ++seq);
        if (seq % 4096 == 0)
            lbx_clock_sleep_ns(20 * LBX_NS_PER_MS);
        lbd_store_stats(lbd_controller_store(c), &stats);
    }
    for (int i = 0; i < 100; i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
        lbx_clock_sleep_ns(LBX_NS_PER_MS);
    }
    last = lbd_controller_hosts(c)->host[host].last_ticket;
    ck_assert_uint_eq(report(c, host, 1), last); /* no sense in it before the database takes rows */
    lbd_db_close(other);
    while (again <= last) { /* it looks every five seconds */
        uv_run(&loop, UV_RUN_NOWAIT);
        lbx_clock_sleep_ns(10 * LBX_NS_PER_MS);
        again = report(c, host, 1);
    }
    end(c);
    ck_assert_int_gt(query("SELECT count(*) FROM report_raw"), 0);
}
END_TEST

START_TEST(a_rebooted_host_is_another)
{
    struct lbd_controller *c = start();
    uint32_t host = lbd_hosts_join(lbd_controller_hosts(c), "n1", "one", 7);

    report(c, host, 1);
    ck_assert(lbd_controller_hosts(c)->host[host].reported);
    lbd_hosts_leave(lbd_controller_hosts(c), host, "gone");
    ck_assert_uint_eq(lbd_hosts_join(lbd_controller_hosts(c), "n1", "two", 8), host);
    ck_assert(!lbd_controller_hosts(c)->host[host].reported);
    ck_assert_uint_eq(lbd_controller_hosts(c)->n, 1);
    end(c);
    ck_assert_int_eq(query("SELECT count(*) FROM event WHERE what = 'rebooted' AND detail = 'two'"),
                     1);
    ck_assert_int_eq(query("SELECT count(*) FROM event WHERE what = 'left'"), 1);
    ck_assert_int_eq(query("SELECT count(*) FROM host WHERE boot = 'two'"), 1);
}
END_TEST

START_TEST(times_are_the_controllers)
{
    struct lbd_controller *c = start();
    uint32_t host = lbd_hosts_join(lbd_controller_hosts(c), "n1", "boot", 7);
    int64_t now_s = lbx_clock_wall_ns() / LBX_NS_PER_S;
    struct lbw_node_report r = a_report();

    r.slow_ratio = 1;
    for (uint64_t seq = 1; seq <= 3;
         seq++) { /* kept for 1,000 s by a node whose clock nobody asks */
        r.seq = seq;
        r.age_ns = (1000 - 10 * (int64_t)seq) * LBX_NS_PER_S;
        (void)lbd_hosts_report(lbd_controller_hosts(c), host, &r);
    }
    (void)report(c, host, 4);
    (void)report(c, host, 5); /* in the same second: a row of its own */
    end(c);
    ck_assert_int_eq(query("SELECT count(*) FROM report_raw"), 5);
    ck_assert_int_le(llabs(query("SELECT min(key) >> 20 FROM report_raw") - (now_s - 990)), 60);
    ck_assert_int_le(llabs(query("SELECT max(key) >> 20 FROM report_raw") - now_s), 60);
}
END_TEST

START_TEST(a_host_slower_than_it_was_is_an_event)
{
    struct lbd_controller *c = start();
    uint32_t host = lbd_hosts_join(lbd_controller_hosts(c), "n1", "boot", 7);
    struct lbw_node_report r = a_report(); /* slow: triad at .75 */

    (void)report(c, host, 1);
    for (r.seq = 2; r.seq <= 4; r.seq++) /* told once, however often it is reported */
        (void)lbd_hosts_report(lbd_controller_hosts(c), host, &r);
    end(c);
    ck_assert_int_eq(query("SELECT count(*) FROM event WHERE what = 'slower'"), 1);
    ck_assert_int_eq(query("SELECT count(*) FROM event WHERE what = 'slower' AND detail = 'triad "
                           "at 0.75 of its history'"),
                     1);
    ck_assert_int_eq(query("SELECT slow FROM current"), 750);
    c = start(); /* a controller that starts anew knows it already */
    host = lbd_hosts_join(lbd_controller_hosts(c), "n1", "boot", 7);
    (void)lbd_hosts_report(lbd_controller_hosts(c), host, &r);
    r.seq++;
    r.slow_ratio = 1;
    (void)lbd_hosts_report(lbd_controller_hosts(c), host, &r);
    end(c);
    ck_assert_int_eq(query("SELECT count(*) FROM event WHERE what = 'slower'"), 1);
    ck_assert_int_eq(query("SELECT count(*) FROM event WHERE what = 'recovered'"), 1);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("controller");

    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_report_that_comes_again_waits_for_the_first);
    tcase_add_test(tc, what_was_dropped_is_taken_again);
    tcase_add_test(tc, a_rebooted_host_is_another);
    tcase_add_test(tc, a_host_slower_than_it_was_is_an_event);
    tcase_add_test(tc, times_are_the_controllers);
    return suite_run("lbd/controller", tc);
}
