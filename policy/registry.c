/* SPDX-License-Identifier: BSD-3-Clause */
/* Policies by name, and the parameters that a person may set. */
#include "policy/registry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policy/nearest.h"
#include "policy/value.h"

#define TRACE_MAX ((int64_t)sizeof(((struct lbp_params *)0)->trace) - 1)

static const struct lbp_policy_info policies[LBP_POLICIES] = {
    [LBP_AUTO] = {"auto", "shares by measured speed while much is left, pairwise moves at the end"},
    [LBP_SIEGELL] = {"siegell", "the system of 1997: shares by iterations a second, threshold 0.1"},
    [LBP_LIU] = {"liu", "the system of 2000: one move from the slowest rank when one is dry"},
    [LBP_STATIC] = {"static", "first shares by the speed of the hosts, no move afterwards"},
    [LBP_NONE] = {"none", "equal first shares, no move afterwards; measured all the same"},
};

enum key {
    KEY_PERIOD,
    KEY_THRESHOLD,
    KEY_FILTER,
    KEY_PROFIT,
    KEY_STAKE,
    KEY_STABLE,
    KEY_CHUNK,
    KEY_GRAIN,
    KEY_SYNC,
    KEY_REPORT,
    KEY_TRACE,
    KEY_HOSTS,
    KEYS
};

static const struct lbp_key_info keys[KEYS] = {
    [KEY_PERIOD] = {"period", "s", "time between balancing decisions",
                    "from the cost of talking and moving and the noise of the speeds",
                    LBP_NS_PER_S / 100, 3600 * LBP_NS_PER_S},
    [KEY_THRESHOLD] = {"threshold", "ratio", "least projected gain in time that moves work",
                       "0.1 (stepped loops: 0.04), falling while a smaller gain lasts", 0,
                       LBP_MICRO},
    /* filter: 1 would never believe a measurement */
    [KEY_FILTER] = {"filter", "ratio", "weight of history in a rank's speed",
                    "by direction and duration of the trend", 0, LBP_MICRO - 1},
    [KEY_PROFIT] = {"profit", "ratio",
                    "times its cost that a plan must bring; 0: the cost is not looked at",
                    "0.5; stepped loops: 1, more after plans that lost, at most 3.3", 0,
                    (LBP_PROFIT_MAX * LBP_MICRO)},
    [KEY_STAKE] = {"stake", "ratio",
                   "part of what moves would have won that they may lose; stepped loops",
                   "0.03; with 0 they may lose 0.4 % of the time, and what they have won", 0,
                   LBP_MICRO},
    [KEY_STABLE] = {"stable", "s", "time that the hosts' speeds are taken to stay as they are",
                    "from the hosts' load history, and the changes that the job sees",
                    LBP_NS_PER_S / 100, 86400 * LBP_NS_PER_S},
    [KEY_CHUNK] = {"chunk", "s", "time of one chunk handed to the program",
                   "1 ms, and a quarter of what remains at most", LBP_NS_PER_S / 100000,
                   60 * LBP_NS_PER_S},
    [KEY_GRAIN] = {"grain", "number", "iterations of a chunk; elements of a pipelined loop's block",
                   "chunks by time, blocks by what messages and computing cost", 1, LBP_GRAIN_MAX},
    [KEY_SYNC] = {"sync", "yes|no", "ranks wait for the answer to each report; for comparison",
                  "no, they go on, and the answer holds from when it comes", 0, 0},
    [KEY_REPORT] = {"report", "", "a summary of what was done and gained at the end, on stderr",
                    "no summary", 0, 0},
    [KEY_TRACE] = {"trace", "file", "write every decision to this file", "no file", 1, TRACE_MAX},
    [KEY_HOSTS] = {"hosts", "", "the best hosts by rank, among idle ones or those of the job",
                   "Slurm chooses the hosts", 0, 0},
};

const struct lbp_policy_info *lbp_policy_table(size_t *ret_n)
{
    *ret_n = LBP_POLICIES;
    return policies;
}

const struct lbp_key_info *lbp_key_table(size_t *ret_n)
{
    *ret_n = KEYS;
    return keys;
}

void lbp_params_init(struct lbp_params *p)
{
    memset(p, 0, sizeof(*p));
    p->policy = LBP_AUTO;
    p->period_ns = -1;
    p->threshold = -1;
    p->filter = -1;
    p->chunk_ns = -1;
    p->grain = -1;
    p->profit = -1;
    p->stake = -1;
    p->stable_ns = -1;
}

static int set_key(struct lbp_params *p, enum key key, struct lbp_piece value,
                   struct lbx_error *err)
{
    const char *name = keys[key].name;
    const int64_t min = keys[key].min, max = keys[key].max;

    switch (key) {
    case KEY_PERIOD:
        return lbp_value_duration(value, name, min, max, &p->period_ns, err);
    case KEY_THRESHOLD:
        return lbp_value_ratio(value, name, max, &p->threshold, err);
    case KEY_FILTER:
        return lbp_value_ratio(value, name, max, &p->filter, err);
    case KEY_PROFIT:
        return lbp_value_ratio(value, name, max, &p->profit, err);
    case KEY_STAKE:
        return lbp_value_ratio(value, name, max, &p->stake, err);
    case KEY_STABLE:
        return lbp_value_duration(value, name, min, max, &p->stable_ns, err);
    case KEY_GRAIN:
        return lbp_value_number(value, name, max, &p->grain, err);
    case KEY_CHUNK:
        return lbp_value_duration(value, name, min, max, &p->chunk_ns, err);
    case KEY_SYNC:
        return lbp_value_choice(value, name, &p->sync, err);
    case KEY_REPORT:
        p->report = true;
        return 0;
    case KEY_TRACE:
        return lbp_value_path(value, name, (size_t)max + 1, p->trace, err);
    case KEY_HOSTS:
        p->hosts = true;
        return 0;
    case KEYS:
        break;
    }
    return -EINVAL;
}

/* For nearest(): names are compared whole, so the piece gets its own NUL. */
static void ended(struct lbp_piece p, char text[LBP_NEAREST_MAX * 2])
{
    size_t n = p.n < LBP_NEAREST_MAX * 2 - 1 ? p.n : LBP_NEAREST_MAX * 2 - 1;

    memcpy(text, p.at, n);
    text[n] = '\0';
}

/* Whether the item is a key, with or without a value. */
static bool is_key(struct lbp_piece item)
{
    const char *equals = item.n ? memchr(item.at, '=', item.n) : NULL;

    if (equals)
        item.n = (size_t)(equals - item.at);
    for (size_t i = 0; i < KEYS; i++)
        if (lbp_piece_is(item, keys[i].name))
            return true;
    return false;
}

static int parse_policy(struct lbp_piece item, enum lbp_policy *ret_policy, struct lbx_error *err)
{
    const char *name[LBP_POLICIES];
    char text[LBP_NEAREST_MAX * 2];

    for (size_t i = 0; i < LBP_POLICIES; i++) {
        name[i] = policies[i].name;
        if (lbp_piece_is(item, name[i])) {
            *ret_policy = (enum lbp_policy)i;
            return 0;
        }
    }
    if (lbp_piece_is(item, "off") || lbp_piece_is(item, "help"))
        return lbx_error_set(err, -EINVAL,
                             "\"%s\" is no policy: it is for the option, and stands alone: --lb=%s",
                             lbp_piece_show(item).text, lbp_piece_show(item).text);
    ended(item, text);
    return lbx_error_set(err, -EINVAL, "unknown policy \"%s\": the nearest is \"%s\"",
                         lbp_piece_show(item).text, name[lbp_nearest(text, name, LBP_POLICIES)]);
}

/* Whether what is neither a policy nor a key was meant for a key: it has a value, or a key is nearer. */
static bool is_meant_as_key(struct lbp_piece item)
{
    int policy = LBP_NEAREST_MAX, key = LBP_NEAREST_MAX, distance;
    char text[LBP_NEAREST_MAX * 2];

    if (memchr(item.at, '=', item.n))
        return true;
    ended(item, text);
    for (size_t i = 0; i < LBP_POLICIES; i++) {
        distance = lbp_nearest_distance(text, policies[i].name);
        if (strncmp(policies[i].name, text, strlen(text)) == 0)
            distance = 0;
        policy = distance < policy ? distance : policy;
    }
    for (size_t i = 0; i < KEYS; i++) {
        distance = lbp_nearest_distance(text, keys[i].name);
        key = distance < key ? distance : key;
    }
    return key < policy && key <= 2;
}

static int parse_item(struct lbp_params *p, struct lbp_piece item, bool seen[KEYS],
                      struct lbx_error *err)
{
    const char *equals = item.n ? memchr(item.at, '=', item.n) : NULL;
    struct lbp_piece left = item, value = {NULL, 0};
    const char *name[KEYS];
    char text[LBP_NEAREST_MAX * 2];

    if (equals) {
        left.n = (size_t)(equals - item.at);
        value = (struct lbp_piece){equals + 1, item.n - left.n - 1};
    }
    if (left.n == 0)
        return lbx_error_set(err, -EINVAL,
                             "a key is missing beside a comma: write POLICY,key=value");
    for (size_t i = 0; i < KEYS; i++) {
        bool flag = keys[i].unit[0] == '\0';

        name[i] = keys[i].name;
        if (!lbp_piece_is(left, name[i]))
            continue;
        if (seen[i])
            return lbx_error_set(err, -EINVAL, "%s is given twice", name[i]);
        if (flag && equals)
            return lbx_error_set(err, -EINVAL, "%s takes no value: write it alone", name[i]);
        if (!flag && !equals)
            return lbx_error_set(err, -EINVAL, "%s needs a value (%s): write %s=...", name[i],
                                 keys[i].unit, name[i]);
        seen[i] = true;
        return set_key(p, (enum key)i, value, err);
    }
    for (size_t i = 0; i < LBP_POLICIES && !equals; i++)
        if (lbp_piece_is(left, policies[i].name))
            return lbx_error_set(err, -EINVAL,
                                 "unknown key \"%s\": a policy comes first, and alone",
                                 policies[i].name);
    ended(left, text);
    return lbx_error_set(err, -EINVAL, "unknown key \"%s\": the nearest is \"%s\"",
                         lbp_piece_show(left).text, name[lbp_nearest(text, name, KEYS)]);
}

int lbp_params_overlay(struct lbp_params *p, const char *text, struct lbx_error *err)
{
    struct lbp_piece item = {text, strcspn(text, ",")};
    struct lbp_params result = *p;
    bool seen[KEYS] = {false};
    int ret = 0;

    if (item.n > 0 && !is_key(item) && !is_meant_as_key(item)) {
        lbp_params_init(&result);
        ret = parse_policy(item, &result.policy, err);
    } else if (item.n > 0) {
        ret = parse_item(&result, item, seen, err);
    }
    while (ret == 0 && item.at[item.n] != '\0') {
        item.at += item.n + 1;
        item.n = strcspn(item.at, ",");
        ret = parse_item(&result, item, seen, err);
    }
    if (ret == 0)
        *p = result;
    return ret;
}

int lbp_params_parse(struct lbp_params *p, const char *text, struct lbx_error *err)
{
    struct lbp_params result;
    int ret;

    lbp_params_init(&result);
    ret = lbp_params_overlay(&result, text, err);
    if (ret == 0)
        *p = result;
    return ret;
}

/* Appends like snprintf at what was written so far. */
struct writer {
    char *text;
    size_t size;
    int n;
};

static void __attribute__((format(printf, 2, 3))) put(struct writer *w, const char *fmt, ...)
{
    size_t at = (size_t)w->n < w->size ? (size_t)w->n : w->size;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(w->size ? w->text + at : NULL, w->size - at, fmt, ap);
    va_end(ap);
    if (n > 0)
        w->n += n;
}

static void put_duration(struct writer *w, const char *name, int64_t ns)
{
    if (ns < 0)
        return;
    put(w, ",%s=%s", name, lbp_duration_show(ns).text);
}

static void put_ratio(struct writer *w, const char *name, double ratio)
{
    int64_t micro = (int64_t)(ratio * LBP_MICRO + 0.5);
    char digits[8];
    size_t n = 6;

    if (ratio < 0)
        return;
    snprintf(digits, sizeof(digits), "%06d", (int)(micro % LBP_MICRO));
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    put(w, ",%s=%" PRId64 ".%s", name, micro / LBP_MICRO, digits);
}

int lbp_params_print(const struct lbp_params *p, char *text, size_t size)
{
    struct writer w = {text, size, 0};

    put(&w, "%s", policies[p->policy].name);
    put_duration(&w, keys[KEY_PERIOD].name, p->period_ns);
    put_ratio(&w, keys[KEY_THRESHOLD].name, p->threshold);
    put_ratio(&w, keys[KEY_FILTER].name, p->filter);
    put_ratio(&w, keys[KEY_PROFIT].name, p->profit);
    put_ratio(&w, keys[KEY_STAKE].name, p->stake);
    put_duration(&w, keys[KEY_STABLE].name, p->stable_ns);
    put_duration(&w, keys[KEY_CHUNK].name, p->chunk_ns);
    if (p->grain > 0)
        put(&w, ",%s=%" PRId64, keys[KEY_GRAIN].name, p->grain);
    if (p->sync)
        put(&w, ",%s=yes", keys[KEY_SYNC].name);
    if (p->report)
        put(&w, ",%s", keys[KEY_REPORT].name);
    if (p->trace[0])
        put(&w, ",%s=%s", keys[KEY_TRACE].name, p->trace);
    if (p->hosts)
        put(&w, ",%s", keys[KEY_HOSTS].name);
    return w.n;
}

int lbp_key_range(const struct lbp_key_info *key, char *text, size_t size)
{
    struct writer w = {text, size, 0};

    put(&w, "%s", ""); /* where there is none */
    if (strcmp(key->unit, "s") == 0) {
        put(&w, "%s to %s", lbp_duration_show(key->min).text, lbp_duration_show(key->max).text);
    } else if (strcmp(key->unit, "ratio") == 0) {
        put(&w, "%g to %g", (double)key->min / LBP_MICRO, (double)key->max / LBP_MICRO);
    } else if (strcmp(key->unit, "number") == 0) {
        put(&w, "%" PRId64 " to %" PRId64, key->min, key->max);
    } else if (strcmp(key->unit, "file") == 0) {
        put(&w, "%" PRId64 " to %" PRId64 " bytes", key->min, key->max);
    }
    return w.n;
}
