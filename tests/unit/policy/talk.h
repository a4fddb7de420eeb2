/* SPDX-License-Identifier: BSD-3-Clause */
/* A balance, what it has said, and ranks that report to it. */
#ifndef TESTS_UNIT_POLICY_TALK_H
#define TESTS_UNIT_POLICY_TALK_H

#include <check.h>

#include "policy/balance.h"

#define MS INT64_C(1000000)

static struct lbp_balance *b;
static struct lbp_actions out;

static inline void make(const char *policy, uint32_t nranks, int64_t n)
{
    struct lbp_balance_config c = {.nranks = nranks, .n = n, .row_bytes = 8, .first_epoch = 100};

    ck_assert_int_eq(lbp_params_parse(&c.params, policy, NULL), 0);
    ck_assert_int_eq(lbp_balance_create(&c, 0, &b, NULL), 0);
}

static inline void done(void)
{
    lbp_balance_destroy(b);
    lbp_actions_fini(&out);
    b = NULL;
}

static inline void join_even(uint32_t nranks, int64_t n)
{
    for (uint32_t i = 0; i < nranks; i++)
        ck_assert_int_eq(lbp_balance_join(b, i, n * i / nranks, n * (i + 1) / nranks, 0, &out), 0);
}

static inline int count(enum lbp_action_type type)
{
    int k = 0;

    for (size_t i = 0; i < out.n; i++)
        k += out.action[i].type == type;
    return k;
}

static inline const struct lbp_action *find(enum lbp_action_type type)
{
    for (size_t i = 0; i < out.n; i++)
        if (out.action[i].type == type)
            return &out.action[i];
    ck_abort_msg("no such action");
    return NULL;
}

/* Rank has executed [first, at) of [first, last) at `cores` of a core, 1 ms each. */
static inline struct lbp_report working(uint32_t rank, int64_t first, int64_t at, int64_t last,
                                        double cores)
{
    static struct lbp_sample s[8];
    static struct lbx_span span[8];
    struct lbp_report r = {.rank = rank, .executed = at - first, .remaining = last - at};

    s[rank % 8] = (struct lbp_sample){first, at, (int64_t)((double)((at - first) * MS) / cores),
                                      (at - first) * MS};
    span[rank % 8] = (struct lbx_span){at, last};
    r.sample = &s[rank % 8];
    r.nsamples = at > first;
    r.span = &span[rank % 8];
    r.nspans = last > at;
    r.dry = last == at;
    return r;
}

static inline int tell(struct lbp_report r, int64_t now_ns)
{
    return lbp_balance_report(b, &r, now_ns, &out);
}

/* Rank 1 is at a tenth of rank 0's speed: it gives, once, from the end, and the iterations are not planned again. */
static inline const struct lbp_action *first_move(void)
{
    make("auto", 2, 2000);
    join_even(2, 2000);
    out.n = 0;
    ck_assert_int_eq(tell(working(0, 0, 50, 1000, 1), 50 * MS), 0);
    ck_assert_int_eq(tell(working(1, 1000, 1005, 2000, 0.1), 50 * MS), 0);
    ck_assert_int_eq(count(LBP_MOVE), 1);
    return find(LBP_MOVE);
}

#endif
