/* SPDX-License-Identifier: BSD-3-Clause */
/* What a step runs with, of what was asked for and what the site has decided. */
#include "slurm_plugin/rules.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/suite.h"

#define MS INT64_C(1000000)

static const struct {
    const char *asked; /* NULL: nothing */
    struct lbw_local_rule rule;
    const char *policy;  /* what becomes of it; NULL: left alone */
    const char *refused; /* instead: what the text must hold */
} cases[] = {
    {NULL, {.policy = "liu"}, NULL, NULL},
    {NULL, {.policy = "liu", .opt_out = 1}, "liu", NULL},
    {"off", {.policy = "liu", .opt_out = 1}, NULL, NULL},
    {"", {.policy = "liu,period=1s"}, "liu,period=1s", NULL},
    {"report", {.policy = "liu,period=1s"}, "liu,period=1s,report", NULL},
    {"period=2s", {.policy = "liu,period=1s"}, "liu,period=2s", NULL},
    {"auto", {.policy = "liu,period=1s"}, "auto", NULL},
    {"auto,report", {.policy = "liu,period=1s"}, "auto,report", NULL},
    {"", {.policy = "of another version"}, "auto", NULL},
    /* limits */
    {"auto",
     {.policy = "liu", .allowed = "liu,none"},
     NULL,
     "\"auto\" is not allowed here: there are liu,none"},
    {"none", {.policy = "liu", .allowed = "liu,none"}, "none", NULL},
    {"", {.policy = "liu", .allowed = "none"}, "liu", NULL}, /* the site's own */
    {"report", {.policy = "auto", .allowed = "liu"}, "auto,report", NULL},
    {NULL, {.policy = "auto", .opt_out = 1, .allowed = "liu"}, "auto", NULL},
    {"period=20ms", {.policy = "auto", .least_period_ns = 50 * MS}, NULL, "period=0.02s is below"},
    {"period=50ms", {.policy = "auto", .least_period_ns = 50 * MS}, "auto,period=50ms", NULL},
    {"auto", {.policy = "auto", .least_period_ns = 50 * MS}, "auto", NULL},
    {"", {.policy = "auto,period=20ms", .least_period_ns = 50 * MS}, "auto,period=20ms", NULL},
    {"liu,chunk=1ms", {.policy = "auto", .least_chunk_ns = 2 * MS}, NULL, "chunk=0.001s is below"},
    {"trace=/t", {.policy = "auto"}, NULL, "trace="},
    {"trace=/t", {.policy = "auto", .trace = 1}, "auto,trace=/t", NULL},
};

START_TEST(test_case)
{
    struct lbs_choice choice = {.wish = LBS_UNSET}, before;
    struct lbx_error err = {0};
    char text[LBS_TEXT_MAX];
    int rc;

    if (cases[_i].asked)
        ck_assert_int_eq(lbs_choice_parse(cases[_i].asked, &choice, &err), 0);
    before = choice;
    rc = lbs_rules_apply(&cases[_i].rule, &choice, &err);
    if (cases[_i].refused) {
        ck_assert_int_lt(rc, 0);
        ck_assert_msg(strstr(err.text, cases[_i].refused), "%s", err.text);
        ck_assert_mem_eq(&choice, &before, sizeof(choice));
        return;
    }
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(choice.wish == LBS_ON, cases[_i].policy != NULL);
    if (!cases[_i].policy)
        return;
    ck_assert_int_lt(lbp_params_print(&choice.params, text, sizeof(text)), (int)sizeof(text));
    ck_assert_str_eq(text, cases[_i].policy);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("all");

    tcase_add_loop_test(t, test_case, 0, (int)(sizeof(cases) / sizeof(*cases)));
    return suite_run("slurm_plugin/rules", t);
}
