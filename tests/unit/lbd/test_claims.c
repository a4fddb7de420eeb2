/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks on their way: who sees what of whom, how it fades, and when it is forgotten. */
#include "lbd/claims.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/unit/child.h"
#include "tests/unit/suite.h"

#define HALF (10 * LBX_NS_PER_S)
#define NOW (1000 * LBX_NS_PER_S)

static struct lbd_claims claims;
static struct lbw_local_claims want, got;

static void ask_for(const char *host, uint32_t tasks, uint64_t generation, uint32_t jobid)
{
    want.generation = generation;
    want.jobid = jobid;
    want.n = 1;
    snprintf(want.claim[0].host, sizeof(want.claim[0].host), "%s", host);
    want.claim[0].tasks = tasks;
    want.claim[0].cpus = tasks;
}

static int take(uid_t uid, pid_t pid, int64_t now_ns)
{
    return lbd_claims_take(&claims, uid, pid, &want, HALF, now_ns, &got);
}

START_TEST(the_second_sees_the_first)
{
    pid_t a = begin_child(), b = begin_child();

    ask_for("n1", 2, 0, 7);
    ck_assert_int_eq(take(1, a, NOW), 0);
    ck_assert_int_eq(take(1, b, NOW), 1);
    ck_assert_uint_eq(got.n, 1);
    ck_assert_str_eq(got.claim[0].host, "n1");
    ck_assert_double_eq(got.claim[0].tasks, 2);
    ck_assert_uint_eq(got.claim[0].cpus, 2);
    ask_for("n1", 1, got.generation, 7); /* it has seen that and wants it nevertheless */
    ck_assert_int_eq(take(1, b, NOW), 0);
    ask_for("n1", 1, 1, 7); /* a third one that has seen only the first */
    ck_assert_int_eq(take(1, getpid(), NOW), 1);
    ck_assert_double_eq(got.claim[0].tasks, 3);
    ask_for("n2", 1, 1, 7); /* where nobody goes it need not know */
    ck_assert_int_eq(take(1, getpid(), NOW), 0);
    ask_for("n1", 1, LBW_LOCAL_CLAIM_ANYHOW, 7);
    ck_assert_int_eq(take(1, getpid(), NOW), 0);
    ck_assert_uint_eq(claims.n, 3); /* of one process the newest counts */
    end_child(a);
    end_child(b);
    lbd_claims_fini(&claims);
}
END_TEST

START_TEST(it_fades_and_ends_with_its_process)
{
    pid_t a = begin_child();

    ask_for("n1", 4, 0, 7);
    ck_assert_int_eq(take(1, a, NOW), 0);
    ck_assert_int_eq(take(1, getpid(), NOW + HALF), 1);
    ck_assert_double_eq(got.claim[0].tasks, 2);
    ck_assert_uint_eq(got.claim[0].cpus, 4); /* those are held as long as it runs */
    ck_assert_int_eq(take(1, getpid(), NOW + 2 * HALF), 1);
    ck_assert_double_eq(got.claim[0].tasks, 1);
    end_child(a);
    ck_assert_int_eq(take(1, getpid(), NOW + 3 * HALF), 0);
    ck_assert_uint_eq(claims.n, 1);
    lbd_claims_fini(&claims);
}
END_TEST

START_TEST(cpus_are_held_within_a_job)
{
    pid_t a = begin_child();

    ask_for("n1", 4, 0, 7);
    ck_assert_int_eq(take(1, a, NOW), 0);
    ask_for("n1", 4, 0, 8); /* another job has CPUs of its own there */
    ck_assert_int_eq(take(1, getpid(), NOW), 1);
    ck_assert_uint_eq(got.claim[0].cpus, 0);
    ck_assert_double_eq(got.claim[0].tasks, 4);
    ask_for("n1", 4, 0, 7); /* a user cannot take those of another by a number */
    ck_assert_int_eq(take(2, getpid(), NOW), 1);
    ck_assert_uint_eq(got.claim[0].cpus, 0);
    ask_for("n1", 4, 0, 0);
    ck_assert_int_eq(take(1, a, NOW), 0); /* jobs that are to come compete with each other */
    ck_assert_int_eq(take(2, getpid(), NOW), 1);
    ck_assert_uint_eq(got.claim[0].cpus, 4);
    ck_assert_int_eq(take(2, getpid(), NOW + 6 * LBX_NS_PER_S), 1); /* not for ever */
    ck_assert_uint_eq(got.claim[0].cpus, 0);
    end_child(a);
    lbd_claims_fini(&claims);
}
END_TEST

START_TEST(nobody_fills_it)
{
    pid_t child[LBD_CLAIMS_EACH_MAX + 1];

    for (size_t i = 0; i <= LBD_CLAIMS_EACH_MAX; i++) {
        child[i] = begin_child();
        ask_for("n1", 1, LBW_LOCAL_CLAIM_ANYHOW, 7);
        ck_assert_int_eq(take(1, child[i], NOW), i < LBD_CLAIMS_EACH_MAX ? 0 : -ENOSPC);
    }
    ck_assert_int_eq(take(2, getpid(), NOW), 0);
    want.n = LBW_LOCAL_HOSTS_MAX;
    for (size_t i = 0; i < want.n; i++)
        want.claim[i] = want.claim[0];
    for (int i = 0; i < LBD_CLAIMS_HOSTS_MAX / LBW_LOCAL_HOSTS_MAX; i++) {
        ck_assert_int_eq(take((uid_t)3 + (uid_t)i, child[i], NOW),
                         i < LBD_CLAIMS_HOSTS_MAX / LBW_LOCAL_HOSTS_MAX - 1 ? 0 : -ENOSPC);
    }
    for (size_t i = 0; i <= LBD_CLAIMS_EACH_MAX; i++)
        end_child(child[i]);
    lbd_claims_fini(&claims);
}
END_TEST

START_TEST(a_process_that_has_ended_claims_nothing)
{
    pid_t a = begin_child();

    end_child(a);
    ask_for("n1", 1, 0, 7);
    ck_assert_int_eq(take(1, a, NOW), 0);
    ck_assert_uint_eq(claims.n, 0);
    lbd_claims_fini(&claims);
}
END_TEST

static struct lbw_node_claims far;

static void hear(const char *origin, uint64_t number, const char *host, int64_t now_ns)
{
    memset(&far, 0, sizeof(far));
    strcpy(far.origin, origin);
    far.uid = 1;
    far.claims.generation = number;
    if (host) {
        far.claims.n = 1;
        strcpy(far.claims.claim[0].host, host);
        far.claims.claim[0].tasks = far.claims.claim[0].cpus = 3;
    }
    lbd_claims_hear(&claims, &far, now_ns);
}

START_TEST(those_of_other_hosts_count_alike)
{
    size_t here, elsewhere;

    hear("login1", 5, "n1", NOW);
    hear("login2", 5, "n1", NOW);
    hear("login2", 6, "n2", NOW);
    ask_for("n1", 1, 0, 0);
    ck_assert_int_eq(take(2, getpid(), NOW), 1);
    ck_assert_uint_eq(got.n, 2);
    ck_assert_double_eq(got.claim[0].tasks, 6);
    ck_assert_uint_eq(got.claim[0].cpus, 6);
    hear("login1", 5, NULL, NOW); /* it has ended; that of the same number elsewhere has not */
    hear("login1", 7, NULL, NOW); /* nobody knows of it */
    ck_assert_int_eq(take(2, getpid(), NOW), 1);
    ck_assert_double_eq(got.claim[0].tasks, 3);
    hear("login2", 5, "n3", NOW); /* anew */
    ck_assert_int_eq(take(2, getpid(), NOW), 0);
    lbd_claims_count(&claims, &here, &elsewhere);
    ck_assert_uint_eq(here, 1);
    ck_assert_uint_eq(elsewhere, 2);
    ck_assert_int_eq(lbd_claims_sweep(&claims, NOW + 61 * LBX_NS_PER_S), INT64_MAX);
    lbd_claims_count(&claims, &here, &elsewhere);
    ck_assert_uint_eq(here, 1);
    ck_assert_uint_eq(elsewhere, 0); /* not for ever, when nobody says that they have ended */
    lbd_claims_fini(&claims);
}
END_TEST

START_TEST(other_hosts_do_not_fill_it)
{
    size_t here, elsewhere;

    for (uint64_t i = 0; i < 2 * LBD_CLAIMS_FAR_MAX; i++)
        hear("login1", i, "n1", NOW);
    lbd_claims_count(&claims, &here, &elsewhere);
    ck_assert_uint_eq(elsewhere, LBD_CLAIMS_FAR_MAX);
    ask_for("n2", 1, 0, 0);
    ck_assert_int_eq(take(1, getpid(), NOW), 0);
    lbd_claims_fini(&claims);
}
END_TEST

static uint64_t begun, ended;
static bool is_told;

static bool tell(void *data, uid_t uid, uint64_t generation, const struct lbw_local_claims *claimed)
{
    ck_assert_ptr_eq(data, &begun);
    ck_assert_uint_eq(uid, 1);
    if (!claimed) {
        ended = generation;
        return true;
    }
    ck_assert_uint_eq(claimed->n, 1);
    begun = generation;
    return is_told;
}

START_TEST(those_of_this_host_are_told)
{
    pid_t a = begin_child();
    uint64_t first;

    claims.tell = tell;
    claims.data = &begun;
    is_told = true;
    ask_for("n1", 1, 0, 7);
    ck_assert_int_eq(take(1, a, NOW), 0);
    first = begun;
    ck_assert_uint_ne(first, 0);
    ck_assert_int_eq(lbd_claims_sweep(&claims, NOW + 5), 5);
    ask_for("n2", 1, 0, 7); /* it claims anew */
    ck_assert_int_eq(take(1, a, NOW + LBX_NS_PER_S), 0);
    ck_assert_uint_eq(ended, first);
    ck_assert_uint_ne(begun, first);
    end_child(a);
    ck_assert_int_eq(lbd_claims_sweep(&claims, NOW + 2 * LBX_NS_PER_S), INT64_MAX);
    ck_assert_uint_eq(ended, begun);
    is_told = false; /* of what could not be told the end is not, either */
    ended = 0;
    a = begin_child();
    ask_for("n1", 1, 0, 7);
    ck_assert_int_eq(take(1, a, NOW + 2 * LBX_NS_PER_S), 0);
    end_child(a);
    ck_assert_int_eq(lbd_claims_sweep(&claims, NOW + 3 * LBX_NS_PER_S), INT64_MAX);
    ck_assert_uint_eq(claims.n, 0);
    ck_assert_uint_eq(ended, 0);
    lbd_claims_fini(&claims);
}
END_TEST

static void want_many(size_t first, size_t n, uint64_t generation, uint32_t jobid)
{
    want.generation = generation;
    want.jobid = jobid;
    want.n = n;
    for (size_t i = 0; i < n; i++) {
        want.claim[i] = (struct lbw_local_claim){.tasks = 2, .cpus = 4};
        snprintf(want.claim[i].host, sizeof(want.claim[i].host), "node%zu", first + i);
    }
}

/* More hosts are claimed than one message names: those that the asker wants are among them whatever else is. */
START_TEST(more_hosts_than_a_message_names)
{
    pid_t pid[4] = {begin_child(), begin_child(), begin_child(), begin_child()};
    size_t found = 0;

    for (size_t i = 0; i < 3; i++) { /* of job 7, on 1200 hosts */
        want_many(400 * i, 400, 0, 7);
        ck_assert_int_eq(take(1, pid[i], NOW), 0);
    }
    want_many(700, 500, 0, 7); /* and one that finds the last 500 of them taken */
    ck_assert_int_eq(take(1, pid[3], NOW), 1);
    ck_assert_uint_eq(got.n, LBW_LOCAL_HOSTS_MAX);
    for (size_t i = 0; i < got.n; i++)
        for (size_t k = 0; k < want.n; k++)
            found += strcmp(got.claim[i].host, want.claim[k].host) == 0 &&
                     got.claim[i].tasks == 2 && got.claim[i].cpus == 4;
    ck_assert_uint_eq(found, 500);
    /* of another job nothing is held, but the tasks count */
    want_many(1199, 1, 0, 8);
    ck_assert_int_eq(take(1, pid[3], NOW), 1);
    ck_assert_str_eq(got.claim[0].host, "node1199");
    ck_assert_uint_eq(got.claim[0].cpus, 0);
    ck_assert_double_eq(got.claim[0].tasks, 2);
    for (int i = 0; i < 4; i++)
        end_child(pid[i]);
    lbd_claims_fini(&claims);
}
END_TEST

/* What a new job finds of others on the idle hosts, and that it then claims without being told again. */
START_TEST(a_look_at_idle_hosts)
{
    static struct lbw_local_idle idle;
    pid_t a = begin_child(), b = begin_child();

    idle.n = 2;
    strcpy(idle.host[0].host, "n2");
    strcpy(idle.host[1].host, "n1");
    idle.host[0].claimed = 99;
    lbd_claims_look(&claims, 1, HALF, NOW, &idle);
    ck_assert_uint_eq(idle.generation, 0);
    ck_assert_double_eq(idle.host[0].claimed, 0);
    ask_for("n1", 3, 0, 0);
    ck_assert_int_eq(take(1, a, NOW), 0);
    lbd_claims_look(&claims, 2, HALF, NOW, &idle);
    ck_assert_double_eq(idle.host[0].claimed, 0);
    ck_assert_uint_eq(idle.host[0].held_cpus, 0);
    ck_assert_double_eq(idle.host[1].claimed, 3);
    ck_assert_uint_eq(idle.host[1].held_cpus, 3);
    ask_for("n1", 1, 0, 0);
    ck_assert_int_eq(take(2, b, NOW), 1);
    ask_for("n1", 1, idle.generation, 0);
    ck_assert_int_eq(take(2, b, NOW), 0);
    end_child(a);
    end_child(b);
    lbd_claims_fini(&claims);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("claims");

    tcase_add_test(tc, the_second_sees_the_first);
    tcase_add_test(tc, it_fades_and_ends_with_its_process);
    tcase_add_test(tc, cpus_are_held_within_a_job);
    tcase_add_test(tc, nobody_fills_it);
    tcase_add_test(tc, a_process_that_has_ended_claims_nothing);
    tcase_add_test(tc, those_of_other_hosts_count_alike);
    tcase_add_test(tc, other_hosts_do_not_fill_it);
    tcase_add_test(tc, those_of_this_host_are_told);
    tcase_add_test(tc, more_hosts_than_a_message_names);
    tcase_add_test(tc, a_look_at_idle_hosts);
    return suite_run("lbd/claims", tc);
}
