/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's idle hosts as lb-slurm tells them: who waits, what is known when it fails, and partitions. */
#include "lbd/vacant.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

static char folder[64], path[96];
static uv_loop_t loop;
static struct lbd_vacant *vacant;
static int answers;

static void on_answer(void *data)
{
    (void)data;
    answers++;
}

/* lb-slurm: a shell that does this for each line that it reads. */
static void start(const char *each)
{
    char text[512];

    make_folder(folder);
    snprintf(text, sizeof(text), "#!/bin/sh\nwhile read line; do %s; done\n", each);
    write_file(folder, "lb-slurm", text);
    snprintf(path, sizeof(path), "%s/lb-slurm", folder);
    ck_assert_int_eq(chmod(path, 0755), 0);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(lbd_vacant_create(&loop, path, on_answer, NULL, &vacant), 0);
    answers = 0;
}

static void end(void)
{
    lbd_vacant_stop(vacant);
    lbd_vacant_stop(vacant); /* once more is nothing */
    uv_run(&loop, UV_RUN_DEFAULT);
    lbd_vacant_destroy(vacant);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* none is left, nor as a zombie */
    remove_folder(folder);
}

static int64_t ask(void)
{
    int64_t since_ns = lbd_vacant_want(vacant, lbx_clock_mono_ns());

    while (!lbd_vacant_has_answered(vacant, since_ns))
        uv_run(&loop, UV_RUN_ONCE);
    return since_ns;
}

#define LIST                                                                          \
    "echo 'n1 4 *main,second'; echo 'n2 2 second'; echo 'n3 8 *main'; echo garbage; " \
    "echo 'n4 0 *main'; echo 'n5 4 '; echo ."

START_TEST(hosts_and_partitions)
{
    const struct lbd_vacant_host *h;
    int64_t since_ns;
    size_t n;

    start(LIST);
    ck_assert_int_eq(lbd_vacant_at_ns(vacant), 0);
    since_ns = ask();
    ck_assert_int_ge(lbd_vacant_at_ns(vacant), since_ns);
    ck_assert_int_eq(answers, 1);
    h = lbd_vacant_list(vacant, &n);
    ck_assert_uint_eq(n, 3); /* without what is not understood */
    ck_assert_str_eq(h[0].name, "n1");
    ck_assert_uint_eq(h[2].cpus, 8);
    ck_assert(lbd_vacant_is_in(&h[0], "") && !lbd_vacant_is_in(&h[1], "") &&
              lbd_vacant_is_in(&h[2], ""));
    ck_assert(lbd_vacant_is_in(&h[0], "main") && lbd_vacant_is_in(&h[0], "second") &&
              lbd_vacant_is_in(&h[1], "second") && !lbd_vacant_is_in(&h[2], "second"));
    ck_assert(!lbd_vacant_is_in(&h[0], "mai") && !lbd_vacant_is_in(&h[0], "seconds") &&
              !lbd_vacant_is_in(&h[0], "*main") && !lbd_vacant_is_in(&h[0], "main,second"));
    end();
}
END_TEST

/* Who asks a moment later has the answer, and who asks later than that gets a new one. */
START_TEST(one_question_for_many)
{
    int64_t now_ns;

    start(LIST);
    ask();
    now_ns = lbd_vacant_at_ns(vacant) + LBX_NS_PER_MS;
    ck_assert(lbd_vacant_has_answered(vacant, lbd_vacant_want(vacant, now_ns)));
    now_ns = lbd_vacant_at_ns(vacant) + LBX_NS_PER_S;
    ck_assert(!lbd_vacant_has_answered(vacant, lbd_vacant_want(vacant, now_ns)));
    end();
}
END_TEST

/* What was known stays known, under its own time. */
START_TEST(it_fails)
{
    int64_t at_ns;
    size_t n;

    start("[ ! -e \"$0.no\" ] || { echo '! no answer'; continue; }; >\"$0.no\"; " LIST);
    ask();
    at_ns = lbd_vacant_at_ns(vacant);
    usleep(50000); /* else the question is the same one */
    ask();
    ck_assert_int_ge(answers, 2);
    ck_assert_int_eq(lbd_vacant_at_ns(vacant), at_ns);
    ck_assert(lbd_vacant_list(vacant, &n) != NULL);
    ck_assert_uint_eq(n, 3);
    end();
}
END_TEST

/* One that is not there or ends is a failure like others, and is not started again and again. */
START_TEST(it_ends)
{
    size_t n;

    start("exit 1");
    ask();
    ck_assert_int_eq(lbd_vacant_at_ns(vacant), 0);
    lbd_vacant_list(vacant, &n);
    ck_assert_uint_eq(n, 0);
    usleep(50000);
    ask();
    ck_assert_int_ge(answers, 2);
    end();
    start(LIST);
    unlink(path);
    ask();
    ck_assert_int_eq(lbd_vacant_at_ns(vacant), 0);
    ck_assert_int_eq(answers, 1);
    end();
}
END_TEST

/* The rest of a list that breaks off is not taken for all of it. */
START_TEST(it_breaks_off)
{
    size_t n;

    start("echo 'n1 4 *main'; exit 1");
    ask();
    lbd_vacant_list(vacant, &n);
    ck_assert_uint_eq(n, 0);
    end();
}
END_TEST

/* One that neither answers nor ends is killed. */
START_TEST(it_hangs)
{
    start("kill -STOP $$");
    ask();
    ck_assert_int_eq(lbd_vacant_at_ns(vacant), 0);
    ck_assert_int_eq(answers, 1);
    end();
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("vacant");

    tcase_add_test(tc, hosts_and_partitions);
    tcase_add_test(tc, one_question_for_many);
    tcase_add_test(tc, it_fails);
    tcase_add_test(tc, it_ends);
    tcase_add_test(tc, it_breaks_off);
    tcase_add_test(tc, it_hangs);
    return suite_run("lbd/vacant", tc);
}
