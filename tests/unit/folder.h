/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder for the files of a test. */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

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
