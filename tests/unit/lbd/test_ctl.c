/* SPDX-License-Identifier: BSD-3-Clause */
/* What lbctl makes of answers: pictures of history, times, Slurm's states. */
#include <errno.h>
#include <math.h>

#include "lbd/ctl/history.h"
#include "lbd/ctl/job.h"
#include "lbd/ctl/plot.h"
#include "lbd/ctl/print.h"
#include "lbd/ctl/slurm.h"
#include "lbd/ctl/words.h"
#include "tests/unit/suite.h"

/* What a picture looks like, to be freed. */
static char *picture(const double *v, size_t columns, size_t lines, bool braille)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    lbd_plot(f, v, columns, lines, braille);
    fclose(f);
    return text;
}

START_TEST(a_picture_has_the_right_dots)
{
    const double stairs[] = {0, .25, .5, 1}, gap[] = {NAN, 1, 2, NAN};
    char *text = picture(stairs, 4, 4, false);

    ck_assert_str_eq(text, "      1 |   #\n"
                           "        |   #\n"
                           "    0.5 |  ##\n"
                           "      0 |####\n");
    free(text);
    text = picture(gap, 2, 1, true); /* of 2: a gap and two dots, four dots and a gap */
    ck_assert_str_eq(text, "      2 \xe2\x94\x82\xe2\xa2\xa0\xe2\xa1\x87\n");
    free(text);
}
END_TEST

START_TEST(scales_are_round)
{
    static const double table[][2] = {{0, 1},    {1, 1},     {1.01, 2}, {2, 2},
                                      {.3, .5},  {7, 10},    {10, 10},  {.0021, .005},
                                      {99, 100}, {101, 200}, {-3, 1}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        ck_assert_double_eq_tol(lbd_plot_round_up(table[i][0]), table[i][1], 1e-9);
    ck_assert_double_eq(lbd_plot_round_up(NAN), 1);
    ck_assert_uint_eq(lbd_plot_dots(10, true), 20);
    ck_assert_uint_eq(lbd_plot_dots(10, false), 10);
}
END_TEST

START_TEST(times_are_understood)
{
    static const char *const bad[] = {"", "x", "-1h", "2026-13-40", "2026-11-21Tx", "1h "};
    int64_t s = 7;

    setenv("TZ", "UTC", 1);
    ck_assert_int_eq(lbd_history_time("now", 1000000, &s), 0);
    ck_assert_int_eq(s, 1000000);
    ck_assert_int_eq(lbd_history_time("2h", 1000000, &s), 0);
    ck_assert_int_eq(s, 1000000 - 7200);
    ck_assert_int_eq(lbd_history_time("1970-01-02", 0, &s), 0);
    ck_assert_int_eq(s, 86400);
    ck_assert_int_eq(lbd_history_time("1970-01-02T01:30", 0, &s), 0);
    ck_assert_int_eq(s, 86400 + 5400);
    ck_assert_int_eq(lbd_history_time("1970-01-02 01:30", 0, &s), 0);
    s = 7;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_int_eq(lbd_history_time(bad[i], 1000000, &s), -EINVAL);
    ck_assert_int_eq(s, 7);
}
END_TEST

START_TEST(the_resolution_goes_with_the_width)
{
    static const struct {
        int64_t span_s;
        size_t dots;
        const char *expected;
    } table[] = {{600, 142, "raw"},       {7200, 142, "raw"},      {86400, 400, "raw"},
                 {86400, 142, "5m"},      {3 * 86400, 1000, "5m"}, {30 * 86400, 142, "1h"},
                 {30 * 86400, 900, "5m"}, {7200, 10, "5m"}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        ck_assert_str_eq(lbd_history_resolution(table[i].span_s, table[i].dots), table[i].expected);
}
END_TEST

static json_t *an_answer(void)
{
    return json_pack("{ss ss si s[sss] s[[Iff] [Iff] [Iff] [Iff]]}", "host", "n1", "resolution",
                     "5m", "resolution_s", 300, "columns", "at", "busy_cpus", "external_cpus",
                     "rows", (json_int_t)900, 1., .5, (json_int_t)1200, 3., .5, (json_int_t)1800,
                     4., 1.5, (json_int_t)99999, 9., 9.);
}

/* No line is wider than the terminal, as far as a picture of ten columns allows. */
START_TEST(a_picture_fits_its_terminal)
{
    static const size_t width[] = {200, 80, 40, 24, 20, 3};
    json_t *answer = an_answer();

    for (size_t i = 0; i < sizeof(width) / sizeof(width[0]); i++) {
        struct lbd_history_wish w = {
            .host = "n1", .of = "busy_cpus", .from_s = 900, .to_s = 2100, .columns = width[i]};
        char *text = NULL, *line, *rest = NULL;
        size_t n, lines = 0;
        FILE *f = open_memstream(&text, &n);

        ck_assert_int_eq(lbd_history_print(f, answer, &w), 0);
        fclose(f);
        line = strtok_r(text, "\n", &rest); /* the title may be longer */
        while ((line = strtok_r(NULL, "\n", &rest))) {
            ck_assert_uint_le(strlen(line), width[i] > 23 ? width[i] : 23);
            lines++;
        }
        ck_assert_uint_ge(lines, LBD_HISTORY_LINES + 1);
        free(text);
    }
    json_decref(answer);
}
END_TEST

START_TEST(rows_become_the_means_of_parts)
{
    struct lbd_history_wish w = {
        .host = "n1", .of = "busy_cpus", .from_s = 900, .to_s = 2100, .columns = 40};
    json_t *answer = an_answer();
    char *text = NULL;
    double v[4];
    size_t n;
    FILE *f;

    ck_assert_int_eq(lbd_history_bin(answer, &w, 4, v), 3);
    ck_assert_double_eq(v[0], 1);
    ck_assert_double_eq(v[1], 3);
    ck_assert(isnan(v[2]));
    ck_assert_double_eq(v[3], 4);
    ck_assert_int_eq(lbd_history_bin(answer, &w, 2, v), 2);
    ck_assert_double_eq(v[0], 2);
    w.of = "nothing";
    ck_assert_int_eq(lbd_history_bin(answer, &w, 4, v), -EINVAL);
    w.of = "external_cpus";
    f = open_memstream(&text, &n);
    ck_assert_int_eq(lbd_history_print(f, answer, &w), 0);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, "external_cpus of n1, 5m: mean 0.8"));
    ck_assert_ptr_nonnull(strstr(text, ", most 1.5\n"));
    free(text);
    w.from_s = 500000;
    w.to_s = 600000;
    f = open_memstream(&text, &n);
    ck_assert_int_eq(lbd_history_print(f, answer, &w), 0);
    fclose(f);
    ck_assert_str_eq(text, "Nothing is recorded of n1 in this time.\n");
    free(text);
    json_decref(answer);
}
END_TEST

/* An answer of another version, or from another program, must not be a crash. */
START_TEST(strange_answers_are_survived)
{
    static const char *const strange[] = {
        "{}", "{\"columns\":3,\"rows\":[]}", "{\"columns\":[\"at\",\"busy_cpus\"],\"rows\":5}",
        "{\"columns\":[\"at\",\"busy_cpus\"],\"rows\":[1,[],[\"x\"],{\"a\":1},null,[1e300,-9]]}",
        "{\"columns\":[null,1,\"busy_cpus\",\"at\"],\"rows\":[[1,2,3,4]],\"resolution_s\":-5}"};
    struct lbd_history_wish w = {
        .host = "n1", .of = "busy_cpus", .from_s = 0, .to_s = 100, .columns = 30, .braille = true};
    FILE *f = fopen("/dev/null", "w");

    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        json_t *answer = json_loads(strange[i], 0, NULL);
        int rc = lbd_history_print(f, answer, &w);

        ck_assert(rc == 0 || rc == -EINVAL);
        lbd_print_forecast(f, answer);
        lbd_print_rank(f, answer);
        lbd_print_hosts(f, answer);
        json_decref(answer);
    }
    fclose(f);
}
END_TEST

START_TEST(states_of_slurm_join_the_hosts)
{
    char sinfo[] = "n1|idle|none\nn2|drained*|bad fan | really\nn3|mixed\n|x|y\n\nn4|down|none\n";
    json_t *states = lbd_slurm_parse(sinfo), *answer, *hosts;
    char *text = NULL;
    size_t n;
    FILE *f;

    ck_assert_uint_eq(json_object_size(states), 3);
    answer = json_pack("{s[{ss sf sf sf} {ss sf sf sf} {ss}] sb}", "hosts", "host", "n2", "index",
                       1.5, "core_speed", .5, "hardware", 1., "host", "n1", "index", 2.,
                       "core_speed", 1., "hardware", 1., "host", "n9", "stale", 0);
    hosts = json_object_get(answer, "hosts");
    lbd_slurm_add(hosts, NULL);
    ck_assert_ptr_null(json_object_get(json_array_get(hosts, 0), "slurm_state"));
    lbd_slurm_add(hosts, states);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(hosts, 0), "slurm_state")),
                     "drained*");
    ck_assert_ptr_null(json_object_get(json_array_get(hosts, 2), "slurm_state"));
    f = open_memstream(&text, &n);
    lbd_print_rank(f, answer);
    fclose(f);
    ck_assert_ptr_nonnull(
        strstr(text, "1.000 s x 2.00 for load; Slurm: drained*, bad fan | really\n"));
    ck_assert_ptr_null(strstr(text, "idle"));
    free(text);
    json_decref(answer);
    json_decref(states);
}
END_TEST

START_TEST(options_belong_to_commands)
{
    ck_assert_ptr_null(lbd_words_surplus("history", NULL, LBD_W_SINCE | LBD_W_ASCII));
    ck_assert_str_eq(lbd_words_surplus("history", NULL, LBD_W_SINCE | LBD_W_INTERVAL), "interval");
    ck_assert_str_eq(lbd_words_surplus("hosts", NULL, LBD_W_RESTORE), "restore");
    ck_assert_ptr_null(lbd_words_surplus("weights", NULL, LBD_W_RESTORE));
    ck_assert_ptr_null(lbd_words_surplus("policy", "show", LBD_W_ACCOUNT | LBD_W_EFFECTIVE));
    ck_assert_str_eq(lbd_words_surplus("policy", "check", LBD_W_ACCOUNT), "account");
    ck_assert_ptr_null(lbd_words_surplus("statsu", NULL, LBD_W_ACCOUNT)); /* another error's turn */
    ck_assert_str_eq(lbd_words_nearest("statsu"), "status");
    ck_assert_str_eq(lbd_words_nearest("forcast"), "forecast");
}
END_TEST

/* What is printed of it, to be freed. */
static char *printed(void (*print)(FILE *f, const json_t *answer), json_t *answer)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    ck_assert_ptr_nonnull(answer);
    print(f, answer);
    fclose(f);
    json_decref(answer);
    return text;
}

/* What a job calls its loops is seen by who is root. */
START_TEST(no_text_moves_the_cursor)
{
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"rows", "rows  |"},
        {"\x1b[2J", "?[2J  |"},
        {"\xc2\x9b"
         "2J",
         "?2J   |"}, /* CSI in one character */
        {"\xc3\xa4\xc2\xa0\x7f", "\xc3\xa4\xc2\xa0?   |"},
        {"\xc2", "\xc2     |"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t size;
        char *got;
        FILE *f = open_memstream(&got, &size);

        lbd_print_text(f, cases[i].text, 6);
        fputc('|', f);
        fclose(f);
        ck_assert_str_eq(got, cases[i].printed);
        free(got);
    }
}
END_TEST

START_TEST(numbers_are_for_people)
{
    char *text;

    setenv("TZ", "UTC", 1);
    text = printed(lbd_print_any,
                   json_pack("{sf sf sI sI sf}", "years_s", 6.3072e7, "ratio", .1, "made_at",
                             (json_int_t)86400, "copy_at", (json_int_t)0, "flat", 2.5));
    ck_assert_ptr_nonnull(strstr(text, " 63072000\n"));
    ck_assert_ptr_nonnull(strstr(text, " 0.1\n"));
    ck_assert_ptr_nonnull(strstr(text, " 1970-01-02 00:00:00 UTC\n"));
    ck_assert_ptr_nonnull(strstr(text, " never\n"));
    ck_assert_ptr_nonnull(strstr(text, " 2.5\n"));
    free(text);
}
END_TEST

START_TEST(status_ends_with_what_is_wrong)
{
    static const struct {
        const char *json, *last; /* line */
    } table[] = {
        {"{\"node\":{\"measured\":true,\"slow\":false}}", "All is well.\n"},
        {"{\"node\":{\"measured\":false}}",
         "This host has not been measured: it will be when it is idle.\n"},
        {"{\"node\":{\"measured\":true,\"slow\":true}}",
         "This host is slower than it was: see lbctl hosts\n"},
        {"{\"uplink\":{\"connected\":false,\"reason\":\"nobody\"}}",
         "The controller is not connected: nobody\n"},
        {"{\"controller\":{\"database\":{\"open\":false,\"reason\":\"locked\"}}}",
         "Nothing is recorded: the database is not open: locked\n"},
        {"{\"controller\":{\"database\":{\"open\":true,\"reason\":\"disk full\"}}}",
         "Rows wait for the database: disk full\n"},
        {"{\"controller\":{\"database\":{\"open\":true,\"copy_reason\":\"no room\"}}}",
         "The last copy of the database failed: no room\n"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char *text = printed(lbd_print_status, json_loads(table[i].json, 0, NULL));
        size_t n = strlen(text), last = strlen(table[i].last);

        ck_assert_uint_gt(n, last);
        ck_assert_str_eq(text + n - last, table[i].last);
        ck_assert(i == 0 || !strstr(text, "well"));
        free(text);
    }
}
END_TEST

/* The lines of hosts; the prose above them may be longer. */
START_TEST(a_job_fits_its_terminal)
{
    static const int width[] = {120, 80, 74, 60, 40, 24};
    json_t *step =
        json_pack("{sI sI s[{ss sf sI sf sf}{ss sf sI sf sf}]}", "jobid", (json_int_t)7, "stepid",
                  (json_int_t)0, "hosts", "host", "n1", "share", .25, "iterations", (json_int_t)12,
                  "compute_s", 1.5, "wait_s", .5, "host", "n2", "share", .75, "iterations",
                  (json_int_t)36, "compute_s", 1.5, "wait_s", .5);

    for (size_t i = 0; i < sizeof(width) / sizeof(width[0]); i++) {
        char *text = NULL, *line;
        size_t n;
        FILE *f = open_memstream(&text, &n);

        lbd_job_print(f, step, width[i]);
        fclose(f);
        line = strstr(text, "\nHOST");
        ck_assert_ptr_nonnull(line);
        ck_assert_int_eq(strstr(line, "WAIT/s") != NULL, width[i] >= 76);
        for (char *rest = NULL, *l = strtok_r(line, "\n", &rest); l;
             l = strtok_r(NULL, "\n", &rest))
            ck_assert_int_le((int)strlen(l), width[i]);
        free(text);
    }
    json_decref(step);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("ctl");

    tcase_add_test(tc, a_picture_has_the_right_dots);
    tcase_add_test(tc, scales_are_round);
    tcase_add_test(tc, times_are_understood);
    tcase_add_test(tc, the_resolution_goes_with_the_width);
    tcase_add_test(tc, a_picture_fits_its_terminal);
    tcase_add_test(tc, rows_become_the_means_of_parts);
    tcase_add_test(tc, strange_answers_are_survived);
    tcase_add_test(tc, states_of_slurm_join_the_hosts);
    tcase_add_test(tc, options_belong_to_commands);
    tcase_add_test(tc, no_text_moves_the_cursor);
    tcase_add_test(tc, numbers_are_for_people);
    tcase_add_test(tc, status_ends_with_what_is_wrong);
    tcase_add_test(tc, a_job_fits_its_terminal);
    return suite_run("lbd/ctl", tc);
}
