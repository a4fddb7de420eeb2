/* SPDX-License-Identifier: BSD-3-Clause */
/* common/spanset: tables of edges, and thousands of random operations against a bitmap. */
#include "common/spanset.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "tests/unit/prop.h"
#include "tests/unit/suite.h"

#define UNIVERSE 200
#define OPERATIONS 20000

/* Ascending, not empty, not touching: what the header promises of every set. */
static void check_form(const struct lbx_spanset *s)
{
    ck_assert_uint_le(s->n, s->size);
    for (size_t i = 0; i < s->n; i++) {
        ck_assert_int_lt(s->span[i].first, s->span[i].last);
        if (i > 0)
            ck_assert_int_lt(s->span[i - 1].last, s->span[i].first);
    }
}

static bool contains(const struct lbx_spanset *s, int64_t value)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->span[i].first <= value && value < s->span[i].last)
            return true;
    return false;
}

static void check_is(const struct lbx_spanset *s, const struct lbx_span *want, size_t n)
{
    check_form(s);
    ck_assert_uint_eq(s->n, n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(s->span[i].first, want[i].first);
        ck_assert_int_eq(s->span[i].last, want[i].last);
    }
}

/* One operation on {[10,20), [30,40)}. */
static const struct {
    char op; /* '+' add, '-' remove, '&' intersect */
    int64_t first, last;
    size_t n;
    struct lbx_span want[4];
} edges[] = {
    {'+', 5, 5, 2, {{10, 20}, {30, 40}}},
    {'+', 0, 5, 3, {{0, 5}, {10, 20}, {30, 40}}},
    {'+', 0, 10, 2, {{0, 20}, {30, 40}}},
    {'+', 20, 21, 2, {{10, 21}, {30, 40}}},
    {'+', 21, 29, 3, {{10, 20}, {21, 29}, {30, 40}}},
    {'+', 20, 30, 1, {{10, 40}}},
    {'+', 19, 31, 1, {{10, 40}}},
    {'+', 12, 13, 2, {{10, 20}, {30, 40}}},
    {'+', 0, 50, 1, {{0, 50}}},
    {'+', 40, 41, 2, {{10, 20}, {30, 41}}},
    {'+', INT64_MIN, INT64_MAX, 1, {{INT64_MIN, INT64_MAX}}},
    {'+', INT64_MIN, INT64_MIN + 1, 3, {{INT64_MIN, INT64_MIN + 1}, {10, 20}, {30, 40}}},
    {'-', 15, 15, 2, {{10, 20}, {30, 40}}},
    {'-', 0, 10, 2, {{10, 20}, {30, 40}}},
    {'-', 20, 30, 2, {{10, 20}, {30, 40}}},
    {'-', 0, 11, 2, {{11, 20}, {30, 40}}},
    {'-', 19, 30, 2, {{10, 19}, {30, 40}}},
    {'-', 12, 14, 3, {{10, 12}, {14, 20}, {30, 40}}},
    {'-', 10, 20, 1, {{30, 40}}},
    {'-', 12, 35, 2, {{10, 12}, {35, 40}}},
    {'-', 10, 40, 0, {{0, 0}}},
    {'-', INT64_MIN, INT64_MAX, 0, {{0, 0}}},
    {'&', 15, 15, 0, {{0, 0}}},
    {'&', 15, 12, 0, {{0, 0}}},
    {'&', 20, 30, 0, {{0, 0}}},
    {'&', 15, 16, 1, {{15, 16}}},
    {'&', 19, 31, 2, {{19, 20}, {30, 31}}},
    {'&', 0, 100, 2, {{10, 20}, {30, 40}}},
    {'&', INT64_MIN, INT64_MAX, 2, {{10, 20}, {30, 40}}},
};

START_TEST(edge)
{
    struct lbx_spanset s = LBX_SPANSET_EMPTY, out = LBX_SPANSET_EMPTY;
    struct lbx_spanset *is = edges[_i].op == '&' ? &out : &s;
    int rc;

    ck_assert_int_eq(lbx_spanset_add(&out, 7, 8), 0); /* to be replaced */
    ck_assert_int_eq(lbx_spanset_add(&s, 10, 20), 0);
    ck_assert_int_eq(lbx_spanset_add(&s, 30, 40), 0);
    if (edges[_i].op == '+')
        rc = lbx_spanset_add(&s, edges[_i].first, edges[_i].last);
    else if (edges[_i].op == '-')
        rc = lbx_spanset_remove(&s, edges[_i].first, edges[_i].last);
    else
        rc = lbx_spanset_intersect(&s, edges[_i].first, edges[_i].last, &out);
    ck_assert_int_eq(rc, 0);
    check_is(is, edges[_i].want, edges[_i].n);
    lbx_spanset_fini(&s);
    lbx_spanset_fini(&out);
}
END_TEST

START_TEST(backwards_is_an_error)
{
    struct lbx_spanset s = LBX_SPANSET_EMPTY;
    struct lbx_span want = {0, 10};

    ck_assert_int_eq(lbx_spanset_add(&s, 0, 10), 0);
    ck_assert_int_eq(lbx_spanset_add(&s, 6, 5), -EINVAL);
    ck_assert_int_eq(lbx_spanset_remove(&s, 6, 5), -EINVAL);
    ck_assert_int_eq(lbx_spanset_count_in(&s, 8, 2), 0);
    ck_assert_int_eq(lbx_spanset_count_in(&s, 5, 5), 0);
    check_is(&s, &want, 1);
    lbx_spanset_fini(&s);
    lbx_spanset_fini(&s);
    lbx_spanset_fini(NULL);
}
END_TEST

START_TEST(empty_set)
{
    struct lbx_spanset s, out;

    lbx_spanset_init(&s);
    lbx_spanset_init(&out);
    ck_assert_int_eq(lbx_spanset_count(&s), 0);
    ck_assert_int_eq(lbx_spanset_count_in(&s, INT64_MIN, INT64_MAX), 0);
    ck_assert(!contains(&s, 0));
    ck_assert_int_eq(lbx_spanset_remove(&s, 0, 10), 0);
    ck_assert_ptr_null(s.span); /* nothing to do allocates nothing */
    ck_assert_int_eq(lbx_spanset_add(&out, 1, 2), 0);
    ck_assert_int_eq(lbx_spanset_copy(&s, &out), 0);
    check_is(&out, NULL, 0);
    ck_assert_int_eq(lbx_spanset_add(&out, 1, 2), 0);
    ck_assert_int_eq(lbx_spanset_intersect(&s, 0, 10, &out), 0);
    check_is(&out, NULL, 0);
    ck_assert_int_eq(lbx_spanset_add(&out, 1, 2), 0);
    lbx_spanset_clear(&out);
    check_is(&out, NULL, 0);
    lbx_spanset_fini(&out);
    lbx_spanset_fini(&s);
}
END_TEST

static void check_against(const struct lbx_spanset *s, const bool *in, int64_t base)
{
    int64_t count = 0;
    size_t spans = 0;

    check_form(s);
    for (int64_t v = 0; v < UNIVERSE; v++) {
        count += in[v];
        spans += in[v] && (v == 0 || !in[v - 1]);
        ck_assert_msg(contains(s, base + v) == in[v], "at %lld", (long long)v);
    }
    ck_assert(!contains(s, base - 1));
    ck_assert(!contains(s, base + UNIVERSE));
    ck_assert_int_eq(lbx_spanset_count(s), count);
    ck_assert_uint_eq(s->n, spans);
}

/* The same operations where numbers are small, negative, and at both ends of the range. */
static const int64_t bases[] = {0, -100, INT64_MIN + 1, INT64_MAX - UNIVERSE};

START_TEST(like_a_bitmap)
{
    struct prop p = prop_start("like_a_bitmap");
    struct lbx_spanset s = LBX_SPANSET_EMPTY, cut = LBX_SPANSET_EMPTY;
    int64_t base = bases[_i];
    bool in[UNIVERSE] = {false}, in_cut[UNIVERSE];

    for (int op = 0; op < OPERATIONS; op++) {
        int64_t a = (int64_t)prop_below(&p, UNIVERSE + 1);
        int64_t most = prop_below(&p, 20) == 0 ? UNIVERSE : 12, count = 0;
        int64_t b = a + (int64_t)prop_below(&p, (uint64_t)most);
        bool add = prop_below(&p, 2) == 0;

        b = b > UNIVERSE ? UNIVERSE : b;
        for (int64_t v = 0; v < UNIVERSE; v++) {
            in_cut[v] = in[v] && v >= a && v < b;
            count += in_cut[v];
        }
        ck_assert_int_eq(lbx_spanset_count_in(&s, base + a, base + b), count);
        ck_assert_int_eq(lbx_spanset_intersect(&s, base + a, base + b, &cut), 0);
        check_against(&cut, in_cut, base);
        ck_assert_int_eq(add ? lbx_spanset_add(&s, base + a, base + b)
                             : lbx_spanset_remove(&s, base + a, base + b),
                         0);
        for (int64_t v = a; v < b; v++)
            in[v] = add;
        check_against(&s, in, base);
        if (op % 100 == 0) {
            ck_assert_int_eq(lbx_spanset_copy(&s, &cut), 0);
            check_against(&cut, in, base);
        }
    }
    lbx_spanset_fini(&s);
    lbx_spanset_fini(&cut);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("spanset");

    tcase_set_timeout(tc, 120); /* valgrind */
    tcase_add_loop_test(tc, edge, 0, sizeof(edges) / sizeof(edges[0]));
    tcase_add_test(tc, backwards_is_an_error);
    tcase_add_test(tc, empty_set);
    tcase_add_loop_test(tc, like_a_bitmap, 0, sizeof(bases) / sizeof(bases[0]));
    return suite_run("common/spanset", tc);
}
