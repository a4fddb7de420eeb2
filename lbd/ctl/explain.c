/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl explain. */
#include "lbd/ctl/explain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "lbd/ctl/print.h"
#include "wire/local.h"

#define WAIT_NS (5 * LBX_NS_PER_S)
#define PAGES_MAX 64 /* more than lbd keeps of a step */
#define SEEN_MAX 8   /* ranks of one decision */

static double number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key)
{
    const char *t = json_string_value(json_object_get(o, key));

    return t ? t : "";
}

static long long whole(const json_t *o, const char *key)
{
    return (long long)json_integer_value(json_object_get(o, key));
}

/* A duration as people say it. */
static const char *duration(double s, char buf[32])
{
    double a = fabs(s);

    if (a >= 0.9995)
        snprintf(buf, 32, "%.3g s", s);
    else if (a >= 0.9995e-3)
        snprintf(buf, 32, "%.3g ms", s * 1e3);
    else
        snprintf(buf, 32, "%.0f us", s * 1e6);
    return buf;
}

static void print_rank(FILE *out, const json_t *answer, long long rank)
{
    const json_t *host = json_array_get(json_object_get(answer, "hosts"), (size_t)rank);

    fprintf(out, "rank %lld", rank);
    if (json_is_string(host)) {
        fputs(" (", out);
        lbd_print_text(out, json_string_value(host), 0);
        fputc(')', out);
    }
}

/* "in 1.2 s instead of 1.5 s, 20 % sooner"; steps: "a step takes ..." */
static void print_gain(FILE *out, const json_t *d)
{
    char before[32], after[32];

    if (!json_object_get(d, "before_s")) { /* never, as it was: a rank without speed held work */
        fprintf(out, "in %s instead of never", duration(number(d, "after_s"), after));
        return;
    }
    fprintf(out, "in %s instead of %s, %.3g %% sooner", duration(number(d, "after_s"), after),
            duration(number(d, "before_s"), before), 100 * number(d, "gain"));
}

static bool detail_is(const json_t *d, const char *detail)
{
    return strcmp(text(d, "detail"), detail) == 0;
}

/* What its cost is of. */
static const char *cost_of(const json_t *d)
{
    return number(d, "unmeasured_s") > 0
               ? "the moves, and what a rank may lose that nobody has measured,"
               : "the moves";
}

static void print_refused_plan(FILE *out, const json_t *d, const char *what)
{
    const char *reason = text(d, "reason");
    char cost[32], benefit[32], stable[32];
    bool plain = !detail_is(d, "stake");

    if (!(number(d, "gain") > 0)) {
        fprintf(out, "stayed: there are no better shares than these");
        return;
    }
    fprintf(out, "stayed: with %s shares %s would end ", detail_is(d, "back") ? "earlier" : "new",
            what);
    print_gain(out, d);
    if (strcmp(reason, "below_threshold") == 0)
        fprintf(out,
                ", less than the %.3g %% asked for (threshold %.3g %%, errors of the speeds "
                "%.3g %%)",
                100 * number(d, "needed"), 100 * number(d, "threshold"), 100 * number(d, "noise"));
    else if (strcmp(reason, "filtered") == 0)
        fprintf(out, ", but %.3g %% may be errors of the speeds", 100 * number(d, "noise"));
    else if (detail_is(d, "undone"))
        fputs(", but the last plan was undone, and another one has to wait", out);
    else if (!plain)
        fprintf(out, ", but the way there and back may cost %s, more than may be lost on it",
                duration(2 * number(d, "cost_s"), cost));
    else
        fprintf(out, ", but %s cost %s and are expected to bring %s%s", cost_of(d),
                duration(number(d, "cost_s"), cost), duration(number(d, "benefit_s"), benefit),
                strcmp(reason, "unstable") == 0 ? ": a speed has changed too lately" : "");
    if (plain && number(d, "stable_s") > 0 && strcmp(reason, "unprofitable") == 0)
        fprintf(out, " while speeds stay for some %s", duration(number(d, "stable_s"), stable));
}

static void print_plan(FILE *out, const json_t *d, const char *what)
{
    char cost[32], benefit[32];
    long long moves = whole(d, "moves");

    if (strcmp(text(d, "reason"), "proportional") != 0) {
        print_refused_plan(out, d, what);
        return;
    }
    if (!json_is_true(json_object_get(d, "done"))) {
        fprintf(out, "stayed: new shares would be worth it, but what could be given is handed out "
                     "already");
        return;
    }
    fprintf(out, "moved %lld iterations", whole(d, "iterations"));
    if (moves > 1)
        fprintf(out, " in %lld transfers", moves);
    if (detail_is(d, "back"))
        fprintf(out, ", back to earlier shares, which were faster: %s ends ", what);
    else
        fprintf(
            out, ", shares by speed%s: %s ends ",
            detail_is(d, "part") ? ", only a part of the way, as all of it may cost too much"
            : detail_is(d, "amends")
                ? ", as speeds have changed since those were planned that have just come into force"
                : "",
            what);
    print_gain(out, d);
    fprintf(out, ", more than the %.3g %% asked for; %s cost %s and bring %s",
            100 * number(d, "needed"), cost_of(d), duration(number(d, "cost_s"), cost),
            duration(number(d, "benefit_s"), benefit));
    if (number(d, "account_s") != 0)
        fprintf(out, "; plans so far have %s about %s", number(d, "account_s") > 0 ? "won" : "lost",
                duration(fabs(number(d, "account_s")), benefit));
}

static void print_pair(FILE *out, const json_t *answer, const json_t *d)
{
    bool done = json_is_true(json_object_get(d, "done"));
    char gain[32], least[32];

    fputs(done ? "" : "stayed: ", out);
    print_rank(out, answer, whole(d, "to"));
    fputs(" runs dry", out);
    if (done) {
        fprintf(out, ": %lld iteration%s from ", whole(d, "iterations"),
                whole(d, "iterations") == 1 ? "" : "s");
        print_rank(out, answer, whole(d, "from"));
        fprintf(out, ", so that the later of both ends %s sooner",
                duration(number(d, "benefit_s"), gain));
        return;
    }
    fputs(", but a move from ", out);
    print_rank(out, answer, whole(d, "from"));
    if (strcmp(text(d, "reason"), "unprofitable") == 0)
        fprintf(out, " would gain %s, less than the %s that it has to",
                duration(number(d, "benefit_s"), gain), duration(number(d, "cost_s"), least));
    else
        fputs(" came too late: what it has is handed out", out);
}

/* What was seen: "rank 0 (n1) 120/s, in its last report 118/s, 30 % of the iterations". */
static void print_seen(FILE *out, const json_t *answer, const json_t *d)
{
    const json_t *ranks = json_object_get(d, "ranks"), *r;
    size_t i;

    json_array_foreach(ranks, i, r)
    {
        if (i == SEEN_MAX) {
            fprintf(out, "\n             and others");
            break;
        }
        fputs("\n             ", out);
        print_rank(out, answer, (long long)json_integer_value(json_array_get(r, 0)));
        if (json_number_value(json_array_get(r, 2)) > 0)
            fprintf(out, ": %.4g iterations/s", json_number_value(json_array_get(r, 2)));
        else
            fputs(": speed not known yet", out);
        if (json_number_value(json_array_get(r, 1)) > 0)
            fprintf(out, " (%.4g/s in its last report)", json_number_value(json_array_get(r, 1)));
        fprintf(out, ", share %.1f %%", 100 * json_number_value(json_array_get(r, 3)));
    }
}

static void print_decision(FILE *out, const json_t *answer, const json_t *d)
{
    const char *kind = text(d, "kind");
    char period[32];

    fprintf(out, "%9.3f s  ", number(d, "t_s"));
    lbd_print_text(out, text(d, "loop"), 0);
    fprintf(out, ", %s %lld: ", strcmp(kind, "steps") == 0 ? "step" : "pass", whole(d, "pass"));
    if (strcmp(kind, "plan") == 0)
        print_plan(out, d, "the pass");
    else if (strcmp(kind, "steps") == 0)
        print_plan(out, d, "a step");
    else if (strcmp(kind, "pair") == 0)
        print_pair(out, answer, d);
    else
        fputs("no move can help any more, the ranks were told", out);
    if (number(d, "period_s") > 0 && (strcmp(kind, "plan") == 0 || strcmp(kind, "steps") == 0))
        fprintf(out, "; again in %s", duration(number(d, "period_s"), period));
    fputc('.', out);
    if (strcmp(kind, "plan") == 0 || strcmp(kind, "steps") == 0)
        print_seen(out, answer, d);
    if (whole(d, "left_out") > 0)
        fprintf(out, "\n             and %lld more pairs at the same time", whole(d, "left_out"));
    fputc('\n', out);
}

void lbd_explain_print(FILE *out, const json_t *answer)
{
    const json_t *list = json_object_get(answer, "decisions"), *d;
    const json_t *steps = json_object_get(answer, "steps");
    long long first = 0;
    size_t i;

    fprintf(out, "Job %lld, step %lld: policy ", whole(answer, "jobid"), whole(answer, "stepid"));
    lbd_print_text(out, text(answer, "policy"), 0);
    fprintf(out, ", %lld ranks, %s.\n", whole(answer, "ranks"),
            json_is_true(json_object_get(answer, "final")) ? "ended" : "running");
    if (json_array_size(steps) > 1) {
        fputs("Steps of this job that are kept:", out);
        json_array_foreach(steps, i, d)
            fprintf(out, " %lld.%lld", whole(answer, "jobid"), (long long)json_integer_value(d));
        fputs(".\n", out);
    }
    if (json_array_size(list) == 0) {
        fputs("Nothing was decided yet.\n", out);
        return;
    }
    first = whole(json_array_get(list, 0), "seq");
    if (first > 0)
        fprintf(out, "The first %lld decisions are not kept any more.\n", first);
    json_array_foreach(list, i, d) print_decision(out, answer, d);
}

/* One page; NULL with *ret_rc: 1 when lbd refused, else a negative errno. */
static json_t *ask_page(const char *path, const char *step, long long from,
                        struct lbw_local_msg msg[2], int *ret_rc)
{
    json_t *o;

    msg[0].type = LBW_L_EXPLAIN;
    snprintf(msg[0].u.text.text, sizeof(msg[0].u.text.text), "%s %lld", step, from);
    *ret_rc = lbw_local_ask(path, &msg[0], lbx_clock_mono_ns() + WAIT_NS, &msg[1]);
    if (*ret_rc < 0)
        return NULL;
    *ret_rc = 1;
    o = msg[1].type == LBW_L_TEXT ? json_loads(msg[1].u.text.text, 0, NULL) : NULL;
    if (!json_is_object(o)) {
        fprintf(stderr, "lbctl: %s\n",
                msg[1].type == LBW_L_ERROR ? msg[1].u.text.text : "lbd's answer is not understood");
        json_decref(o);
        return NULL;
    }
    return o;
}

int lbd_explain_ask(const char *path, const char *step, bool json, FILE *out)
{
    struct lbw_local_msg *msg = calloc(2, sizeof(*msg));
    json_t *all = NULL, *page;
    long long from = 0;
    int rc = -ENOMEM;

    for (int i = 0; msg && i < PAGES_MAX; i++) {
        page = ask_page(path, step, from, msg, &rc);
        if (!page)
            break;
        rc = 0;
        from = whole(page, "next");
        if (!all) {
            all = json_incref(page);
        } else {
            json_array_extend(json_object_get(all, "decisions"),
                              json_object_get(page, "decisions"));
            json_object_set(all, "final", json_object_get(page, "final"));
        }
        json_decref(page);
        if (from <= 0)
            break;
    }
    free(msg);
    if (rc == 0 && json) {
        json_object_del(all, "next");
        json_dumpf(all, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
        fputc('\n', out);
    } else if (rc == 0) {
        lbd_explain_print(out, all);
    }
    json_decref(all);
    return rc;
}
