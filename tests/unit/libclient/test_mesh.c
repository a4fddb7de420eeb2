/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks' meshes in one process, where one does not read for long, as behind a link that is cut. */
#include "libclient/tcp/mesh.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/auth.h"
#include "common/clock.h"
#include "common/sock.h"
#include "tests/unit/suite.h"

#define MOST 100000 /* rounds of both, after which nothing more will come */
#define STRANGERS 64
#define PROOF_NS (2 * LBX_NS_PER_S)

static struct lbw_endpoint endpoint[2];
static struct lbc_mesh *mesh[2];
static int64_t frames, bytes; /* that have come to rank 1 */

static int find(void *arg, int rank, struct lbw_endpoint *ret_endpoint)
{
    (void)arg;
    *ret_endpoint = endpoint[rank];
    return 0;
}

static int deliver(void *arg, int source, const uint8_t *body, size_t n)
{
    (void)arg;
    (void)body;
    ck_assert_int_eq(source, 0);
    frames++;
    bytes += (int64_t)n;
    return 0;
}

static void setup(void)
{
    ck_assert_int_ge(lbx_auth_setup(), 0);
    for (int r = 0; r < 2; r++) {
        struct lbw_endpoint *e = &endpoint[r];
        struct lbc_mesh_config config = {
            .rank = r, .size = 2, .endpoint = e, .find = find, .deliver = deliver};

        config.listen_fd = lbx_sock_listen_tcp("127.0.0.1", &e->port);
        ck_assert_int_ge(config.listen_fd, 0);
        lbx_auth_random(e->key, sizeof(e->key));
        snprintf(e->context, sizeof(e->context), "test/%d", r);
        strcpy(e->address[e->naddresses++], "127.0.0.1");
        ck_assert_int_eq(lbc_mesh_create(&config, &mesh[r]), 0);
    }
}

static void teardown(void)
{
    for (int r = 0; r < 2; r++) {
        lbc_mesh_fail(mesh[r]); /* so that neither waits for the other to read its goodbye */
        lbc_mesh_destroy(mesh[r]);
    }
}

static void progress(int rank)
{
    ck_assert_int_eq(lbc_mesh_progress(mesh[rank]), 0);
}

/* Rank 0 sends rows until no more fit in.  Returns how many frames. */
static int64_t fill(void)
{
    static uint8_t row[LBC_MESH_BODY_MAX];
    int64_t sent = 0;

    ck_assert_int_eq(lbc_mesh_connect(mesh[0], 1), 0);
    for (int i = 0; i < MOST && !lbc_mesh_has_room(mesh[0], 1); i++) { /* the proof */
        progress(0);
        progress(1);
    }
    ck_assert(lbc_mesh_has_room(mesh[0], 1));
    while (lbc_mesh_has_room(mesh[0], 1)) {
        ck_assert_int_eq(lbc_mesh_send(mesh[0], 1, "head", 4, row, sizeof(row)), 0);
        sent++;
        progress(0);
    }
    return sent;
}

START_TEST(what_is_said_behind_rows_leaves_with_them)
{
    int64_t sent = fill(), before;

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(lbc_mesh_send(mesh[0], 1, "short", 5, NULL, 0), 0);
    progress(0);
    ck_assert(!lbc_mesh_is_flushed(mesh[0], 1));
    /* all that has left rank 0 is read at once, so that the next time all of it can leave */
    do {
        before = frames;
        for (int i = 0; i < 1000; i++)
            progress(1);
    } while (frames > before);
    ck_assert_int_lt(frames, sent + 3);
    for (int i = 0; i < MOST && frames < sent + 3; i++) {
        progress(0);
        progress(1);
    }
    ck_assert_int_eq(frames, sent + 3);
    ck_assert_int_eq(bytes, sent * (4 + LBC_MESH_BODY_MAX) + 3 * 5);
    progress(0);
    ck_assert(lbc_mesh_is_flushed(mesh[0], 1));
}
END_TEST

/* Connections to rank 1 of which nobody says who he is. */
static void connect_strangers(int *ret_fd, int n)
{
    for (int i = 0; i < n; i++) {
        ret_fd[i] =
            lbx_sock_connect_tcp("127.0.0.1", endpoint[1].port, lbx_clock_mono_ns() + LBX_NS_PER_S);
        ck_assert_int_ge(ret_fd[i], 0);
    }
}

static void close_strangers(const int *fd, int n)
{
    for (int i = 0; i < n; i++)
        close(fd[i]);
}

/* Rank 1 computes for so long that all who have come to it are late, but rank 0 has long said who it is. */
START_TEST(a_proof_that_has_come_is_looked_at_before_its_place_is_given_away)
{
    int stranger[STRANGERS + 1];

    ck_assert_int_eq(lbc_mesh_connect(mesh[0], 1), 0);
    ck_assert_int_eq(lbc_mesh_send(mesh[0], 1, "short", 5, NULL, 0), 0);
    progress(1);
    connect_strangers(stranger, STRANGERS + 1); /* more than there are places for */
    for (int i = 0; i < 10; i++)
        progress(1);
    for (int i = 0; i < 10; i++)
        progress(0);
    lbx_clock_sleep_ns(PROOF_NS + 100 * LBX_NS_PER_MS);
    for (int i = 0; i < MOST && frames == 0; i++) {
        progress(1);
        progress(0);
    }
    ck_assert_int_eq(frames, 1);
    close_strangers(stranger, STRANGERS + 1);
}
END_TEST

/* Those that have said something meanwhile are looked at by where they were, so these must be there still. */
START_TEST(late_strangers_may_speak_when_others_take_their_places)
{
    int stranger[STRANGERS], more[STRANGERS];

    connect_strangers(stranger, STRANGERS);
    for (int i = 0; i < 10; i++)
        progress(1);
    connect_strangers(more, STRANGERS);
    progress(1); /* there is no place for them: what they want is the oldest event */
    for (int i = 0; i < STRANGERS; i++)
        ck_assert_int_eq(write(stranger[i], "x", 1), 1);
    lbx_clock_sleep_ns(PROOF_NS + 100 * LBX_NS_PER_MS);
    for (int i = 0; i < 10; i++)
        progress(1);
    close_strangers(stranger, STRANGERS);
    close_strangers(more, STRANGERS);
}
END_TEST

static void say_nothing_right(const int *fd, int n)
{
    static const char text[200] = "no proof, but no shorter than one";

    for (int i = 0; i < n; i++)
        ck_assert_int_eq(send(fd[i], text, sizeof(text), MSG_NOSIGNAL), (ssize_t)sizeof(text));
    for (int i = 0; i < 100; i++)
        progress(1);
}

/* A program may fork: its child has the connections, too, so closing one does not end what the kernel tells of it. */
START_TEST(what_a_child_keeps_open_is_not_heard_of)
{
    int stranger[STRANGERS];
    pid_t child;

    connect_strangers(stranger, STRANGERS);
    for (int i = 0; i < 10; i++)
        progress(1);
    child = fork();
    ck_assert_int_ge(child, 0);
    while (child == 0)
        pause();
    say_nothing_right(stranger, STRANGERS);
    say_nothing_right(stranger, STRANGERS); /* to a connection that is over here */
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    close_strangers(stranger, STRANGERS);
}
END_TEST

static int refuse(void *arg, int source, const uint8_t *body, size_t n)
{
    (void)arg, (void)source, (void)body, (void)n;
    return -1;
}

/* Hosts may have an address in common, as that of a bridge: behind it may be somebody else, at the same port. */
START_TEST(who_does_not_know_the_key_is_not_the_rank)
{
    struct lbw_endpoint other = {.port = endpoint[1].port};
    struct lbc_mesh_config config = {
        .rank = 1, .size = 2, .endpoint = &other, .find = find, .deliver = refuse};
    struct lbc_mesh *else_mesh;

    config.listen_fd = lbx_sock_listen_tcp("127.0.0.2", &other.port);
    ck_assert_int_ge(config.listen_fd, 0);
    ck_assert_int_eq(lbc_mesh_create(&config, &else_mesh), 0);
    strcpy(endpoint[1].address[0], "127.0.0.2");
    strcpy(endpoint[1].address[1], "127.0.0.1");
    endpoint[1].naddresses = 2;
    ck_assert_int_eq(lbc_mesh_send(mesh[0], 1, "short", 5, NULL, 0), 0);
    for (int i = 0; i < MOST && frames == 0; i++) {
        progress(0);
        progress(1);
        ck_assert_int_eq(lbc_mesh_progress(else_mesh), 0);
    }
    ck_assert_int_eq(frames, 1);
    lbc_mesh_fail(else_mesh);
    lbc_mesh_destroy(else_mesh);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("mesh");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, what_is_said_behind_rows_leaves_with_them);
    tcase_add_test(tc, a_proof_that_has_come_is_looked_at_before_its_place_is_given_away);
    tcase_add_test(tc, late_strangers_may_speak_when_others_take_their_places);
    tcase_add_test(tc, what_a_child_keeps_open_is_not_heard_of);
    tcase_add_test(tc, who_does_not_know_the_key_is_not_the_rank);
    return suite_run("libclient/mesh", tc);
}
