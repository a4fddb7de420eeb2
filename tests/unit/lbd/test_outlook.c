/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host is ranked by: its report, and its forecast once there is one. */
#include "lbd/controller/outlook.h"

#include "common/clock.h"
#include "policy/index.h"
#include "tests/unit/suite.h"

static struct lbw_node_report report;
static struct lbd_prospect prospect;

static void set_up(void)
{
    report = (struct lbw_node_report){.cpus = 2,
                                      .hardware = 1,
                                      .hardware_s = 1,
                                      .core_speed = .8, /* something unseen leaves so much */
                                      .capacity = 1.6,
                                      .workload_ratio = 1.25,
                                      .slow_ratio = 1};
}

START_TEST(without_a_forecast_the_report_counts)
{
    struct lbd_outlook *o = lbd_outlook_create(10 * LBX_NS_PER_S, 2);

    lbd_outlook_apply(NULL, &report, 1000, &prospect);
    ck_assert_double_eq(prospect.core_speed, .8);
    ck_assert_double_eq(prospect.workload_ratio, 1.25);
    ck_assert_int_eq(prospect.stable_ns, 0);
    lbd_outlook_apply(o, &report, 1000, &prospect);
    ck_assert_double_eq(prospect.capacity, 1.6);
    ck_assert_uint_eq(o->forecast.ahead, 6);
    lbd_outlook_destroy(o);
    lbd_outlook_destroy(NULL);
}
END_TEST

START_TEST(the_forecast_scales_what_was_reported)
{
    struct lbd_outlook *o = lbd_outlook_create(10 * LBX_NS_PER_S, 2);
    int64_t at_s = 1000;

    for (uint64_t i = 1; i <= 60; i++) {
        report.samples = i;
        report.others_cpus = 1.5;
        at_s += 10;
        lbd_outlook_report(o, 7, at_s * LBX_NS_PER_S, &report);
        lbd_outlook_report(o, 7, (at_s + 1) * LBX_NS_PER_S,
                           &report); /* a notice brings no new sample */
    }
    ck_assert_uint_eq(o->forecast.samples, 60);
    report.external_cpus = 0; /* idle for the moment only */
    lbd_outlook_apply(o, &report, at_s + 10, &prospect);
    ck_assert_double_eq_tol(prospect.core_speed, .8 * lbp_index_task_share(2, 1.5), 1e-6);
    ck_assert_double_eq_tol(prospect.workload_ratio, 1.25 / lbp_index_task_share(2, 1.5), 1e-6);
    ck_assert_double_eq_tol(prospect.capacity, 1.6 * lbp_index_job_cpus(2, 1.5) / 2, 1e-6);
    ck_assert_int_ge(prospect.stable_ns, 500 * LBX_NS_PER_S);
    lbd_outlook_apply(o, &report, at_s + 1000, &prospect); /* too old */
    ck_assert_double_eq(prospect.core_speed, .8);
    report.samples = 1; /* another lbd counts from the beginning */
    lbd_outlook_report(o, 8, (at_s + 20) * LBX_NS_PER_S, &report);
    ck_assert_uint_eq(o->forecast.samples, 61);
    lbd_outlook_destroy(o);
}
END_TEST

START_TEST(a_clock_that_is_set_back_begins_anew)
{
    struct lbd_outlook *o = lbd_outlook_create(LBX_NS_PER_S / 2, 2);
    int64_t at_ns = 500000 * LBX_NS_PER_S;
    struct lbp_forecast_answer a;
    double value, error;

    lbp_forecast_set_day(&o->forecast, 5, 1.25);
    for (uint64_t i = 1; i <= 200; i++) { /* two in each second, none is left out */
        report.samples = i;
        report.others_cpus = i <= 100 ? 1.5 : .5;
        if (i == 101)
            at_ns -= 3600 * LBX_NS_PER_S;
        else
            at_ns += LBX_NS_PER_S / 2;
        lbd_outlook_report(o, 7, at_ns, &report);
        ck_assert_uint_eq(o->forecast.samples, i <= 100 ? i : i - 100);
    }
    ck_assert(lbp_forecast_ask(&o->forecast, &a));
    ck_assert_double_eq_tol(a.value, .5, 1e-3);
    ck_assert_int_eq(o->forecast.interval_ns, LBX_NS_PER_S / 2);
    ck_assert_double_eq((double)o->forecast.day[5], 1.25); /* what days have is not forgotten */
    ck_assert(lbp_forecast_one(&o->forecast, LBP_P_LAST, &value, &error));
    at_ns -= 30 * LBX_NS_PER_S; /* a little: what is late is left out */
    report.samples++;
    lbd_outlook_report(o, 7, at_ns, &report);
    ck_assert_uint_eq(o->forecast.samples, 100);
    lbd_outlook_destroy(o);
}
END_TEST

START_TEST(records_come_before_reports)
{
    struct lbd_outlook *o = lbd_outlook_create(10 * LBX_NS_PER_S, 2);
    struct lbd_db_point point[90] = {0};
    struct lbp_forecast_answer a;
    double value, error;

    for (int i = 0; i < 90; i++) {
        point[i].at_s = 90000 + 10 * i;
        point[i].external_cpus = 1;
    }
    report.samples = 1;
    report.others_cpus = .5;
    lbd_outlook_report(o, 7, 90900 * LBX_NS_PER_S, &report);
    report.samples = 2;
    lbd_outlook_report(o, 7, 90910 * LBX_NS_PER_S, &report);
    lbd_outlook_remember(o, LBD_RAW, point, 90);
    ck_assert_uint_eq(o->forecast.samples, 92);
    ck_assert_int_eq(o->forecast.at_ns, 90910 * LBX_NS_PER_S);
    ck_assert(lbp_forecast_one(&o->forecast, LBP_P_LAST, &value, &error));
    ck_assert_double_eq(value, .5);
    ck_assert(lbp_forecast_one(&o->forecast, LBP_P_MEAN_90, &value, &error));
    ck_assert_double_gt(value, .9);
    ck_assert(lbp_forecast_ask(&o->forecast, &a));
    for (int i = 0; i < 90; i++) {
        point[i].at_s = i * 3600;
        point[i].external_cpus = i % 24 == 1 ? 1.25 : 0;
    }
    lbd_outlook_remember(o, LBD_1H, point, 90);
    report.samples = 3;
    lbd_outlook_report(o, 7, 90920 * LBX_NS_PER_S, &report); /* 1:15 of the second day */
    ck_assert(lbp_forecast_one(&o->forecast, LBP_P_DAY, &value, &error));
    ck_assert_double_eq(value, 1.25);
    lbd_outlook_destroy(o);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("outlook");

    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, without_a_forecast_the_report_counts);
    tcase_add_test(tc, the_forecast_scales_what_was_reported);
    tcase_add_test(tc, a_clock_that_is_set_back_begins_anew);
    tcase_add_test(tc, records_come_before_reports);
    return suite_run("lbd/outlook", tc);
}
