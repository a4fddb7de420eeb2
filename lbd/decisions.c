/* SPDX-License-Identifier: BSD-3-Clause */
/* What balancers decided and why: their messages taken, questions answered. */
#include "lbd/decisions.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lbd/guard.h"
#include "lbd/stepfiles.h"
#include "wire/local.h"

#define HOSTS_MAX 64
#define ANSWER_BYTES (LBW_LOCAL_TEXT_MAX - LBD_STEPFILES_HEAD_BYTES - 4096)
#define MESSAGE_RATE_HZ 5.0 /* of one user; a balancer speaks less than once a second */
#define MESSAGE_BURST 100.0
#define ASK_RATE_HZ 20.0
#define ASK_BURST 100.0

struct lbd_decisions {
    struct lbd_stepfiles files;
    struct lbd_guard senders, askers;
};

int lbd_decisions_create(const char *state, struct lbd_decisions **ret)
{
    struct lbd_decisions *d = calloc(1, sizeof(*d));
    int rc = d ? lbd_stepfiles_init(&d->files, state) : -ENOMEM;

    if (rc < 0) {
        free(d);
        return rc;
    }
    lbd_guard_init(&d->senders, LBD_GUARD_PEERS, 1, MESSAGE_RATE_HZ, MESSAGE_BURST);
    lbd_guard_init(&d->askers, LBD_GUARD_PEERS, 1, ASK_RATE_HZ, ASK_BURST);
    *ret = d;
    return 0;
}

void lbd_decisions_destroy(struct lbd_decisions *d)
{
    free(d);
}

/* Whether uid keeps to the rate. */
static bool is_within_rate(struct lbd_guard *g, uid_t uid, int64_t now_ns)
{
    bool ret;

    if (!lbd_guard_enter(g, uid, now_ns))
        return false;
    ret = lbd_guard_message(g, uid, now_ns);
    lbd_guard_leave(g, uid);
    return ret;
}

/* Whole seconds of the epoch: as a fraction it would be written with fewer digits than it has. */
static json_int_t begun_of(const json_t *o)
{
    double s = json_number_value(json_object_get(o, "begun_s"));

    return s >= 0 && s < 1e15 ? (json_int_t)s : 0;
}

/* What is kept of a step besides its decisions; a new object. */
static json_t *make_head(uid_t uid, struct lbd_stepfile s, const json_t *o)
{
    const json_t *hosts = json_object_get(o, "hosts"), *h;
    json_t *names = json_array();
    size_t i;

    json_array_foreach(hosts, i, h)
    {
        if (i < HOSTS_MAX && json_string_length(h) < LBW_LOCAL_HOST_MAX)
            json_array_append_new(names, json_string(json_string_value(h)));
    }
    return json_pack("{s:I, s:I, s:I, s:I, s:s%, s:I, s:b, s:o}", "uid", (json_int_t)uid, "jobid",
                     (json_int_t)s.jobid, "stepid", (json_int_t)s.stepid, "begun_s", begun_of(o),
                     "policy", json_string_value(json_object_get(o, "policy")),
                     strnlen(json_string_value(json_object_get(o, "policy")), 64), "ranks",
                     json_integer_value(json_object_get(o, "ranks")), "final",
                     json_is_true(json_object_get(o, "final")), "hosts", names);
}

int lbd_decisions_take(struct lbd_decisions *d, uid_t uid, uint32_t jobid, uint32_t stepid,
                       const char *json, int64_t now_ns, struct lbx_error *err)
{
    struct lbd_stepfile s = {jobid, stepid};
    json_error_t why;
    json_t *o, *head;
    int rc;

    if (!is_within_rate(&d->senders, uid, now_ns))
        return lbx_error_set(err, -EBUSY, "decisions: too many messages of uid %u", (unsigned)uid);
    o = json_loads(json, JSON_REJECT_DUPLICATES, &why);
    if (!o)
        return lbx_error_set(err, -EINVAL, "decisions: %s at byte %d", why.text, why.position);
    if (!json_is_string(json_object_get(o, "policy")) ||
        !json_is_number(json_object_get(o, "begun_s")) ||
        !json_is_array(json_object_get(o, "decisions"))) {
        json_decref(o);
        return lbx_error_set(err, -EINVAL,
                             "decisions: an object with policy, begun_s and decisions is needed");
    }
    head = make_head(uid, s, o);
    rc = head ? lbd_stepfiles_prepare(&d->files, s, head) : -ENOMEM;
    if (rc == 0)
        rc = lbd_stepfiles_append(&d->files, s, json_object_get(o, "decisions"));
    json_decref(head);
    json_decref(o);
    return rc < 0 ? lbx_error_set(err, rc, "decisions: not kept: %s", strerror(-rc)) : 0;
}

char *lbd_decisions_end(struct lbd_decisions *d, uid_t uid, uint32_t jobid, uint32_t stepid)
{
    struct lbd_stepfile s = {jobid, stepid};
    json_t *head = lbd_stepfiles_head(&d->files, s);
    char *ret = NULL;

    if (head && !json_is_true(json_object_get(head, "final")) &&
        json_integer_value(json_object_get(head, "uid")) == (json_int_t)uid) {
        json_object_set_new(head, "final", json_true());
        (void)!lbd_stepfiles_prepare(&d->files, s, head); /* else it is left as one that runs */
        json_object_set_new(head, "decisions", json_array());
        ret = json_dumps(head, JSON_COMPACT);
    }
    json_decref(head);
    return ret;
}

static char *make_answer(const struct lbd_decisions *d, struct lbd_stepfile s, json_t *head,
                         uint64_t from)
{
    struct lbd_stepfiles_page p = {
        .text = malloc(ANSWER_BYTES), .size = ANSWER_BYTES, .from = from};
    char *start = NULL, *ret = NULL;
    size_t size;

    if (p.text) {
        lbd_stepfiles_read(&d->files, s, &p);
        json_object_set_new(head, "next", p.next ? json_integer((json_int_t)p.next) : json_null());
        start = json_dumps(head, JSON_COMPACT);
    }
    if (start) {
        size = strlen(start) + p.used + 32;
        ret = malloc(size);
        start[strlen(start) - 1] = '\0'; /* its closing brace */
        if (ret)
            snprintf(ret, size, "%s,\"decisions\":[%.*s]}", start, (int)p.used, p.text);
    }
    free(start);
    free(p.text);
    return ret;
}

/* Digits alone, no sign and no blank before them; *text is behind them. */
static bool parse_number(const char **text, uint64_t most, uint64_t *ret)
{
    const char *at = *text;
    uint64_t n = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        if (n > most / 10 || n * 10 > most - (uint64_t)(*at - '0'))
            return false;
        n = n * 10 + (uint64_t)(*at - '0');
    }
    if (at == *text)
        return false;
    *text = at;
    *ret = n;
    return true;
}

/* "JOBID[.STEP] [FROM]" */
static bool parse_ask(const char *ask, struct lbd_stepfile *ret, bool *ret_has_step,
                      uint64_t *ret_from)
{
    uint64_t job, step = 0, from = 0;

    *ret = (struct lbd_stepfile){0};
    if (!parse_number(&ask, UINT32_MAX, &job))
        return false;
    *ret_has_step = *ask == '.';
    if (*ask == '.') {
        ask++;
        if (!parse_number(&ask, UINT32_MAX, &step))
            return false;
    }
    if (*ask == ' ') {
        ask++;
        if (!parse_number(&ask, INT64_MAX, &from))
            return false;
    }
    ret->jobid = (uint32_t)job;
    ret->stepid = (uint32_t)step;
    *ret_from = from;
    return *ask == '\0';
}

char *lbd_decisions_answer(struct lbd_decisions *d, uid_t uid, bool all, const char *ask,
                           int64_t now_ns, struct lbx_error *err)
{
    struct lbd_stepfile s, last = {0};
    json_t *steps, *head;
    bool has_step;
    uint64_t from;
    char *ret;

    if (!is_within_rate(&d->askers, uid, now_ns)) {
        lbx_error_set(err, -EBUSY, "too many questions at a time");
        return NULL;
    }
    if (!parse_ask(ask, &s, &has_step, &from)) {
        lbx_error_set(err, -EINVAL, "'%.*s' is no step: write JOBID or JOBID.STEP",
                      (int)strcspn(ask, " ") < 40 ? (int)strcspn(ask, " ") : 40, ask);
        return NULL;
    }
    steps = lbd_stepfiles_list(&d->files, s.jobid, uid, all, &last);
    if (!has_step && json_array_size(steps) > 0)
        s = last;
    head = json_array_size(steps) > 0 ? lbd_stepfiles_head(&d->files, s) : NULL;
    if (!head || (!all && json_integer_value(json_object_get(head, "uid")) != (json_int_t)uid)) {
        lbx_error_set(err, -ENOENT,
                      "no decisions of %.*s are kept here, or it is another user's job",
                      (int)strcspn(ask, " "), ask);
        json_decref(head);
        json_decref(steps);
        return NULL;
    }
    json_object_set_new(head, "steps", steps);
    ret = make_answer(d, s, head, from);
    json_decref(head);
    if (!ret)
        lbx_error_set(err, -ENOMEM, "out of memory");
    return ret;
}
