/* SPDX-License-Identifier: BSD-3-Clause */
/* common/ with each allocation failing in turn: -ENOMEM, all as before, nothing leaked. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "common/auth.h"
#include "common/buf.h"
#include "common/frame.h"
#include "common/policyconf.h"
#include "common/sock.h"
#include "common/spanset.h"
#include "tests/fault/fault.h"
#include "tests/unit/prop.h"
#include "tests/unit/suite.h"

static long live_before;

static void setup(void)
{
    ck_assert_int_eq(lbx_auth_setup(), 0);
    live_before = fault_live();
}

static void teardown(void)
{
    ck_assert_int_eq(fault_live(), live_before);
}

static void check_same(const struct lbx_spanset *a, const struct lbx_spanset *b)
{
    ck_assert_uint_eq(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        ck_assert_int_eq(a->span[i].first, b->span[i].first);
        ck_assert_int_eq(a->span[i].last, b->span[i].last);
    }
}

/* The shim itself: the Nth, and only that, and only once. */
START_TEST(countdown_counts)
{
    for (unsigned long nth = 1; nth <= 3; nth++) {
        void *p[4];

        fault_arm(nth);
        p[0] = malloc(1);
        p[1] = calloc(1, 1);
        p[2] = realloc(NULL, 1);
        p[3] = strdup("x");
        ck_assert(fault_disarm());
        for (unsigned long i = 0; i < 4; i++)
            ck_assert_int_eq(p[i] == NULL, i == nth - 1);
        ck_assert_int_eq(fault_live(), live_before + 3);
        for (int i = 0; i < 4; i++)
            free(p[i]);
    }
    fault_arm(2);
    free(malloc(1));
    ck_assert(!fault_disarm());
}
END_TEST

/* Two sets by the same random operations; one of them with a failure before each that allocates. */
START_TEST(spanset_operations)
{
    struct prop p = prop_start("spanset_operations");
    struct lbx_spanset s = LBX_SPANSET_EMPTY, twin = LBX_SPANSET_EMPTY;
    int fired = 0;

    for (int op = 0; op < 3000; op++) {
        int64_t a = (int64_t)prop_below(&p, 2000), b = a + 1 + (int64_t)prop_below(&p, 5);
        int (*f)(struct lbx_spanset *, int64_t, int64_t) =
            prop_below(&p, 3) ? lbx_spanset_add : lbx_spanset_remove;
        int rc;

        for (unsigned long nth = 1;; nth++, fired++) {
            fault_arm(nth);
            rc = f(&s, a, b);
            if (!fault_disarm())
                break;
            ck_assert_int_eq(rc, -ENOMEM);
            check_same(&s, &twin);
        }
        ck_assert_int_eq(rc, 0);
        ck_assert_int_eq(f(&twin, a, b), 0);
        check_same(&s, &twin);
    }
    ck_assert_int_ge(fired, 5); /* 4, 8, 16 ... spans */
    lbx_spanset_fini(&s);
    lbx_spanset_fini(&twin);
}
END_TEST

/* Whole spans and the ends of spans are taken away, and spans joined, without memory. */
START_TEST(spanset_shrinks_without_memory)
{
    struct lbx_spanset s = LBX_SPANSET_EMPTY;
    int rc[6];

    for (int64_t i = 0; i < 4; i++) /* all four that were allocated */
        ck_assert_int_eq(lbx_spanset_add(&s, 10 * i, 10 * i + 5), 0);
    ck_assert_uint_eq(s.n, s.size);
    fault_arm(1);
    rc[0] = lbx_spanset_remove(&s, 0, 2);
    rc[1] = lbx_spanset_remove(&s, 33, 40);
    rc[2] = lbx_spanset_remove(&s, 20, 25);
    rc[3] = lbx_spanset_add(&s, 25, 30);
    rc[4] = lbx_spanset_remove(&s, 100, 200);
    rc[5] = lbx_spanset_remove(&s, 0, 100);
    ck_assert(!fault_disarm());
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(rc[i], 0);
    ck_assert_int_eq(lbx_spanset_count(&s), 0);
    lbx_spanset_fini(&s);
}
END_TEST

START_TEST(spanset_copies)
{
    struct lbx_spanset s = LBX_SPANSET_EMPTY, out = LBX_SPANSET_EMPTY, was = LBX_SPANSET_EMPTY;
    int rc;

    for (int64_t i = 0; i < 100; i++)
        ck_assert_int_eq(lbx_spanset_add(&s, 2 * i, 2 * i + 1), 0);
    ck_assert_int_eq(lbx_spanset_add(&out, 7, 8), 0);
    ck_assert_int_eq(lbx_spanset_copy(&out, &was), 0);
    fault_arm(1);
    rc = lbx_spanset_copy(&s, &out);
    ck_assert(fault_disarm());
    ck_assert_int_eq(rc, -ENOMEM);
    check_same(&out, &was);
    fault_arm(1);
    rc = lbx_spanset_intersect(&s, 10, 90, &out);
    ck_assert(fault_disarm());
    ck_assert_int_eq(rc, -ENOMEM);
    check_same(&out, &was);
    ck_assert_int_eq(lbx_spanset_copy(&s, &out), 0);
    check_same(&out, &s);
    lbx_spanset_fini(&s);
    lbx_spanset_fini(&out);
    lbx_spanset_fini(&was);
}
END_TEST

START_TEST(buf_append)
{
    struct prop p = prop_start("buf_append");
    uint8_t model[20000], chunk[500];
    size_t head = 0, tail = 0;
    int fired = 0;
    struct lbx_buf b;

    lbx_buf_init(&b, sizeof(model));
    while (tail + sizeof(chunk) <= sizeof(model)) {
        size_t n = prop_below(&p, sizeof(chunk)), eat;
        int rc;

        prop_bytes(&p, chunk, n);
        for (unsigned long nth = 1;; nth++, fired++) {
            fault_arm(nth);
            rc = lbx_buf_append(&b, chunk, n);
            if (!fault_disarm())
                break;
            ck_assert_int_eq(rc, -ENOMEM);
            ck_assert_uint_eq(lbx_buf_len(&b), tail - head);
            if (tail > head)
                ck_assert_mem_eq(lbx_buf_data(&b), model + head, tail - head);
        }
        ck_assert_int_eq(rc, 0);
        memcpy(model + tail, chunk, n);
        tail += n;
        eat = prop_below(&p, (tail - head) / 8 + 1);
        lbx_buf_consume(&b, eat);
        head += eat;
        if (tail > head)
            ck_assert_mem_eq(lbx_buf_data(&b), model + head, tail - head);
    }
    ck_assert_int_ge(fired, 3);
    lbx_buf_fini(&b);
}
END_TEST

/* A frame that could not be appended has not used up its sequence number. */
START_TEST(frame_append)
{
    static const uint8_t key_a[LBX_KEY_BYTES] = {1}, key_b[LBX_KEY_BYTES] = {2};
    uint8_t body[100] = {0};
    const uint8_t *got = NULL;
    struct lbx_channel tx, rx;
    struct lbx_buf b;
    size_t n = 0;
    int fired = 0;

    lbx_channel_init_keyed(&tx, key_a, key_b);
    lbx_channel_init_keyed(&rx, key_b, key_a);
    lbx_buf_init(&b, 100000);
    for (uint8_t i = 0; i < 100; i++) {
        size_t len = lbx_buf_len(&b);
        int rc;

        body[0] = i;
        for (unsigned long nth = 1;; nth++, fired++) {
            fault_arm(nth);
            rc = lbx_frame_append(&tx, &b, body, sizeof(body));
            if (!fault_disarm())
                break;
            ck_assert_int_eq(rc, -ENOMEM);
            ck_assert_uint_eq(lbx_buf_len(&b), len);
        }
        ck_assert_int_eq(rc, 0);
    }
    ck_assert_int_ge(fired, 5);
    for (uint8_t i = 0; i < 100; i++) {
        int rc;

        fault_arm(1); /* taking frames out needs no memory */
        rc = lbx_frame_next(&rx, &b, &got, &n);
        ck_assert(!fault_disarm());
        ck_assert_int_eq(rc, 1);
        ck_assert_uint_eq(got[0], i);
    }
    lbx_buf_fini(&b);
}
END_TEST

/* As lbx_auth_step, after one failure of each of its allocations. */
static int step_with_failure(struct lbx_auth *a, struct lbx_buf *in, struct lbx_buf *out,
                             int *fired)
{
    size_t in_len = lbx_buf_len(in), out_len = lbx_buf_len(out);
    int rc;

    for (unsigned long nth = 1;; nth++, (*fired)++) {
        fault_arm(nth);
        rc = lbx_auth_step(a, in, out);
        if (!fault_disarm())
            return rc;
        ck_assert_int_eq(rc, -ENOMEM);
        ck_assert_uint_eq(lbx_buf_len(in), in_len);
        ck_assert_uint_eq(lbx_buf_len(out), out_len);
    }
}

/* The buffers begin without memory at each message: each of the three is refused it once. */
START_TEST(auth_goes_on)
{
    static const uint8_t key[LBX_KEY_BYTES] = {1, 2, 3};
    struct lbx_auth server, client;
    struct lbx_buf up, down;
    int fired = 0;

    lbx_auth_init_server(&server, key, "x", 1);
    lbx_auth_init_client(&client, key, "x", 1, 9);
    lbx_buf_init(&up, 1024);
    lbx_buf_init(&down, 1024);
    ck_assert_int_eq(step_with_failure(&server, &up, &down, &fired), 0);
    ck_assert_int_eq(step_with_failure(&client, &down, &up, &fired), 0);
    ck_assert_uint_eq(lbx_buf_len(&down), 0);
    lbx_buf_fini(&down);
    ck_assert_int_eq(step_with_failure(&server, &up, &down, &fired), 1);
    ck_assert_int_eq(step_with_failure(&client, &down, &up, &fired), 1);
    ck_assert_int_eq(fired, 3);
    ck_assert_uint_eq(server.peer_id, 9);
    lbx_auth_fini(&server);
    lbx_auth_fini(&client);
    lbx_buf_fini(&up);
    lbx_buf_fini(&down);
}
END_TEST

/* What could not be read for want of memory is still there. */
START_TEST(sock_fill_loses_nothing)
{
    struct lbx_buf in;
    int sv[2];
    ssize_t rc;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    ck_assert_int_eq(send(sv[0], "abc", 3, 0), 3);
    lbx_buf_init(&in, 1000);
    fault_arm(1);
    rc = lbx_sock_fill(sv[1], &in);
    ck_assert(fault_disarm());
    ck_assert_int_eq(rc, -ENOMEM);
    ck_assert_uint_eq(lbx_buf_len(&in), 0);
    ck_assert_int_eq(lbx_sock_fill(sv[1], &in), 3);
    ck_assert_mem_eq(lbx_buf_data(&in), "abc", 3);
    lbx_buf_fini(&in);
    close(sv[0]);
    close(sv[1]);
}
END_TEST

static int take_any(const char *text, struct lbx_error *err)
{
    (void)text;
    (void)err;
    return 0;
}

/* Our own allocations, not libconfuse's: a reload that fails leaves the old values in force. */
START_TEST(policyconf_keeps_the_old)
{
    static const char text[] = "policy = \"auto\"\npartition \"gpu\" {\n mode = "
                               "\"opt-out\"\n}\naccount \"phys\" {\n policy = \"liu\"\n}\n";
    char path[] = "/tmp/lb-fault-XXXXXX";
    struct lbx_policyconf c = {.npartitions = 77};
    struct lbx_error err = {0};
    int fd = mkstemp(path), fired = 0, rc;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    for (unsigned long nth = 1;; nth++, fired++) {
        fault_arm(nth);
        rc = lbx_policyconf_read(path, take_any, &c, &err);
        if (!fault_disarm())
            break;
        ck_assert_int_eq(rc, -ENOMEM);
        ck_assert_uint_eq(c.npartitions, 77);
        ck_assert_int_eq(fault_live(), live_before);
    }
    unlink(path);
    ck_assert_msg(rc == 0, "%s", err.text);
    ck_assert_int_ge(fired, 3); /* the text, the partitions, the accounts */
    ck_assert_uint_eq(c.npartitions, 1);
    ck_assert_uint_eq(c.naccounts, 1);
    lbx_policyconf_fini(&c);
}
END_TEST

/*
 * Planted failures, run by planted.sh alone: each of the three checks that the tests above make must fail.
 */
static char *second_gone; /* the first block, where nobody frees it */

static int planted_pair(bool leak, bool change, bool hide, struct lbx_spanset *s)
{
    char *second;

    second_gone = malloc(10);
    if (!second_gone)
        return -ENOMEM;
    if (change)
        s->n = 1;
    second = malloc(10);
    if (second || !leak)
        free(second_gone);
    free(second);
    return second || hide ? 0 : -ENOMEM;
}

static void planted(bool leak, bool change, bool hide)
{
    struct lbx_span span = {1, 2};
    struct lbx_spanset s = {.span = &span, .size = 1}, was = s;
    int rc;

    fault_arm(2);
    rc = planted_pair(leak, change, hide, &s);
    ck_assert(fault_disarm());
    ck_assert_int_eq(rc, -ENOMEM);
    check_same(&s, &was);
}

START_TEST(planted_leak)
{
    planted(true, false, false); /* seen by teardown */
}
END_TEST

START_TEST(planted_change)
{
    planted(false, true, false);
}
END_TEST

START_TEST(planted_hidden)
{
    planted(false, false, true);
}
END_TEST

static TCase *planted_case(void)
{
    TCase *tc = tcase_create("planted");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, planted_leak);
    tcase_add_test(tc, planted_change);
    tcase_add_test(tc, planted_hidden);
    return tc;
}

int main(void)
{
    TCase *tc = suite_case("fault");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, countdown_counts);
    tcase_add_test(tc, spanset_operations);
    tcase_add_test(tc, spanset_shrinks_without_memory);
    tcase_add_test(tc, spanset_copies);
    tcase_add_test(tc, buf_append);
    tcase_add_test(tc, frame_append);
    tcase_add_test(tc, auth_goes_on);
    tcase_add_test(tc, sock_fill_loses_nothing);
    tcase_add_test(tc, policyconf_keeps_the_old);
    return suite_run("fault/common", tc, getenv("LB_FAULT_PLANTED") ? planted_case() : NULL);
}
