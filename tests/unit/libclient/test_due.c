/* SPDX-License-Identifier: BSD-3-Clause */
/* When a rank that has work looks for rows of others: as seldom as can be, as asking MPI is dear. */
#include "libclient/exchange.h"

#include "common/clock.h"
#include "libclient/ctx.h"
#include "tests/unit/suite.h"

#define MS LBX_NS_PER_MS
#define LOOKED_NS (100 * LBX_NS_PER_S)

/* Nothing is on its way, and the balancer is there. */
static struct lb_ctx quiet(void)
{
    return (struct lb_ctx){.size = 2, .link.fd = 0, .looked_ns = LOOKED_NS};
}

static bool is_due(const struct lb_ctx *ctx, int64_t later_ns)
{
    return lbc_exchange_due(ctx, LOOKED_NS + later_ns);
}

START_TEST(unannounced)
{
    struct lb_ctx ctx = quiet();

    ck_assert(!is_due(&ctx, 0));
    ck_assert(!is_due(&ctx, 1999 * MS));
    ck_assert(is_due(&ctx, 2000 * MS));
}
END_TEST

/* At each hook for a while; then it may have been refused at its source, or be held up there by a long iteration. */
START_TEST(announced)
{
    struct lb_ctx ctx = quiet();

    ctx.expected = 1;
    ctx.expect_until_ns = LOOKED_NS + 200 * MS;
    ck_assert(is_due(&ctx, 0));
    ck_assert(is_due(&ctx, 199 * MS));
    ck_assert(!is_due(&ctx, 200 * MS));
    ck_assert(!is_due(&ctx, 499 * MS));
    ck_assert(is_due(&ctx, 500 * MS));
    ctx.expected = 0; /* it came */
    ck_assert(!is_due(&ctx, 0));
    ck_assert(!is_due(&ctx, 500 * MS));
}
END_TEST

START_TEST(under_way)
{
    struct lb_ctx ctx = quiet();
    int transfer;

    ctx.in = (struct lbc_in *)&transfer; /* that there is one is all that is asked */
    ck_assert(is_due(&ctx, 0));
    ctx = quiet();
    ctx.give = (struct lbc_give *)&transfer;
    ck_assert(is_due(&ctx, 0));
    ctx = quiet();
    ctx.apart = true;
    ck_assert(is_due(&ctx, 0));
    ctx = quiet();
    ctx.failed = true;
    ck_assert(is_due(&ctx, 0));
}
END_TEST

/* Without a balancer nobody announces anything. */
START_TEST(alone)
{
    struct lb_ctx ctx = quiet();

    ctx.link.fd = -1;
    ck_assert(is_due(&ctx, 0));
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("due");

    tcase_add_test(tc, unannounced);
    tcase_add_test(tc, announced);
    tcase_add_test(tc, under_way);
    tcase_add_test(tc, alone);
    return suite_run("libclient/due", tc);
}
