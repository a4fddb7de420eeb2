/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decisions in words: what the balancer keeps of one (lbd/balancer/explain.h) and lbctl says of it (lbd/ctl/explain.h), for each
 * kind, reason and detail that there is.
 */
#include "lbd/ctl/explain.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>

#include "lbd/balancer/explain.h"
#include "lbd/balancer/trace.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

#define MS 1e6

/* What lbctl prints of these decisions of two ranks, on hosts n1 and n2.  Owned by the caller. */
static char *words(const struct lbp_decision *list, size_t n, int64_t left_out, uint32_t nranks)
{
    struct lbp_seen seen[20] = {{2000, 1800, .25}, {0, 0, .75}};
    struct lbp_decisions d = {.n = n, .left_out = left_out};
    json_t *decisions = json_array(), *answer;
    struct lbd_explain *e;
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    for (size_t i = 0; i < n; i++)
        d.list[i] = list[i];
    ck_assert_int_eq(lbd_explain_create(0, &e), 0);
    lbd_explain_add(e, "rows", &d, seen, nranks, NULL, 1500000000);
    for (uint64_t i = 0; i < n; i++)
        json_array_append_new(decisions, lbd_explain_json(e, i));
    answer = json_pack("{s:i, s:i, s:s, s:i, s:[s,s], s:b, s:[i], s:o}", "jobid", 7, "stepid", 0,
                       "policy", "auto", "ranks", nranks, "hosts", "n1", "n2", "final", 0, "steps",
                       0, "decisions", decisions);
    ck_assert_ptr_nonnull(answer);
    lbd_explain_print(f, answer);
    fclose(f);
    json_decref(answer);
    lbd_explain_destroy(e);
    return text;
}

#define PLAN(...)                                                                   \
    {                                                                               \
        .kind = LBP_DECIDED_PLAN, .from = UINT32_MAX, .to = UINT32_MAX, __VA_ARGS__ \
    }
#define STEPS(...)                                                                   \
    {                                                                                \
        .kind = LBP_DECIDED_STEPS, .from = UINT32_MAX, .to = UINT32_MAX, __VA_ARGS__ \
    }
#define PAIR(...)                                                 \
    {                                                             \
        .kind = LBP_DECIDED_PAIR, .from = 1, .to = 0, __VA_ARGS__ \
    }
#define GAIN .before_ns = 1000 * MS, .after_ns = 800 * MS, .gain_ratio = .2
#define COSTS .cost_ns = 30 * MS, .benefit_ns = 20 * MS

static const struct {
    struct lbp_decision d;
    const char *said;
} cases[] = {
    {PLAN(GAIN, .reason = LBP_REASON_PROPORTIONAL, .done = true, .moves = 2, .iterations = 90,
          .needed_ratio = .1, .cost_ns = 2 * MS, .benefit_ns = 200 * MS, .pass = 3,
          .period_ns = 100000000),
     "    1.500 s  rows, pass 3: moved 90 iterations in 2 transfers, shares by speed: the pass "
     "ends "
     "in 800 ms instead of 1 s, 20 % sooner, more than the 10 % asked for; the moves cost 2 ms and "
     "bring 200 ms; again in 100 ms."},
    {PLAN(GAIN, .reason = LBP_REASON_PROPORTIONAL),
     "pass 0: stayed: new shares would be worth it, but what could be given is handed out "
     "already."},
    {PLAN(.reason = LBP_REASON_BELOW_THRESHOLD, .before_ns = 1000 * MS, .after_ns = 1000 * MS),
     "stayed: there are no better shares than these."},
    {PLAN(GAIN, .reason = LBP_REASON_BELOW_THRESHOLD, .needed_ratio = .3, .threshold_ratio = .3,
          .noise_ratio = .05),
     "stayed: with new shares the pass would end in 800 ms instead of 1 s, 20 % sooner, less than "
     "the 30 % asked for (threshold 30 %, errors of the speeds 5 %)."},
    {PLAN(GAIN, .reason = LBP_REASON_FILTERED, .needed_ratio = .25, .noise_ratio = .25),
     "20 % sooner, but 25 % may be errors of the speeds."},
    {PLAN(GAIN, COSTS, .reason = LBP_REASON_UNPROFITABLE, .stable_ns = 4000 * MS),
     "20 % sooner, but the moves cost 30 ms and are expected to bring 20 ms while speeds stay for "
     "some 4 s."},
    {PLAN(GAIN, COSTS, .reason = LBP_REASON_UNSTABLE, .stable_ns = 4000 * MS),
     "20 % sooner, but the moves cost 30 ms and are expected to bring 20 ms: a speed has changed "
     "too "
     "lately."},
    {PLAN(.reason = LBP_REASON_PROPORTIONAL, .done = true, .moves = 1, .iterations = 5,
          .before_ns = INFINITY, .after_ns = 800 * MS, .gain_ratio = 1),
     "moved 5 iterations, shares by speed: the pass ends in 800 ms instead of never, more than"},
    {PAIR(.reason = LBP_REASON_DRY, .done = true, .moves = 1, .iterations = 1,
          .benefit_ns = 12 * MS),
     "pass 0: rank 0 (n1) runs dry: 1 iteration from rank 1 (n2), so that the later of both ends "
     "12 "
     "ms sooner."},
    {PAIR(.reason = LBP_REASON_DRY, .done = true, .moves = 1, .iterations = 2,
          .benefit_ns = 12 * MS),
     "runs dry: 2 iterations from rank 1"},
    {PAIR(.reason = LBP_REASON_UNPROFITABLE, .benefit_ns = 0.2 * MS, .cost_ns = 1.5 * MS),
     "stayed: rank 0 (n1) runs dry, but a move from rank 1 (n2) would gain 200 us, less than the "
     "1.5 "
     "ms that it has to."},
    {PAIR(.reason = LBP_REASON_DRY), "stayed: rank 0 (n1) runs dry, but a move from rank 1 (n2) "
                                     "came too late: what it has is handed "
                                     "out."},
    {{.kind = LBP_DECIDED_FINAL, .done = true},
     "pass 0: no move can help any more, the ranks were told."},
    {STEPS(GAIN, .reason = LBP_REASON_PROPORTIONAL, .done = true, .moves = 1, .iterations = 9,
           .pass = 41, .needed_ratio = .04, .cost_ns = 2 * MS, .benefit_ns = 200 * MS),
     "rows, step 41: moved 9 iterations, shares by speed: a step ends in 800 ms instead of 1 s, 20 "
     "% "
     "sooner, more than the 4 % asked for; the moves cost 2 ms and bring 200 ms."},
    {STEPS(GAIN, .reason = LBP_REASON_PROPORTIONAL, .detail = LBP_DETAIL_PART, .done = true,
           .moves = 1, .iterations = 9, .needed_ratio = .04, .cost_ns = 2 * MS,
           .benefit_ns = 200 * MS, .account_ns = 30 * MS),
     "moved 9 iterations, shares by speed, only a part of the way, as all of it may cost too much: "
     "a step ends in 800 ms instead of 1 s, 20 % sooner, more than the 4 % asked for; the moves "
     "cost 2 ms and bring 200 ms; plans so far have won about 30 ms."},
    {STEPS(GAIN, .reason = LBP_REASON_PROPORTIONAL, .detail = LBP_DETAIL_AMENDS, .done = true,
           .moves = 1, .iterations = 9),
     "moved 9 iterations, shares by speed, as speeds have changed since those were planned that "
     "have just come into force: a step ends in 800 ms instead of 1 s"},
    {STEPS(GAIN, .reason = LBP_REASON_PROPORTIONAL, .detail = LBP_DETAIL_BACK, .done = true,
           .moves = 1, .iterations = 9, .needed_ratio = .04, .cost_ns = 2 * MS,
           .benefit_ns = 200 * MS, .account_ns = -50 * MS),
     "moved 9 iterations, back to earlier shares, which were faster: a step ends in 800 ms instead "
     "of 1 s, 20 % sooner, more than the 4 % asked for; the moves cost 2 ms and bring 200 ms; "
     "plans so far have lost about 50 ms."},
    {STEPS(GAIN, .reason = LBP_REASON_BELOW_THRESHOLD, .detail = LBP_DETAIL_BACK,
           .needed_ratio = .3),
     "stayed: with earlier shares a step would end in 800 ms instead of 1 s, 20 % sooner, less "
     "than "
     "the 30 % asked for"},
    {STEPS(GAIN, COSTS, .reason = LBP_REASON_UNPROFITABLE, .detail = LBP_DETAIL_STAKE,
           .stable_ns = 4000 * MS),
     "stayed: with new shares a step would end in 800 ms instead of 1 s, 20 % sooner, but the way "
     "there and back may cost 60 ms, more than may be lost on it."},
    {STEPS(GAIN, COSTS, .reason = LBP_REASON_UNPROFITABLE, .unmeasured_ns = 20 * MS,
           .stable_ns = 4000 * MS),
     "but the moves, and what a rank may lose that nobody has measured, cost 30 ms and are "
     "expected to bring"},
    {STEPS(GAIN, COSTS, .reason = LBP_REASON_UNSTABLE, .detail = LBP_DETAIL_UNDONE),
     "20 % sooner, but the last plan was undone, and another one has to wait."},
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

START_TEST(test_words)
{
    char *got = words(&cases[_i].d, 1, 0, 2);

    ck_assert_msg(strstr(got, cases[_i].said) != NULL, "case %d: \"%s\" is not in\n%s", _i,
                  cases[_i].said, got);
    free(got);
}
END_TEST

/* No reason and no detail is left out above, and none is said in the words of another. */
START_TEST(test_all)
{
    int reasons[LBP_REASONS] = {0}, details[LBP_DETAILS] = {0};

    for (size_t i = 0; i < CASES; i++) {
        reasons[cases[i].d.reason]++;
        details[cases[i].d.detail]++;
        for (size_t k = 0; k < CASES; k++) {
            char *got = words(&cases[k].d, 1, 0, 2);

            ck_assert_msg((strstr(got, cases[i].said) != NULL) == (i == k),
                          "case %zu is said of %zu:\n%s", i, k, got);
            free(got);
        }
    }
    for (int i = 0; i < LBP_REASONS; i++)
        ck_assert_msg(reasons[i] > 0, "reason %d is said by nobody", i);
    for (int i = 0; i < LBP_DETAILS; i++)
        ck_assert_msg(details[i] > 0, "detail %d is said by nobody", i);
}
END_TEST

/* What was seen stands below a plan: of many ranks the slowest and the fastest; a pair has none, nor what found no room. */
START_TEST(test_seen)
{
    char *got = words(&cases[0].d, 1, 0, 2);
    struct lbp_decision two[] = {cases[8].d, cases[10].d};

    ck_assert_ptr_nonnull(
        strstr(got, "\n             rank 0 (n1): 1800 iterations/s (2000/s in its last "
                    "report), share 25.0 %\n             rank 1 (n2): speed not known yet, share "
                    "75.0 %\n"));
    ck_assert_ptr_nonnull(strstr(got, "Job 7, step 0: policy auto, 2 ranks, running.\n"));
    free(got);
    got = words(&cases[0].d, 1, 0, 20);
    ck_assert_ptr_nonnull(strstr(got, "share 0.0 %\n             and others\n"));
    free(got);
    got = words(two, 2, 3, 2);
    ck_assert_ptr_null(strstr(got, "share"));
    ck_assert_ptr_nonnull(
        strstr(got, "that it has to.\n             and 3 more pairs at the same time\n"));
    free(got);
}
END_TEST

/* Nothing yet; and a ring that has lost its first ones. */
START_TEST(test_few_and_many)
{
    struct lbp_decisions d = {.n = 1, .list = {cases[12].d}};
    char *got = words(NULL, 0, 0, 2), *text;
    struct lbd_explain *e;
    uint64_t first, next;
    json_t *answer;
    size_t size;
    FILE *f;

    ck_assert_ptr_nonnull(strstr(got, "Nothing was decided yet.\n"));
    free(got);
    ck_assert_int_eq(lbd_explain_create(0, &e), 0);
    for (int i = 0; i < LBD_EXPLAIN_RING + 5; i++)
        lbd_explain_add(e, "rows", &d, NULL, 2, NULL, i);
    lbd_explain_range(e, &first, &next);
    ck_assert_uint_eq(first, 5);
    ck_assert_ptr_null(lbd_explain_json(e, first - 1));
    ck_assert_ptr_null(lbd_explain_json(e, next));
    answer = json_pack("{s:i, s:i, s:s, s:i, s:b, s:[i,i], s:[o]}", "jobid", 7, "stepid", 1,
                       "policy", "auto", "ranks", 2, "final", 1, "steps", 0, 1, "decisions",
                       lbd_explain_json(e, first));
    f = open_memstream(&text, &size);
    lbd_explain_print(f, answer);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, "step 1: policy auto, 2 ranks, ended.\n"));
    ck_assert_ptr_nonnull(strstr(text, "Steps of this job that are kept: 7.0 7.1.\n"));
    ck_assert_ptr_nonnull(strstr(text, "The first 5 decisions are not kept any more.\n"));
    free(text);
    json_decref(answer);
    lbd_explain_destroy(e);
}
END_TEST

/* What a trace has in it: an object a line. */
static int lines(const char *path)
{
    char text[4096];
    FILE *f = fopen(path, "r");
    int n = 0;

    ck_assert_ptr_nonnull(f);
    for (; fgets(text, sizeof(text), f); n++) {
        json_t *o = json_loads(text, 0, NULL);

        ck_assert_msg(json_is_object(o), "%s", text);
        json_decref(o);
    }
    fclose(f);
    return n;
}

/* A program names its loops, and a user his files, as they like: Latin-1, or UTF-8 that was cut within a character. */
START_TEST(test_odd_names)
{
    static const char *const name[] = {"W\xe4rme", "\xc3\xa4\xc3", "a\"\\\n\x01", ""};
    struct lbp_decisions d = {.n = 1, .list = {cases[0].d}};
    static struct lbw_rank_msg msg = {.type = LBW_OPEN};
    struct lbd_explain *e;
    struct lbd_trace *t;
    struct lbx_error err;
    char dir[64], path[128], policy[64];
    json_t *o;

    make_folder(dir);
    snprintf(path, sizeof(path), "%s/trace", dir);
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
        ck_assert_int_eq(lbd_explain_create(0, &e), 0);
        ck_assert_int_eq(lbd_trace_open(path, 0, &t, &err), 0);
        snprintf(policy, sizeof(policy), "auto,trace=/tmp/%s", name[i]);
        strcpy(msg.u.open.name, name[i]);
        lbd_trace_start(t, 0, 2, policy, NULL);
        lbd_trace_message(t, 0, 0, &msg);
        lbd_explain_add(e, name[i], &d, NULL, 2, t, 0);
        o = lbd_explain_json(e, 0);
        ck_assert_ptr_nonnull(o);
        json_decref(o);
        lbd_trace_close(t);
        lbd_explain_destroy(e);
        ck_assert_int_eq(lines(path), 3);
    }
    remove_folder(dir);
}
END_TEST

/* Nobody reads it: that is told, and not waited for. */
START_TEST(test_pipe)
{
    struct lbd_trace *t;
    struct lbx_error err;
    char dir[64], path[128];

    make_folder(dir);
    snprintf(path, sizeof(path), "%s/trace", dir);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(lbd_trace_open(path, 0, &t, &err), -ENXIO);
    remove_folder(dir);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("explain");

    tcase_add_loop_test(t, test_words, 0, CASES);
    tcase_add_test(t, test_all);
    tcase_add_test(t, test_seen);
    tcase_add_test(t, test_few_and_many);
    tcase_add_test(t, test_odd_names);
    tcase_add_test(t, test_pipe);
    return suite_run("explain", t);
}
