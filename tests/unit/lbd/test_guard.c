/* SPDX-License-Identifier: BSD-3-Clause */
/* Caps and rates of peers. */
#include "lbd/guard.h"

#include "common/clock.h"
#include "tests/unit/suite.h"

static struct lbd_guard g;

START_TEST(caps_hold_for_each_and_for_all)
{
    lbd_guard_init(&g, 5, 3, 1, 1);
    for (int i = 0; i < 3; i++)
        ck_assert(lbd_guard_enter(&g, 7, 1));
    ck_assert(!lbd_guard_enter(&g, 7, 1)); /* its own cap */
    ck_assert(lbd_guard_enter(&g, 8, 1));
    ck_assert(lbd_guard_enter(&g, 9, 1));
    ck_assert(!lbd_guard_enter(&g, 10, 1)); /* that of all */
    lbd_guard_leave(&g, 7);
    ck_assert(lbd_guard_enter(&g, 10, 1));
    lbd_guard_leave(&g, 99); /* never came */
    ck_assert_uint_eq(g.connections, 5);
}
END_TEST

START_TEST(rates_hold_and_recover)
{
    int64_t now = LBX_NS_PER_S;
    int n = 0;

    lbd_guard_init(&g, 5, 5, 10, 20);
    ck_assert(!lbd_guard_message(&g, 1, now)); /* no connection */
    ck_assert(lbd_guard_enter(&g, 1, now));
    while (lbd_guard_message(&g, 1, now))
        n++;
    ck_assert_int_eq(n, 20);
    ck_assert(!lbd_guard_message(&g, 1, now + 50 * LBX_NS_PER_MS));
    ck_assert(lbd_guard_message(&g, 1, now + 110 * LBX_NS_PER_MS));
    /* closing and coming again is no way round */
    lbd_guard_leave(&g, 1);
    ck_assert(lbd_guard_enter(&g, 1, now + 110 * LBX_NS_PER_MS));
    ck_assert(!lbd_guard_message(&g, 1, now + 110 * LBX_NS_PER_MS));
    for (n = 0; lbd_guard_message(&g, 1, now + 3600 * LBX_NS_PER_S); n++)
        continue;
    ck_assert_int_eq(n, 20);
}
END_TEST

START_TEST(many_peers_find_places)
{
    lbd_guard_init(&g, 1000, 5, 10, 20);
    for (uint64_t i = 0; i < LBD_GUARD_PEERS; i++)
        ck_assert(lbd_guard_enter(&g, i, 1 + (int64_t)i));
    ck_assert(!lbd_guard_enter(&g, 5000, 1000)); /* all places are held by connections */
    lbd_guard_leave(&g, 3);
    ck_assert(lbd_guard_enter(&g, 5000, 1000));
    ck_assert(!lbd_guard_enter(&g, 3, 1001));
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("guard");

    tcase_add_test(tc, caps_hold_for_each_and_for_all);
    tcase_add_test(tc, rates_hold_and_recover);
    tcase_add_test(tc, many_peers_find_places);
    return suite_run("lbd/guard", tc);
}
