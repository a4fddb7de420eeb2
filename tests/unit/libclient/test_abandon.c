/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks over TCP, one of which gives up in the middle of a transfer: the program's memory is its own again at once. */
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "libclient/transport.h"
#include "tests/unit/libclient/wired.h"
#include "tests/unit/suite.h"

#define BYTES ((size_t)64 << 20) /* more than is under way at once, in the kernel and here */
#define ROUNDS 100000            /* of both, in which a transfer begins */
#define MORE 2000                /* after that */
enum {
    SENT = 1,
    OWN = 2
}; /* what is in the memory of both, and what the program has written since */

static struct lbc_transport *rank[2];
static unsigned char *memory[2];
static struct lbc_send *sending;
static struct lbc_recv *receiving;

static void setup(void)
{
    for (int r = 0; r < 2; r++) {
        memory[r] = calloc(1, BYTES);
        ck_assert_ptr_nonnull(memory[r]);
    }
    memset(memory[0], SENT, BYTES);
    wired_create(2, rank);
    sending = NULL;
    receiving = NULL;
}

/* Begin to move the memory of rank 0 to rank 1, until some of it is there, and not all. */
static void move_some(void)
{
    struct lbc_segment from = {memory[0], BYTES}, to = {memory[1], BYTES};
    char header[LBC_HEADER_MAX];
    size_t n;
    int source;

    ck_assert_int_eq(rank[0]->ops->send(rank[0], 1, "move", 5, &from, 1, &sending), 0);
    for (int i = 0; i < ROUNDS && memory[1][0] != SENT; i++) {
        ck_assert_int_eq(rank[0]->ops->send_test(rank[0], sending), 0);
        if (receiving) {
            ck_assert_int_eq(rank[1]->ops->recv_test(rank[1], receiving), 0);
        } else if (rank[1]->ops->probe(rank[1], header, &n, &source, &receiving) == 1) {
            ck_assert_str_eq(header, "move");
            ck_assert_int_eq(rank[1]->ops->recv(rank[1], receiving, &to, 1), 0);
        }
    }
    ck_assert_int_eq(memory[1][0], SENT);
    ck_assert_int_ne(memory[1][BYTES - 1], SENT);
}

/* Who has given up takes part in nothing but the end of its context; the other goes on. */
static void go_on(int with)
{
    for (int i = 0; i < MORE; i++)
        if (with == 0)
            ck_assert_int_eq(rank[0]->ops->send_test(rank[0], sending), 0);
        else
            ck_assert_int_eq(rank[1]->ops->recv_test(rank[1], receiving), 0);
}

static size_t count(const unsigned char *p, unsigned char what)
{
    size_t n = 0;

    for (size_t i = 0; i < BYTES; i++)
        n += p[i] == what;
    return n;
}

static void teardown(void)
{
    for (int r = 0; r < 2; r++)
        free(memory[r]);
}

START_TEST(test_destination)
{
    move_some();
    rank[1]->ops->abandon(rank[1]);
    memset(memory[1], OWN, BYTES);
    go_on(0);
    rank[1]->ops->destroy(rank[1]); /* which reads what has come */
    ck_assert_uint_eq(count(memory[1], OWN), BYTES);
    rank[0]->ops->destroy(rank[0]);
}
END_TEST

START_TEST(test_source)
{
    move_some();
    rank[0]->ops->abandon(rank[0]);
    memset(memory[0], OWN, BYTES);
    go_on(1);
    ck_assert_int_eq(rank[0]->ops->send_test(rank[0], sending),
                     0); /* nothing goes by this, either */
    go_on(1);
    rank[0]->ops->destroy(rank[0]);
    ck_assert_int_lt(rank[1]->ops->recv_test(rank[1], receiving), 0);
    ck_assert_uint_eq(count(memory[1], OWN), 0);
    rank[1]->ops->destroy(rank[1]);
}
END_TEST

/* Its last words wait for a rank that has not proved itself: who waits for it hears of it nevertheless, though it never comes back. */
START_TEST(test_unheard)
{
    int rc;

    ck_assert_int_eq(rank[0]->ops->send(rank[0], 1, "move", 5, NULL, 0, &sending), 0);
    ck_assert(!rank[0]->ops->is_under_way(rank[0], 1));
    rank[0]->ops->abandon(rank[0]);
    rc = rank[1]->ops->barrier_start(rank[1]);
    for (int i = 0; i < 10000 && rc == 0; i++) {
        rc = rank[1]->ops->barrier_test(rank[1]);
        lbx_clock_sleep_ns(LBX_NS_PER_MS);
    }
    ck_assert_int_lt(rc, 0);
    rank[1]->ops->destroy(rank[1]);
    rank[0]->ops->destroy(rank[0]);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("abandon");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_destination);
    tcase_add_test(tc, test_source);
    tcase_add_test(tc, test_unheard);
    return suite_run("abandon", tc);
}
