/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of policy/registry.c and policy/nearest.c. */
#include "policy/registry.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/nearest.h"
#include "tests/unit/suite.h"

static const struct {
    const char *text;
    const char *canonical;
} good[] = {
    {"", "auto"},
    {"auto", "auto"},
    {"siegell", "siegell"},
    {"liu", "liu"},
    {"static", "static"},
    {"none,report", "none,report"},
    {",report", "auto,report"},
    {"auto,report,period=2", "auto,period=2s,report"},
    {"auto,period=0.5s", "auto,period=500ms"},
    {"auto,period=50ms,chunk=0.3ms", "auto,period=50ms,chunk=300us"},
    {"auto,chunk=12345ns", "auto,chunk=12345ns"},
    {"auto,threshold=0.1", "auto,threshold=0.1"},
    {"auto,threshold=1", "auto,threshold=1.0"},
    {"auto,threshold=.25", "auto,threshold=0.25"},
    {"auto,filter=0", "auto,filter=0.0"},
    {"auto,filter=0.999999", "auto,filter=0.999999"},
    {"auto,profit=0", "auto,profit=0.0"},
    {"siegell,profit=1000,stable=2", "siegell,profit=1000.0,stable=2s"},
    {"auto,stake=0,profit=1", "auto,profit=1.0,stake=0.0"},
    {"auto,stake=.02", "auto,stake=0.02"},
    {"auto,stable=10ms", "auto,stable=10ms"},
    {"auto,period=1h,stable=1.5m", "auto,period=3600s,stable=90s"},
    {"auto,stable=24h", "auto,stable=86400s"},
    {"grain=64,chunk=2ms", "auto,chunk=2ms,grain=64"},
    {"auto,grain=1099511627776", "auto,grain=1099511627776"},
    {"auto,sync=yes", "auto,sync=yes"},
    {"auto,sync=no,report", "auto,report"},
    {"auto,trace=/tmp/a=b", "auto,trace=/tmp/a=b"},
    {"liu,trace=t,report,filter=0.5", "liu,filter=0.5,report,trace=t"},
};

START_TEST(test_good)
{
    struct lbp_params p, again;
    struct lbx_error err = {0, ""};
    char text[512], text2[512];

    ck_assert_msg(lbp_params_parse(&p, good[_i].text, &err) == 0, "%s: %s", good[_i].text,
                  err.text);
    ck_assert_int_eq(lbp_params_print(&p, text, sizeof(text)), (int)strlen(good[_i].canonical));
    ck_assert_str_eq(text, good[_i].canonical);
    ck_assert_int_eq(lbp_params_parse(&again, text, NULL), 0);
    lbp_params_print(&again, text2, sizeof(text2));
    ck_assert_str_eq(text, text2);
    ck_assert_int_eq(memcmp(&p, &again, sizeof(p)), 0);
}
END_TEST

static const struct {
    const char *text;
    const char *said; /* a part of the message */
} bad[] = {
    {"atuo", "\"auto\""},
    {"Auto", "\"auto\""},
    {"seigel", "\"siegell\""},
    {"sieg", "\"siegell\""},
    {"lui", "\"liu\""},
    {"statik", "\"static\""},
    {"off!", "nearest"},
    {"off", "stands alone: --lb=off"},
    {"off,report", "stands alone: --lb=off"},
    {"help", "stands alone: --lb=help"},
    {"reprot", "unknown key \"reprot\": the nearest is \"report\""},
    {"perod=1s,report", "unknown key \"perod\": the nearest is \"period\""},
    {"auto,siegell", "a policy comes first"},
    {"report=yes", "takes no value"},
    {"period=1d", "no duration"},
    {"report,auto", "unknown key \"auto\""},
    {"auto,perod=1s", "\"period\""},
    {"auto,treshold=0.1", "\"threshold\""},
    {"auto,reprot", "\"report\""},
    {"auto,report=yes", "takes no value"},
    {"auto,period", "needs a value"},
    {"auto,trace", "needs a value"},
    {"auto,grain", "needs a value (number)"},
    {"auto,grain=", "no whole number"},
    {"auto,grain=1.5", "no whole number"},
    {"auto,grain=10ms", "no whole number"},
    {"auto,grain=-1", "no whole number"},
    {"auto,grain=0", "out of range"},
    {"auto,grain=1099511627777", "out of range"},
    {"auto,grain=99999999999999999999", "out of range"},
    {"auto,profit=1001", "out of range: 0 to 1000"},
    {"auto,profit=2x", "no ratio"},
    {"auto,stake=1.1", "out of range: 0 to 1"},
    {"auto,stake=", "no ratio"},
    {"auto,stable=9ms", "out of range"},
    {"auto,stable=2d", "no duration"},
    {"auto,proft=1", "\"profit\""},
    {"auto,sync", "needs a value (yes|no)"},
    {"auto,sync=", "neither yes nor no"},
    {"auto,sync=1", "neither yes nor no"},
    {"auto,sync=yes,sync=no", "twice"},
    {"auto,trace=", "name of a file"},
    {"auto,trace=a\nb", "control character"},
    {"auto,", "missing"},
    {"auto,,report", "missing"},
    {"auto,=3", "missing"},
    {"auto,report,report", "twice"},
    {"auto,period=1s,period=1s", "twice"},
    {"auto,period=", "no duration"},
    {"auto,period=s", "no duration"},
    {"auto,period=2h", "out of range: 10ms to 3600s"},
    {"auto,period=99999999h", "out of range"},
    {"auto,period=1hm", "no duration"},
    {"auto,period=-1", "no duration"},
    {"auto,period=1e3", "no duration"},
    {"auto,period=0", "out of range: 10ms to 3600s"},
    {"auto,period=9ms", "out of range"},
    {"auto,period=3601", "out of range"},
    {"auto,period=99999999999999999999", "out of range"},
    {"auto,chunk=1us", "out of range: 10us to 60s"},
    {"auto,chunk=61s", "out of range"},
    {"auto,threshold=1.01", "out of range"},
    {"auto,threshold=10%", "no ratio"},
    {"auto,threshold=-0.1", "no ratio"},
    {"auto,threshold=nan", "no ratio"},
    {"auto,threshold=.", "no ratio"},
    {"auto,filter=1", "out of range"},
};

START_TEST(test_bad)
{
    struct lbp_params p, before;
    struct lbx_error err = {0, ""};

    memset(&p, 0x5a, sizeof(p));
    before = p;
    ck_assert_int_eq(lbp_params_parse(&p, bad[_i].text, &err), -EINVAL);
    ck_assert_msg(strstr(err.text, bad[_i].said) != NULL, "\"%s\": \"%s\" does not say %s",
                  bad[_i].text, err.text, bad[_i].said);
    ck_assert_int_eq(memcmp(&p, &before, sizeof(p)), 0);
    ck_assert_int_eq(lbp_params_parse(&p, bad[_i].text, NULL), -EINVAL);
}
END_TEST

START_TEST(test_long)
{
    struct lbp_params p;
    struct lbx_error err = {0, ""};
    char *text = malloc(70000);

    ck_assert_ptr_nonnull(text);
    memset(text, '\033', 70000);
    text[69999] = '\0';
    ck_assert_int_eq(lbp_params_parse(&p, text, &err), -EINVAL);
    ck_assert_ptr_null(strchr(err.text, '\033'));
    ck_assert_ptr_nonnull(strstr(err.text, "..."));
    memset(text, 'x', 69999);
    memcpy(text, "auto,trace=", 11);
    ck_assert_int_eq(lbp_params_parse(&p, text, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "too long"));
    text[11 + 255] = '\0';
    ck_assert_int_eq(lbp_params_parse(&p, text, &err), 0);
    ck_assert_int_eq((int)strlen(p.trace), 255);
    free(text);
}
END_TEST

/* A text without a policy changes what it gives; one with a policy starts anew. */
START_TEST(test_overlay)
{
    static const struct {
        const char *text, *result;
    } cases[] = {
        {"", "liu,period=1s,report"},
        {"hosts", "liu,period=1s,report,hosts"},
        {"period=2s,trace=/t", "liu,period=2s,report,trace=/t"},
        {"liu", "liu"},
        {"auto,hosts", "auto,hosts"},
    };
    struct lbp_params p;
    char text[64];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ck_assert_int_eq(lbp_params_parse(&p, "liu,period=1s,report", NULL), 0);
        ck_assert_int_eq(lbp_params_overlay(&p, cases[i].text, NULL), 0);
        ck_assert_int_lt(lbp_params_print(&p, text, sizeof(text)), (int)sizeof(text));
        ck_assert_str_eq(text, cases[i].result);
        ck_assert_int_eq(lbp_params_overlay(&p, "period=2s,prd=1", NULL), -EINVAL);
        lbp_params_print(&p, text, sizeof(text));
        ck_assert_str_eq(text, cases[i].result);
    }
}
END_TEST

/* As snprintf: a short buffer gets what fits, and the whole length is told. */
START_TEST(test_print_short)
{
    struct lbp_params p;
    char text[64];

    ck_assert_int_eq(lbp_params_parse(&p, "auto,period=50ms,report", NULL), 0);
    for (size_t size = 0; size < 40; size++) {
        memset(text, 'x', sizeof(text));
        ck_assert_int_eq(lbp_params_print(&p, text, size), 23);
        if (size > 0)
            ck_assert_int_eq((int)strlen(text), size - 1 < 23 ? (int)size - 1 : 23);
        ck_assert_int_eq(text[size], 'x');
    }
}
END_TEST

START_TEST(test_tables)
{
    size_t npolicies = 0, nkeys = 0;
    const struct lbp_policy_info *policy = lbp_policy_table(&npolicies);
    const struct lbp_key_info *key = lbp_key_table(&nkeys);

    ck_assert_int_eq((int)npolicies, LBP_POLICIES);
    ck_assert_int_eq((int)nkeys, 12);
    for (size_t i = 0; i < npolicies; i++) {
        struct lbp_params p;

        ck_assert_int_eq(lbp_params_parse(&p, policy[i].name, NULL), 0);
        ck_assert_int_eq((int)p.policy, (int)i);
        ck_assert_ptr_nonnull(policy[i].summary);
    }
    for (size_t i = 0; i < nkeys; i++)
        ck_assert(key[i].name && key[i].unit && key[i].summary && key[i].automatic);
}
END_TEST

static bool accepts(const char *key, const char *value)
{
    struct lbp_params p;
    char text[400];

    ck_assert_int_lt(snprintf(text, sizeof(text), "%s=%s", key, value), (int)sizeof(text));
    return lbp_params_parse(&p, text, NULL) == 0;
}

/* What is told of a key is what is accepted: both ends as they are written, and nothing beyond. */
START_TEST(test_range)
{
    static const struct {
        const char *key, *low, *high, *below, *above; /* below NULL: would be negative */
    } cases[] = {
        {"period", "10ms", "3600s", "9999999ns", "3600000000001ns"},
        {"threshold", "0", "1", NULL, "1.000001"},
        {"filter", "0", "0.999999", NULL, "1"},
        {"profit", "0", "1000", NULL, "1000.000001"},
        {"stake", "0", "1", NULL, "1.000001"},
        {"stable", "10ms", "86400s", "9999999ns", "86400000000001ns"},
        {"chunk", "10us", "60s", "9999ns", "60000000001ns"},
        {"grain", "1", "1099511627776", "0", "1099511627777"},
    };
    size_t nkeys, found = 0;
    const struct lbp_key_info *key = lbp_key_table(&nkeys);

    for (size_t k = 0; k < nkeys; k++) {
        char told[64], text[64];
        bool numeric = strchr("srn", key[k].unit[0]) && key[k].unit[0];
        size_t i = 0;

        ck_assert_int_lt(lbp_key_range(&key[k], told, sizeof(told)), (int)sizeof(told));
        if (!numeric) {
            ck_assert_str_eq(told, strcmp(key[k].unit, "file") == 0 ? "1 to 255 bytes" : "");
            continue;
        }
        while (i < sizeof(cases) / sizeof(*cases) && strcmp(cases[i].key, key[k].name) != 0)
            i++;
        ck_assert_msg(i < sizeof(cases) / sizeof(*cases), "no case for %s", key[k].name);
        found++;
        snprintf(text, sizeof(text), "%s to %s", cases[i].low, cases[i].high);
        ck_assert_str_eq(told, text);
        ck_assert_msg(accepts(cases[i].key, cases[i].low), "%s", cases[i].key);
        ck_assert_msg(accepts(cases[i].key, cases[i].high), "%s", cases[i].key);
        ck_assert_msg(!cases[i].below || !accepts(cases[i].key, cases[i].below), "%s",
                      cases[i].key);
        ck_assert_msg(!accepts(cases[i].key, cases[i].above), "%s", cases[i].key);
    }
    ck_assert_int_eq((int)found, (int)(sizeof(cases) / sizeof(*cases)));
}
END_TEST

START_TEST(test_distance)
{
    ck_assert_int_eq(lbp_nearest_distance("", ""), 0);
    ck_assert_int_eq(lbp_nearest_distance("", "abc"), 3);
    ck_assert_int_eq(lbp_nearest_distance("auto", "AUTO"), 0);
    ck_assert_int_eq(lbp_nearest_distance("atuo", "auto"), 1);
    ck_assert_int_eq(lbp_nearest_distance("kitten", "sitting"), 3);
    ck_assert_int_eq(lbp_nearest_distance("period", "perod"), 1);
}
END_TEST

/* Whatever bytes come in: an error with a text, or a value that prints to what parses to itself. */
START_TEST(test_random)
{
    static const char alphabet[] = "auto,period=0.5ms,report=trace;filter.1threshold liuchunk9";
    unsigned seed = 20240611;

    for (int round = 0; round < 20000; round++) {
        struct lbp_params p, again;
        struct lbx_error err = {0, ""};
        char text[64], out[512];
        size_t n = (size_t)rand_r(&seed) % (sizeof(text) - 1);

        strcpy(text, "auto,");
        for (size_t i = rand_r(&seed) % 2 ? 5 : 0; i < n; i++)
            text[i] = alphabet[(size_t)rand_r(&seed) % (sizeof(alphabet) - 1)];
        text[n] = '\0';
        if (lbp_params_parse(&p, text, &err) < 0) {
            ck_assert_msg(err.text[0] != '\0', "round %d: %s", round, text);
            continue;
        }
        lbp_params_print(&p, out, sizeof(out));
        ck_assert_msg(lbp_params_parse(&again, out, NULL) == 0, "round %d: %s", round, out);
        ck_assert_msg(memcmp(&p, &again, sizeof(p)) == 0, "round %d: %s", round, out);
    }
}
END_TEST

int main(void)
{
    TCase *t = suite_case("registry");

    tcase_add_loop_test(t, test_good, 0, sizeof(good) / sizeof(good[0]));
    tcase_add_loop_test(t, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
    tcase_add_test(t, test_long);
    tcase_add_test(t, test_print_short);
    tcase_add_test(t, test_overlay);
    tcase_add_test(t, test_tables);
    tcase_add_test(t, test_range);
    tcase_add_test(t, test_distance);
    tcase_add_test(t, test_random);
    return suite_run("registry", t);
}
