/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of metrics: values, labels of any bytes, both formats. */
#include "lbd/metrics/metrics.h"

#include <math.h>
#include <stdio.h>

#include "tests/unit/suite.h"

static char *page;

static void render(struct lbd_metrics *m, bool openmetrics)
{
    size_t n;

    free(page);
    ck_assert_int_eq(lbd_metrics_render(m, openmetrics, &page, &n), 0);
    ck_assert_uint_eq(strlen(page), n);
}

static void has(const char *text)
{
    ck_assert_msg(strstr(page, text), "'%s' is missing in:\n%s", text, page);
}

static void has_not(const char *text)
{
    ck_assert_msg(!strstr(page, text), "'%s' is in:\n%s", text, page);
}

START_TEST(values_and_types)
{
    struct lbd_metrics *m = lbd_metrics_create();

    render(m, false);
    ck_assert_str_eq(page, "");
    lbd_metrics_set(m, LBD_M_HOST_CPUS, NULL, 4);
    lbd_metrics_set(m, LBD_M_HOST_CPUS, NULL, .4);
    lbd_metrics_set(m, LBD_M_LOAD_SAMPLES_TOTAL, NULL, 1e15);
    lbd_metrics_set(m, LBD_M_HOST_PERFORMANCE_INDEX, NULL, NAN);
    lbd_metrics_set(m, LBD_M_HOST_TASKS, NULL, INFINITY);
    render(m, false);
    has("# HELP lbd_host_cpus Cores");
    has("# TYPE lbd_host_cpus gauge\nlbd_host_cpus 0.4\n");
    has("# TYPE lbd_load_samples_total counter\nlbd_load_samples_total 1e+15\n");
    has("lbd_host_performance_index NaN\n");
    has("lbd_host_tasks +Inf\n");
    has_not("lbd_host_workload");
    render(m, true);
    has("# TYPE lbd_load_samples counter\nlbd_load_samples_total 1e+15\n");
    ck_assert_str_eq(page + strlen(page) - 6, "# EOF\n");
    lbd_metrics_destroy(m);
}
END_TEST

START_TEST(labels_of_any_bytes)
{
    static const struct {
        const char *value, *shown;
    } t[] = {
        {"plain", "plain"},
        {"", ""},
        {"quote\" back\\slash\nline", "quote\\\" back\\\\slash\\nline"},
        {"tab\t bell\a del\x7f", "tab? bell? del?"},
        {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xff\xfe", "??"},
        {"cut \xe2\x82", "cut ??"},
        {"overlong \xc0\xaf", "overlong ??"},
        {"surrogate \xed\xa0\x80", "surrogate ???"},
        {"beyond \xf4\x90\x80\x80", "beyond ????"},
    };
    char line[256];

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct lbd_metrics *m = lbd_metrics_create();

        lbd_metrics_set(m, LBD_M_HOST_INFO, (const char *const[]){t[i].value}, 1);
        snprintf(line, sizeof(line), "\nlbd_host_info{cpu_model=\"%s\"} 1\n", t[i].shown);
        render(m, false);
        has(line);
        lbd_metrics_destroy(m);
    }
}
END_TEST

/* Every label of every metric, with the same odd bytes. */
START_TEST(any_label_may_be_odd)
{
    const char *odd = "q\" b\\ n\n \xff";
    int tried = 0;

    for (int i = 0; i < LBD_METRICS; i++) {
        const struct lbd_metric_info *info = &lbd_metric_info[i];
        const char *labels[LBD_METRIC_LABELS_MAX];
        struct lbd_metrics *m = lbd_metrics_create();
        char line[1024];
        int n = snprintf(line, sizeof(line), "\n%s%s{", info->name,
                         info->type == LBD_TYPE_HISTOGRAM ? "_count" : "");

        for (int k = 0; k < info->nlabels; k++) {
            labels[k] = odd;
            n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%s=\"q\\\" b\\\\ n\\n ?\"",
                          k ? "," : "", info->label[k]);
        }
        snprintf(line + n, sizeof(line) - (size_t)n, "} ");
        if (info->type == LBD_TYPE_HISTOGRAM)
            lbd_metrics_set_histogram(m, (enum lbd_metric)i, labels, (const uint64_t[16]){1}, 1);
        else
            lbd_metrics_set(m, (enum lbd_metric)i, labels, 1);
        render(m, false);
        if (info->nlabels > 0)
            has(line);
        tried += info->nlabels;
        lbd_metrics_destroy(m);
    }
    ck_assert_int_gt(tried, 50);
}
END_TEST

START_TEST(long_labels_are_cut)
{
    struct lbd_metrics *m = lbd_metrics_create();
    char value[4000], shown[2 * LBD_METRIC_VALUE_MAX + 64];

    memset(value, '"', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    lbd_metrics_set(m, LBD_M_BENCHMARK_FAILURES_TOTAL, (const char *const[]){value, value}, 1);
    render(m, false);
    memset(shown, 0, sizeof(shown));
    for (int i = 0; i < LBD_METRIC_VALUE_MAX; i++)
        strcat(shown, "\\\"");
    strcat(shown, "\"} 1\n");
    has(shown);
    ck_assert_uint_lt(strlen(page), 4 * sizeof(shown));
    lbd_metrics_destroy(m);
}
END_TEST

START_TEST(histograms_are_cumulative)
{
    struct lbd_metrics *m = lbd_metrics_create();
    const uint64_t counts[] = {1, 0, 2, 0, 0, 0, 0, 4};

    lbd_metrics_set_histogram(m, LBD_M_DATABASE_WRITE_DURATION_SECONDS, NULL, counts, 1.5);
    render(m, false);
    has("_seconds_bucket{le=\"0.001\"} 1\n");
    has("_seconds_bucket{le=\"0.02\"} 3\n");
    has("_seconds_bucket{le=\"10\"} 3\n");
    has("_seconds_bucket{le=\"+Inf\"} 7\n");
    has("_seconds_sum 1.5\n");
    has("_seconds_count 7\n");
    lbd_metrics_destroy(m);
}
END_TEST

START_TEST(series_leave_and_are_limited)
{
    struct lbd_metrics *m = lbd_metrics_create();
    char name[16];
    size_t lines = 0;

    lbd_metrics_set(m, LBD_M_BENCHMARK_FAILURES_TOTAL, (const char *const[]){"a", "x"}, 1);
    lbd_metrics_set(m, LBD_M_BENCHMARK_FAILURES_TOTAL, (const char *const[]){"a", "y"}, 1);
    lbd_metrics_set(m, LBD_M_BENCHMARK_FAILURES_TOTAL, (const char *const[]){"ab", "x"}, 1);
    lbd_metrics_drop(m, LBD_M_BENCHMARK_FAILURES_TOTAL, (const char *const[]){"a"}, 1);
    render(m, false);
    has("kernel=\"ab\"");
    has_not("kernel=\"a\"");
    for (int i = 0; i < LBD_METRIC_SERIES_MAX + 100; i++) {
        snprintf(name, sizeof(name), "%d", i);
        lbd_metrics_set(m, LBD_M_HOST_INFO, (const char *const[]){name}, 1);
    }
    render(m, false);
    for (const char *p = page; (p = strstr(p, "\nlbd_")); p++)
        lines++;
    ck_assert_uint_eq(lines, LBD_METRIC_SERIES_MAX);
    ck_assert_uint_eq(lbd_metrics_left_out(m), 101); /* and "ab" is still there */
    lbd_metrics_destroy(m);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("metrics");
    int rc;

    tcase_add_test(tc, values_and_types);
    tcase_add_test(tc, labels_of_any_bytes);
    tcase_add_test(tc, any_label_may_be_odd);
    tcase_add_test(tc, long_labels_are_cut);
    tcase_add_test(tc, histograms_are_cumulative);
    tcase_add_test(tc, series_leave_and_are_limited);
    rc = suite_run("lbd/metrics", tc);
    free(page);
    return rc;
}
