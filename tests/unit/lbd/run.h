/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of lbd share: a folder for files, and the end of main. */
#ifndef TESTS_UNIT_LBD_RUN_H
#define TESTS_UNIT_LBD_RUN_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int run_tests(const char *name, TCase *tc)
{
    Suite *suite = suite_create(name);
    SRunner *runner;
    int failed;

    tcase_set_timeout(tc, 60);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A new folder, to be removed by remove_folder. */
static inline void make_folder(char path[64])
{
    snprintf(path, 64, "/tmp/lbtest.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(path));
}

static inline void remove_folder(const char *path)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", path);
    ck_assert_int_eq(system(command), 0);
}

static inline void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

#endif
