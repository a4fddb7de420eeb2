/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks without MPI, one of which dies or goes: whoever waits for it, or for one that waits for it, hears of it. */
#include <check.h>
#include <stdlib.h>

#include "libclient/tcp/tcp.h"
#include "tests/unit/brief.h"
#include "tests/unit/libclient/wired.h"
#include "tests/unit/suite.h"

#define RANKS_MAX 9

struct ranks {
    int size;
    struct lbc_transport *t[RANKS_MAX]; /* NULL: it is no more */
    int64_t value[RANKS_MAX];
};

static struct ranks *create(int size)
{
    struct ranks *s = calloc(1, sizeof(*s));

    s->size = size;
    wired_create(size, s->t);
    return s;
}

static void destroy(struct ranks *s)
{
    for (int r = 0; r < s->size; r++)
        if (s->t[r]) {
            lbc_mesh_fail(tcp_of(s->t[r])->mesh); /* nobody is there to hear a farewell */
            s->t[r]->ops->destroy(s->t[r]);
        }
    free(s);
}

/* Without a word, as when its process is killed. */
static void die(struct ranks *s, int rank)
{
    lbc_mesh_fail(tcp_of(s->t[rank])->mesh);
    s->t[rank]->ops->destroy(s->t[rank]);
    s->t[rank] = NULL;
}

/* All that are there take the least together.  Returns how many got an error; each gets that or the end, or the test hangs. */
static int reduce(struct ranks *s)
{
    int state[RANKS_MAX] = {0}, failed = 0, left = 0;

    for (int r = 0; r < s->size; r++) {
        s->value[r] = 100 + r;
        if (!s->t[r])
            continue;
        left++;
        state[r] = s->t[r]->ops->least_start(s->t[r], &s->value[r], 1);
    }
    while (left > 0) {
        for (int r = 0; r < s->size; r++) {
            if (!s->t[r] || state[r] == 1)
                continue;
            if (state[r] == 0)
                state[r] = s->t[r]->ops->least_test(s->t[r]);
            if (state[r] != 0)
                left--;
            failed += state[r] < 0;
            if (state[r] < 0)
                state[r] = 1;
        }
    }
    return failed;
}

/* warm: they have all spoken to some of the others before. */
START_TEST(test_reduction)
{
    static const int sizes[] = {2, 3, 5, 8, 9};
    int size = sizes[_i / 2];
    bool warm = _i % 2;

    for (int lost = 0; lost<size; lost += size> 3 ? 3 : 1) {
        struct ranks *s = create(size);

        if (warm) {
            ck_assert_int_eq(reduce(s), 0);
            for (int r = 0; r < size; r++)
                ck_assert_int_eq(s->value[r], 100);
        }
        die(s, lost);
        ck_assert_int_eq(reduce(s), size - 1);
        destroy(s);
    }
}
END_TEST

/* Rank 0 waits for rows of rank 1, and that one for those of rank 2, which dies before it was ever spoken to. */
START_TEST(test_chain)
{
    struct ranks *s = create(3);
    char memory[2][64];
    struct lbc_part part[2] = {{1, false, {memory[0], 64}}, {2, false, {memory[1], 64}}};
    struct lbc_exchange *e[2];
    int state[2] = {0, 0};

    die(s, 2);
    for (int r = 0; r < 2; r++)
        ck_assert_int_eq(s->t[r]->ops->exchange_create(s->t[r], &part[r], 1, &e[r]), 0);
    state[0] = s->t[0]->ops->exchange_start(s->t[0], e[0]);
    ck_assert_int_eq(state[0], 0);
    for (int turn = 0; turn < 1000; turn++) /* long before rank 1 comes to wait, nobody knows */
        ck_assert_int_eq(s->t[0]->ops->exchange_test(s->t[0], e[0]), 0);
    state[1] = s->t[1]->ops->exchange_start(s->t[1], e[1]);
    while (state[0] == 0 || state[1] == 0)
        for (int r = 0; r < 2; r++)
            if (state[r] == 0)
                state[r] = s->t[r]->ops->exchange_test(s->t[r], e[r]);
    ck_assert_int_lt(state[0], 0);
    ck_assert_int_lt(state[1], 0);
    for (int r = 0; r < 2; r++)
        s->t[r]->ops->exchange_destroy(s->t[r], e[r]);
    destroy(s);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("lost");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, test_reduction, 0, brief_cases(10));
    tcase_add_test(tc, test_chain);
    return suite_run("lost", tc);
}
