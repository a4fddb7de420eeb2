/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranking in memory: parts, ages, and steps on a host. */
#include "lbd/ranking.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lbd/node/steps.h"
#include "tests/unit/suite.h"

static struct lbw_local_hosts part, got;

static void fill(size_t first, size_t n, uint32_t more)
{
    memset(&part, 0, sizeof(part));
    part.n = n;
    part.more = more;
    for (size_t i = 0; i < n; i++) {
        snprintf(part.host[i].host, LBW_LOCAL_HOST_MAX, "n%zu", first + i);
        part.host[i].age_ns = 5;
    }
}

START_TEST(those_asked_for_in_order_of_rank)
{
    char names[] = "n9,n2,other,n1", none[] = "";
    struct lbd_ranking r = {0};

    fill(1, 4, 0);
    part.host[2].age_ns = LBD_RANKING_UNUSED_NS; /* n3 */
    part.host[3].age_ns = 0;
    ck_assert_int_eq(lbd_ranking_part(&r, &part, 100), 0);
    ck_assert_int_eq(lbd_ranking_among(&r, names, 110, &got), 0);
    ck_assert_uint_eq(got.n, 2);
    ck_assert_str_eq(got.host[0].host, "n1");
    ck_assert_str_eq(got.host[1].host, "n2");
    ck_assert_int_eq(got.host[1].age_ns, 15);
    ck_assert_int_eq(lbd_ranking_among(&r, none, 110, &got), 0);
    ck_assert_uint_eq(got.n, 0);
    /* too old: the host, then the ranking */
    memcpy(names, "n3,n4", 6);
    ck_assert_int_eq(lbd_ranking_among(&r, names, 101, &got), 0);
    ck_assert_uint_eq(got.n, 1);
    ck_assert_str_eq(got.host[0].host, "n4");
    memcpy(names, "n3,n4", 6);
    ck_assert_int_eq(lbd_ranking_among(&r, names, 101 + LBD_RANKING_UNUSED_NS, &got), 0);
    ck_assert_uint_eq(got.n, 0);
    lbd_ranking_fini(&r);
}
END_TEST

START_TEST(parts_come_into_force_together)
{
    struct lbd_ranking r = {0};
    size_t first = 0;

    ck_assert_int_eq(lbd_ranking_age_ns(&r, 100), INT64_MAX);
    fill(0, LBW_LOCAL_HOSTS_MAX, 1);
    ck_assert_int_eq(lbd_ranking_part(&r, &part, 100), 0);
    ck_assert_uint_eq(r.n, 0);
    fill(LBW_LOCAL_HOSTS_MAX, 10, 0);
    ck_assert_int_eq(lbd_ranking_part(&r, &part, 200), 0);
    ck_assert_uint_eq(r.n, LBW_LOCAL_HOSTS_MAX + 10);
    ck_assert_int_eq(lbd_ranking_age_ns(&r, 250), 50);

    lbd_ranking_get(&r, &first, 250, &got);
    ck_assert_uint_eq(got.n, LBW_LOCAL_HOSTS_MAX);
    ck_assert_uint_eq(got.more, 1);
    ck_assert_int_eq(got.host[0].age_ns, 55);
    lbd_ranking_get(&r, &first, 250, &got);
    ck_assert_uint_eq(got.n, 10);
    ck_assert_uint_eq(got.more, 0);
    ck_assert_str_eq(got.host[9].host, "n521");

    /* one that was cut off leaves the old one, and nothing of it in the next */
    fill(0, 3, 1);
    ck_assert_int_eq(lbd_ranking_part(&r, &part, 300), 0);
    lbd_ranking_drop_part(&r);
    fill(7, 1, 0);
    ck_assert_int_eq(lbd_ranking_part(&r, &part, 400), 0);
    ck_assert_uint_eq(r.n, 1);
    ck_assert_str_eq(r.host[0].host, "n7");
    lbd_ranking_fini(&r);
}
END_TEST

START_TEST(endless_parts_are_refused)
{
    struct lbd_ranking r = {0};
    int rc = 0;

    fill(0, LBW_LOCAL_HOSTS_MAX, 1);
    for (size_t i = 0; i <= LBD_RANKING_HOSTS_MAX / LBW_LOCAL_HOSTS_MAX && rc == 0; i++)
        rc = lbd_ranking_part(&r, &part, 1);
    ck_assert_int_eq(rc, -ENOSPC);
    ck_assert_uint_eq(r.nnext, 0);
    lbd_ranking_fini(&r);
}
END_TEST

START_TEST(steps_are_counted_once)
{
    struct lbd_steps s = {0};

    ck_assert_int_eq(lbd_steps_begin(&s, 1, 0, 4, 0), 0);
    ck_assert_int_eq(lbd_steps_begin(&s, 1, 0, 4, 0), 0);
    ck_assert_int_eq(lbd_steps_begin(&s, 1, 1, 2, 0), 0);
    ck_assert_uint_eq(lbd_steps_tasks(&s), 6);
    lbd_steps_end(&s, 1, 7); /* unknown */
    lbd_steps_end(&s, 1, 0);
    ck_assert_uint_eq(lbd_steps_tasks(&s), 2);
    for (uint32_t i = 0; i < LBD_STEPS_MAX - 1; i++)
        ck_assert_int_eq(lbd_steps_begin(&s, 2, i, UINT32_MAX, 0), 0);
    ck_assert_int_eq(lbd_steps_begin(&s, 3, 0, 1, 0), -ENOSPC);
    ck_assert_uint_eq(lbd_steps_tasks(&s), UINT32_MAX);
    lbd_steps_fini(&s);
}
END_TEST

START_TEST(steps_of_dead_processes_are_forgotten)
{
    struct lbd_steps s = {0};
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    ck_assert_int_eq(lbd_steps_begin(&s, 1, 0, 4, pid), 0);
    ck_assert_int_eq(lbd_steps_begin(&s, 2, 0, 1, getpid()), 0);
    lbd_steps_sweep(&s);
    ck_assert_uint_eq(lbd_steps_tasks(&s), 5);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    lbd_steps_sweep(&s);
    ck_assert_uint_eq(lbd_steps_tasks(&s), 1);
    lbd_steps_fini(&s);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("ranking");

    tcase_add_test(tc, those_asked_for_in_order_of_rank);
    tcase_add_test(tc, parts_come_into_force_together);
    tcase_add_test(tc, endless_parts_are_refused);
    tcase_add_test(tc, steps_are_counted_once);
    tcase_add_test(tc, steps_of_dead_processes_are_forgotten);
    return suite_run("lbd/ranking", tc);
}
