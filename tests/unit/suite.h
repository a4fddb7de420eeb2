/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main of a test: cases, and a suite of them that is run.
 *     TCase *tc = suite_case("wave");
 *     tcase_add_test(tc, ...);
 *     return suite_run("room/wave", tc);
 */
#ifndef TESTS_UNIT_SUITE_H
#define TESTS_UNIT_SUITE_H

#include <stdlib.h>

#include <check.h>

/* A test of it may take 60 s, which one that hangs exceeds also where machines are busy or valgrind looks on. */
static inline TCase *suite_case(const char *name)
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, 60);
    return tc;
}

/* Run the suite of these cases, of which the last is NULL; the exit status of the program. */
static inline int suite_run_cases(const char *name, TCase *const *cases)
{
    Suite *suite = suite_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    for (; *cases; cases++)
        suite_add_tcase(suite, *cases);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define suite_run(name, ...) suite_run_cases(name, (TCase *const[]){__VA_ARGS__, NULL})

#endif
