/* SPDX-License-Identifier: BSD-3-Clause */
/* Decisions of balancers, as lbd keeps them: whose they are, what bounds them, and what is refused. */
#include "lbd/decisions.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "lbd/stepfiles.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"
#include "wire/local.h"

static char dir[64];
static struct lbd_decisions *d;
static struct lbx_error err;
static int64_t now_ns;

static void set_up(void)
{
    make_folder(dir);
    now_ns = LBX_NS_PER_S;
    ck_assert_int_eq(lbd_decisions_create(dir, &d), 0);
}

static void tear_down(void)
{
    lbd_decisions_destroy(d);
    remove_folder(dir);
}

/* n decisions from number first on, each with `pad` bytes of text.  A second passes, so that no rate is exceeded. */
static int take(uid_t uid, uint32_t jobid, uint32_t stepid, int begun_s, int first, int n, int pad,
                bool final)
{
    json_t *list = json_array(), *o;
    char *padding = calloc(1, (size_t)pad + 1), *text;
    int rc;

    memset(padding, 'x', (size_t)pad);
    for (int i = 0; i < n; i++)
        json_array_append_new(
            list, json_pack("{s:i, s:s, s:f}", "seq", first + i, "loop", padding, "gain", .125));
    o = json_pack("{s:i, s:s, s:i, s:[s,s], s:b, s:o}", "begun_s", begun_s, "policy", "auto",
                  "ranks", 2, "hosts", "n1", "n2", "final", final, "decisions", list);
    text = json_dumps(o, 0);
    ck_assert_uint_le(strlen(text), LBW_LOCAL_TEXT_MAX);
    now_ns += LBX_NS_PER_S;
    rc = lbd_decisions_take(d, uid, jobid, stepid, text, now_ns, &err);
    free(text);
    free(padding);
    json_decref(o);
    return rc;
}

/* NULL with err when there is no answer. */
static json_t *answer(uid_t uid, bool all, const char *ask)
{
    char *text;
    json_t *o;

    now_ns += LBX_NS_PER_S;
    text = lbd_decisions_answer(d, uid, all, ask, now_ns, &err);
    if (!text)
        return NULL;
    ck_assert_uint_le(strlen(text), LBW_LOCAL_TEXT_MAX);
    o = json_loads(text, 0, NULL);
    ck_assert_msg(json_is_object(o), "%s", text);
    free(text);
    return o;
}

static json_int_t count(const json_t *o)
{
    return (json_int_t)json_array_size(json_object_get(o, "decisions"));
}

static json_int_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

START_TEST(they_come_back_to_their_user_and_to_who_may_see_all)
{
    json_t *o;

    ck_assert_int_eq(take(1000, 12, 0, 5, 0, 3, 10, false), 0);
    ck_assert_int_eq(take(1000, 12, 0, 5, 3, 2, 10, true), 0);
    o = answer(1000, false, "12.0");
    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(count(o), 5);
    ck_assert(json_is_true(json_object_get(o, "final")));
    ck_assert(json_is_null(json_object_get(o, "next")));
    ck_assert_str_eq(json_string_value(json_object_get(o, "policy")), "auto");
    ck_assert_int_eq(number(o, "ranks"), 2);
    ck_assert_int_eq((int)json_array_size(json_object_get(o, "hosts")), 2);
    json_decref(o);
    o = answer(1000, false, "12.0 3");
    ck_assert_int_eq(count(o), 2);
    json_decref(o);
    ck_assert_ptr_null(answer(1001, false, "12.0"));
    ck_assert_int_eq(err.code, -ENOENT);
    ck_assert_ptr_null(answer(1001, false, "12"));
    ck_assert_ptr_null(answer(1000, false, "12.7 0"));
    ck_assert_ptr_nonnull(strstr(err.text, "no decisions of 12.7 are kept"));
    o = answer(0, true, "12");
    ck_assert_int_eq(count(o), 5);
    json_decref(o);
}
END_TEST

START_TEST(what_is_told_twice_is_listed_once)
{
    json_t *o, *one;
    size_t i;

    ck_assert_int_eq(take(1000, 12, 0, 5, 0, 4, 10, false), 0);
    ck_assert_int_eq(take(1000, 12, 0, 5, 0, 4, 10, false), 0);
    ck_assert_int_eq(take(1000, 12, 0, 5, 2, 4, 10, true), 0);
    o = answer(1000, false, "12.0");
    ck_assert_int_eq(count(o), 6);
    json_array_foreach(json_object_get(o, "decisions"), i, one)
    {
        ck_assert_int_eq(number(one, "seq"), (json_int_t)i);
    }
    json_decref(o);
}
END_TEST

START_TEST(a_step_whose_balancer_is_gone_has_ended)
{
    char *last;
    json_t *o;

    ck_assert_int_eq(take(1000, 12, 0, 5, 0, 3, 10, false), 0);
    ck_assert_ptr_null(lbd_decisions_end(d, 1001, 12, 0));
    ck_assert_ptr_null(lbd_decisions_end(d, 1000, 12, 1));
    o = answer(1000, false, "12.0");
    ck_assert(json_is_false(json_object_get(o, "final")));
    json_decref(o);
    last = lbd_decisions_end(d, 1000, 12, 0);
    ck_assert_ptr_nonnull(last);
    o = answer(1000, false, "12.0");
    ck_assert(json_is_true(json_object_get(o, "final")));
    ck_assert_int_eq(count(o), 3);
    json_decref(o);
    ck_assert_ptr_null(lbd_decisions_end(d, 1000, 12, 0));

    /* At another lbd it says the same, and loses nothing. */
    ck_assert_int_eq(take(1000, 13, 0, 5, 0, 3, 10, false), 0);
    ck_assert_int_eq(lbd_decisions_take(d, 1000, 13, 0, last, now_ns, &err), 0);
    free(last);
    o = answer(1000, false, "13.0");
    ck_assert(json_is_true(json_object_get(o, "final")));
    ck_assert_int_eq(count(o), 3);
    json_decref(o);
}
END_TEST

START_TEST(without_a_step_it_is_the_one_that_began_last)
{
    json_t *o;

    ck_assert_int_eq(take(1000, 7, 0, 10, 0, 1, 1, true), 0);
    ck_assert_int_eq(take(1000, 7, 2, 30, 0, 2, 1, true), 0);
    ck_assert_int_eq(take(1000, 7, 1, 20, 0, 3, 1, true), 0);
    ck_assert_int_eq(take(1000, 70, 9, 40, 0, 4, 1, true), 0);
    o = answer(1000, false, "7");
    ck_assert_int_eq(number(o, "stepid"), 2);
    ck_assert_int_eq((int)json_array_size(json_object_get(o, "steps")), 3);
    json_decref(o);
    for (int step = 3; step < 8; step++) /* of one second */
        ck_assert_int_eq(take(1000, 7, (uint32_t)step, 30, 0, 1, 1, true), 0);
    o = answer(1000, false, "7");
    ck_assert_int_eq(number(o, "stepid"), 7);
    json_decref(o);
    ck_assert_int_eq(take(1000, 7, 8, 1796079340, 0, 1, 1, true), 0);
    ck_assert_int_eq(take(1000, 7, 9, 1796079339, 0, 1, 1, true), 0);
    o = answer(1000, false, "7");
    ck_assert_int_eq(number(o, "stepid"), 8);
    ck_assert_int_eq(number(o, "begun_s"), 1796079340);
    json_decref(o);
}
END_TEST

START_TEST(another_start_of_the_step_replaces_what_was)
{
    json_t *o;

    ck_assert_int_eq(take(1000, 12, 0, 5, 0, 30, 10, true), 0);
    ck_assert_int_eq(take(1000, 12, 0, 6, 0, 2, 10, false), 0);
    o = answer(1000, false, "12");
    ck_assert_int_eq(count(o), 2);
    ck_assert(json_is_false(json_object_get(o, "final")));
    json_decref(o);
    ck_assert_int_eq(take(1001, 12, 0, 6, 0, 1, 10, false), 0); /* job numbers wrap */
    ck_assert_ptr_null(answer(1000, false, "12"));
}
END_TEST

START_TEST(a_file_is_bounded_and_read_page_by_page)
{
    int sent = 0, seen = 0, pages = 0;
    json_int_t from = 0, first = -1, next = -1;
    struct stat st;
    char ask[64], path[128];
    json_t *o, *one;
    size_t i;

    for (int k = 0; k < 80; k++, sent += 25)
        ck_assert_int_eq(take(1000, 3, 0, 5, sent, 25, 2000, false), 0);
    snprintf(path, sizeof(path), "%s/decisions/3.0", dir);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_le(st.st_size, (off_t)LBD_STEPFILES_FILE_BYTES + LBW_LOCAL_TEXT_MAX);
    do {
        snprintf(ask, sizeof(ask), "3.0 %lld", (long long)from);
        o = answer(1000, false, ask);
        ck_assert_ptr_nonnull(o);
        json_array_foreach(json_object_get(o, "decisions"), i, one)
        {
            if (first < 0)
                first = next = number(one, "seq");
            ck_assert_int_eq(number(one, "seq"), next++);
            seen++;
        }
        from = number(o, "next");
        json_decref(o);
        pages++;
    } while (from > 0);
    ck_assert_int_eq(next, sent); /* the newest are there */
    ck_assert_int_gt(first, 0);   /* the oldest are not */
    ck_assert_int_gt(seen, 100);  /* and not all were dropped */
    ck_assert_int_gt(pages, 2);
}
END_TEST

static int count_files(void)
{
    char path[128];
    struct dirent *e;
    int n = 0;
    DIR *f;

    snprintf(path, sizeof(path), "%s/decisions", dir);
    f = opendir(path);
    while ((e = readdir(f)))
        n += e->d_name[0] != '.';
    closedir(f);
    return n;
}

START_TEST(a_users_steps_are_bounded_and_do_not_crowd_out_others)
{
    json_t *o;

    ck_assert_int_eq(take(2000, 9999, 0, 5, 0, 1, 1, true), 0);
    for (uint32_t i = 0; i < LBD_STEPFILES_STEPS_EACH + 10; i++)
        ck_assert_int_eq(take(1000, i, 0, 5, 0, 1, 1, true), 0);
    ck_assert_int_eq(count_files(), LBD_STEPFILES_STEPS_EACH + 1);
    o = answer(2000, false, "9999");
    ck_assert_ptr_nonnull(o);
    json_decref(o);
}
END_TEST

/* As in a file system that has become read-only: lbd has other things to do than to try again. */
START_TEST(what_cannot_be_removed_holds_up_nobody)
{
    char path[128];

    ck_assert_int_eq(take(1000, 1, 0, 5, 0, 1, 1, true), 0); /* makes the folder */
    for (int i = 0; i < LBD_STEPFILES_STEPS_MAX; i++) {
        snprintf(path, sizeof(path), "%s/decisions/%d.0", dir, 100 + i);
        ck_assert_int_eq(mkdir(path, 0700), 0);
    }
    snprintf(path, sizeof(path), "%s/decisions/1.0", dir);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_lt(take(1000, 2, 0, 5, 0, 1, 1, false), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "not kept"));
}
END_TEST

/* A disk was full, and is no more: the balancer tells what was not taken once more, behind what was cut off. */
START_TEST(a_line_that_was_cut_off_costs_no_other)
{
    char path[128];
    json_t *o;
    FILE *f;

    ck_assert_int_eq(take(1000, 1, 0, 5, 0, 2, 1, false), 0);
    snprintf(path, sizeof(path), "%s/decisions/1.0", dir);
    f = fopen(path, "a");
    ck_assert_ptr_nonnull(f);
    fputs("2 {\"seq\":2,\"lo", f);
    fclose(f);
    ck_assert_int_eq(take(1000, 1, 0, 5, 2, 3, 1, true), 0);
    o = answer(1000, false, "1");
    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(count(o), 5);
    json_decref(o);
}
END_TEST

START_TEST(one_user_cannot_flood)
{
    int rc = 0, taken = 0;

    for (int i = 0; i < 1000 && rc == 0; i++, taken++) {
        now_ns -= LBX_NS_PER_S; /* at the same moment */
        rc = take(1000, 1, 0, 5, i, 1, 1, false);
    }
    ck_assert_int_eq(rc, -EBUSY);
    ck_assert_int_lt(taken, 500);
    ck_assert_int_eq(take(1001, 2, 0, 5, 0, 1, 1, false), 0);
}
END_TEST

START_TEST(garbage_is_refused)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"policy\":\"auto\"}",
        "{\"policy\":1,\"begun_s\":1,\"decisions\":[]}",
        "{\"policy\":\"auto\",\"begun_s\":\"x\",\"decisions\":[]}",
        "{\"policy\":\"auto\",\"begun_s\":1,\"decisions\":{}}",
        "{\"policy\":\"auto\",\"begun_s\":1,\"decisions\":[]",
    };
    static const char *const odd =
        "{\"policy\":\"a\\nb\",\"begun_s\":1,\"ranks\":\"x\",\"hosts\":[1,\"n1\\n9 {}\"],"
        "\"decisions\":[1,\"x\",null,[],{\"seq\":-5},{\"seq\":3,\"loop\":\"a\\n4 "
        "{\\\"seq\\\":4}\"}]}";
    static const char *const ask[] = {"",      "x",    "1.", "1.0x", "1 x", "1.0 1 1",    "../1",
                                      "1.0/2", "1. 0", "-1", "+1",   " 1",  "4294967296", "1.-1"};
    json_t *o;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        now_ns += LBX_NS_PER_S;
        ck_assert_int_eq(lbd_decisions_take(d, 1000, 1, 0, bad[i], now_ns, &err), -EINVAL);
    }
    ck_assert_int_eq(lbd_decisions_take(d, 1000, 1, 0, odd, now_ns, &err), 0);
    o = answer(1000, false, "1");
    ck_assert_ptr_nonnull(o);
    ck_assert_int_eq(count(o), 1); /* a line break within a text makes no other decision */
    json_decref(o);
    for (size_t i = 0; i < sizeof(ask) / sizeof(*ask); i++) {
        ck_assert_msg(!answer(1000, false, ask[i]), "%s", ask[i]);
        ck_assert_msg(err.code == -EINVAL, "%s: %d", ask[i], err.code);
    }
}
END_TEST

START_TEST(a_folder_that_cannot_be_had_is_told)
{
    struct lbd_decisions *nowhere;

    ck_assert_int_eq(lbd_decisions_create("/proc/none", &nowhere), 0);
    lbd_decisions_destroy(d);
    d = nowhere;
    ck_assert_int_lt(take(1000, 1, 0, 5, 0, 1, 1, false), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "not kept"));
    ck_assert_ptr_null(answer(1000, false, "1"));
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("decisions");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, they_come_back_to_their_user_and_to_who_may_see_all);
    tcase_add_test(tc, what_is_told_twice_is_listed_once);
    tcase_add_test(tc, a_step_whose_balancer_is_gone_has_ended);
    tcase_add_test(tc, without_a_step_it_is_the_one_that_began_last);
    tcase_add_test(tc, another_start_of_the_step_replaces_what_was);
    tcase_add_test(tc, a_file_is_bounded_and_read_page_by_page);
    tcase_add_test(tc, a_users_steps_are_bounded_and_do_not_crowd_out_others);
    tcase_add_test(tc, what_cannot_be_removed_holds_up_nobody);
    tcase_add_test(tc, a_line_that_was_cut_off_costs_no_other);
    tcase_add_test(tc, one_user_cannot_flood);
    tcase_add_test(tc, garbage_is_refused);
    tcase_add_test(tc, a_folder_that_cannot_be_had_is_told);
    return suite_run("lbd/decisions", tc);
}
