/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancers as lbd knows them: by what they told, also when they are gone, and no longer than that. */
#include "lbd/speakers.h"

#include <unistd.h>

#include "tests/unit/child.h"
#include "tests/unit/suite.h"

static struct lbd_speakers speakers;
static struct lbd_speaker last;
static int over;

static void on_over(void *data, const struct lbd_speaker *k)
{
    ck_assert_ptr_eq(data, &over);
    last = *k;
    over++;
}

static void look(void)
{
    lbd_speakers_look(&speakers, on_over, &over);
}

static void tear_down(void)
{
    lbd_speakers_fini(&speakers);
}

START_TEST(one_that_is_gone_is_known_by_its_number)
{
    pid_t pid = begin_child();
    const struct lbd_speaker *k;

    ck_assert_ptr_null(lbd_speakers_find(&speakers, 1000, pid));
    lbd_speakers_know(&speakers, 7, 1, 1000, pid);
    end_child(pid);
    k = lbd_speakers_find(&speakers, 1000, pid);
    ck_assert_ptr_nonnull(k);
    ck_assert_uint_eq(k->jobid, 7);
    ck_assert_uint_eq(k->stepid, 1);
    ck_assert_ptr_null(lbd_speakers_find(&speakers, 1001, pid));
    speakers.speaker[0].pid = getpid(); /* its number is another's now, who lives */
    speakers.speaker[0].started = 1;
    ck_assert_ptr_null(lbd_speakers_find(&speakers, 1000, getpid()));
}
END_TEST

START_TEST(it_is_over_when_it_was_gone_twice)
{
    pid_t a = begin_child(), b = begin_child();

    lbd_speakers_know(&speakers, 7, 0, 1000, a);
    lbd_speakers_know(&speakers, 8, 0, 1001, b);
    look();
    end_child(a);
    look();
    ck_assert_int_eq(over, 0);
    ck_assert_ptr_nonnull(lbd_speakers_find(&speakers, 1000, a));
    look();
    ck_assert_int_eq(over, 1);
    ck_assert_uint_eq(last.jobid, 7);
    ck_assert_uint_eq(last.uid, 1000);
    ck_assert_ptr_null(lbd_speakers_find(&speakers, 1000, a));
    look();
    ck_assert_int_eq(over, 1);
    end_child(b);
    look();
    look();
    ck_assert_int_eq(over, 2);
    ck_assert_uint_eq(speakers.n, 0);
}
END_TEST

START_TEST(a_step_has_one_speaker_until_it_is_gone)
{
    pid_t a = begin_child(), b = begin_child();

    lbd_speakers_know(&speakers, 7, 0, 1000, a);
    lbd_speakers_know(&speakers, 7, 0, 1000, b); /* another process of the step */
    ck_assert_uint_eq(speakers.n, 1);
    ck_assert_int_eq(speakers.speaker[0].pid, a);
    end_child(a);
    look();
    lbd_speakers_know(&speakers, 7, 0, 1000, b);
    ck_assert_int_eq(speakers.speaker[0].pid, b);
    look();
    look();
    ck_assert_int_eq(over, 0); /* it lives */
    end_child(b);
    lbd_speakers_know(&speakers, 9, 0, 1000, b); /* gone before it was known */
    ck_assert_uint_eq(speakers.n, 1);
}
END_TEST

START_TEST(nobody_fills_it)
{
    for (uint32_t i = 0; i < LBD_SPEAKERS_MAX + 10; i++)
        lbd_speakers_know(&speakers, 100 + i, 0, 1000, getpid());
    ck_assert_uint_eq(speakers.n, LBD_SPEAKERS_MAX);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("speakers");

    tcase_add_checked_fixture(tc, NULL, tear_down);
    tcase_add_test(tc, one_that_is_gone_is_known_by_its_number);
    tcase_add_test(tc, it_is_over_when_it_was_gone_twice);
    tcase_add_test(tc, a_step_has_one_speaker_until_it_is_gone);
    tcase_add_test(tc, nobody_fills_it);
    return suite_run("lbd/speakers", tc);
}
