/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks on their way: who sees what of whom, how it fades, and when it is forgotten. */
#include "lbd/claims.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/unit/lbd/run.h"

#define HALF (10 * LBX_NS_PER_S)
#define NOW (1000 * LBX_NS_PER_S)

static struct lbd_claims claims;
static struct lbw_local_claims want, got;

static pid_t begin(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    ck_assert_int_gt(pid, 0);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

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
    pid_t a = begin(), b = begin();

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
    end(a);
    end(b);
    lbd_claims_fini(&claims);
}
END_TEST

START_TEST(it_fades_and_ends_with_its_process)
{
    pid_t a = begin();

    ask_for("n1", 4, 0, 7);
    ck_assert_int_eq(take(1, a, NOW), 0);
    ck_assert_int_eq(take(1, getpid(), NOW + HALF), 1);
    ck_assert_double_eq(got.claim[0].tasks, 2);
    ck_assert_uint_eq(got.claim[0].cpus, 4); /* those are held as long as it runs */
    ck_assert_int_eq(take(1, getpid(), NOW + 2 * HALF), 1);
    ck_assert_double_eq(got.claim[0].tasks, 1);
    end(a);
    ck_assert_int_eq(take(1, getpid(), NOW + 3 * HALF), 0);
    ck_assert_uint_eq(claims.n, 1);
    lbd_claims_fini(&claims);
}
END_TEST

START_TEST(cpus_are_held_within_a_job)
{
    pid_t a = begin();

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
    end(a);
    lbd_claims_fini(&claims);
}
END_TEST

START_TEST(nobody_fills_it)
{
    pid_t child[LBD_CLAIMS_EACH_MAX + 1];

    for (size_t i = 0; i <= LBD_CLAIMS_EACH_MAX; i++) {
        child[i] = begin();
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
        end(child[i]);
    lbd_claims_fini(&claims);
}
END_TEST

START_TEST(a_process_that_has_ended_claims_nothing)
{
    pid_t a = begin();

    end(a);
    ask_for("n1", 1, 0, 7);
    ck_assert_int_eq(take(1, a, NOW), 0);
    ck_assert_uint_eq(claims.n, 0);
    lbd_claims_fini(&claims);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("claims");

    tcase_add_test(tc, the_second_sees_the_first);
    tcase_add_test(tc, it_fades_and_ends_with_its_process);
    tcase_add_test(tc, cpus_are_held_within_a_job);
    tcase_add_test(tc, nobody_fills_it);
    tcase_add_test(tc, a_process_that_has_ended_claims_nothing);
    return run_tests("lbd/claims", tc);
}
