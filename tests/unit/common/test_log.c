/* SPDX-License-Identifier: BSD-3-Clause */
/* common/log: one line an event, whatever is in it. */
#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/prop.h"
#include "tests/unit/suite.h"

static char got[8192];

/* stderr goes to a file while a line is logged; its text is in `got`. */

#define LOGGED(...)                   \
    do {                              \
        int saved_ = capture_begin(); \
        lbx_log(__VA_ARGS__);         \
        capture_end(saved_);          \
    } while (0)

static int capture_begin(void)
{
    FILE *f = tmpfile();
    int saved = dup(STDERR_FILENO);

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(saved, 0);
    ck_assert_int_ge(dup2(fileno(f), STDERR_FILENO), 0);
    fclose(f);
    return saved;
}

static void capture_end(int saved)
{
    ssize_t n = pread(STDERR_FILENO, got, sizeof(got) - 1, 0);

    ck_assert_int_ge(n, 0);
    got[n] = '\0';
    ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
    close(saved);
}

static void setup(void)
{
    unsetenv("JOURNAL_STREAM");
    lbx_log_open("lbtest", LBX_LOG_INFO);
}

START_TEST(form_for_people)
{
    int year, pid, at = 0;

    LOGGED(LBX_LOG_ERROR, "cannot %s", "go on");
    ck_assert_int_eq(
        sscanf(got, "%4d-%*2d-%*2dT%*2d:%*2d:%*2d.%*3dZ lbtest[%d]: %n", &year, &pid, &at), 2);
    ck_assert_int_eq(pid, (int)getpid());
    ck_assert_str_eq(got + at, "error: cannot go on\n");
    LOGGED(LBX_LOG_WARNING, "w");
    ck_assert_ptr_nonnull(strstr(got, "]: warning: w\n"));
    LOGGED(LBX_LOG_INFO, "i");
    ck_assert_ptr_nonnull(strstr(got, "]: i\n"));
}
END_TEST

START_TEST(levels_are_dropped)
{
    LOGGED(LBX_LOG_DEBUG, "d");
    ck_assert_str_eq(got, "");
    lbx_log_open("lbtest", LBX_LOG_DEBUG);
    LOGGED(LBX_LOG_DEBUG, "d");
    ck_assert_ptr_nonnull(strstr(got, "]: d\n"));
    lbx_log_open("lbtest", LBX_LOG_ERROR);
    LOGGED(LBX_LOG_WARNING, "w");
    ck_assert_str_eq(got, "");
}
END_TEST

START_TEST(nobody_forges_a_line)
{
    char all[256], *text;
    size_t n = 0;

    for (int c = 1; c < 256; c++)
        all[n++] = (char)c;
    all[n] = '\0';
    LOGGED(LBX_LOG_INFO, "%s", all);
    ck_assert_ptr_eq(strchr(got, '\n'), got + strlen(got) - 1);
    text = strstr(got, "]: ");
    ck_assert_ptr_nonnull(text);
    for (text += 3; text[1]; text++)
        ck_assert_msg((unsigned char)*text >= 0x20 && *text != 0x7f, "byte %d", *text);
    LOGGED(LBX_LOG_INFO, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xc2\x9b"
                         "31m\xc2\x85\xc2\xb5");
    ck_assert_ptr_nonnull(strstr(got, "]: gr\xc3\xbc\xc3\x9f \xe2\x82\xac ??31m??\xc2\xb5\n"));
}
END_TEST

/* Every length round the end of the line, and an ident longer than a line. */
START_TEST(too_long_is_cut)
{
    char text[3000];

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    for (size_t n = 900; n < 1100; n++) {
        LOGGED(LBX_LOG_INFO, "%.*s", (int)n, text);
        ck_assert_uint_le(strlen(got), 1024);
        ck_assert_ptr_eq(strchr(got, '\n'), got + strlen(got) - 1);
    }
    ck_assert_uint_ge(strlen(got), 1000);
    lbx_log_open(text, LBX_LOG_INFO);
    LOGGED(LBX_LOG_INFO, "seen");
    ck_assert_uint_le(strlen(got), 1024);
    ck_assert_ptr_nonnull(strstr(got, "]: seen\n"));
}
END_TEST

/* The priority in front only if stderr is the stream that the variable names. */
START_TEST(journal)
{
    char stream[64];
    struct stat st;
    int saved = capture_begin();

    ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
    snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
             (unsigned long long)st.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    lbx_log(LBX_LOG_WARNING, "to the journal");
    capture_end(saved);
    ck_assert_str_eq(got, "<4>to the journal\n");
    setenv("JOURNAL_STREAM", "1:2", 1);
    LOGGED(LBX_LOG_WARNING, "to a file");
    ck_assert_ptr_nonnull(strstr(got, "]: warning: to a file\n"));
    setenv("JOURNAL_STREAM", "garbage", 1);
    LOGGED(LBX_LOG_WARNING, "to a file");
    ck_assert_ptr_nonnull(strstr(got, "]: warning: to a file\n"));
}
END_TEST

START_TEST(keeps_errno_when_it_cannot_write)
{
    int saved = dup(STDERR_FILENO);

    close(STDERR_FILENO);
    errno = ENOTTY;
    lbx_log(LBX_LOG_ERROR, "nowhere");
    ck_assert_int_eq(errno, ENOTTY);
    ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
    close(saved);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("log");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, form_for_people);
    tcase_add_test(tc, levels_are_dropped);
    tcase_add_test(tc, nobody_forges_a_line);
    tcase_add_test(tc, too_long_is_cut);
    tcase_add_test(tc, journal);
    tcase_add_test(tc, keeps_errno_when_it_cannot_write);
    return suite_run("common/log", tc);
}
