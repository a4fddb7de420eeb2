/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of the plugin in slurmstepd. */
#include "tests/unit/slurm_plugin/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "slurm_plugin/plugin.h"
#include "tests/unit/slurm_plugin/spank_stub.h"

/* One for all tests, removed at the end: some of them are in no position to remove theirs. */
static char base[] = "/tmp/lb-plugin-XXXXXX";
char folder[64], balancer[96], about[96];

void load(const char *trap, int status, const char *option)
{
    char arg[2][128], *argv[] = {arg[0], arg[1]};
    FILE *f;

    snprintf(folder, sizeof(folder), "%s/XXXXXX", base);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chmod(folder, 0777), 0);
    snprintf(balancer, sizeof(balancer), "%s/balancer", folder);
    snprintf(about, sizeof(about), "%s/about", folder);
    f = fopen(balancer, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f,
            "#!/bin/sh\ndir=$2 status=%d\n%smkdir -m 700 \"$dir\" || exit 1\n: > "
            "\"$dir/balancer.sock\"\n"
            "{ echo \"args $*\"; env | sed 's/^/env /'; cat /proc/self/status; echo cwd $(pwd); "
            "umask;\n"
            "  ls -1 /proc/$$/fd; } > %s.new\nmv %s.new %s\n"
            "while :; do sleep 0.02; done\n",
            status, trap, about, about, about);
    ck_assert_int_eq(fchmod(fileno(f), 0755), 0);
    ck_assert_int_eq(fclose(f), 0);
    snprintf(arg[0], sizeof(arg[0]), "balancer=%s", balancer);
    snprintf(arg[1], sizeof(arg[1]), "socket=%s/none.sock", folder);
    memset(&lbs_plugin, 0, sizeof(lbs_plugin));
    ck_assert_int_eq(slurm_spank_init(NULL, 2, argv), ESPANK_SUCCESS);
    ck_assert(!lbs_plugin.off);
    if (option)
        ck_assert_int_eq(stub.option.cb(0, option, 1), 0);
}

bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

void await_balancer(void)
{
    int64_t end_ns = lbx_clock_mono_ns() + PATIENCE_NS;

    while (!exists(about)) {
        ck_assert_msg(lbx_clock_mono_ns() < end_ns, "the balancer never ran");
        lbx_clock_sleep_ns(5 * LBX_NS_PER_MS);
    }
}

bool tells(const char *line)
{
    char text[512];
    bool found = false;
    FILE *f = fopen(about, "r");

    ck_assert_ptr_nonnull(f);
    while (fgets(text, sizeof(text), f)) {
        text[strcspn(text, "\n")] = '\0';
        found = found || strcmp(text, line) == 0;
    }
    fclose(f);
    return found;
}

int count(const char *prefix)
{
    char text[512];
    int n = 0;
    FILE *f = fopen(about, "r");

    ck_assert_ptr_nonnull(f);
    while (fgets(text, sizeof(text), f))
        n += strncmp(text, prefix, strlen(prefix)) == 0;
    fclose(f);
    return n;
}

uint64_t hexadecimal(const char *name)
{
    char text[512];
    uint64_t value = UINT64_MAX;
    FILE *f = fopen(about, "r");

    ck_assert_ptr_nonnull(f);
    while (fgets(text, sizeof(text), f))
        if (strncmp(text, name, strlen(name)) == 0)
            value = strtoull(text + strlen(name), NULL, 16);
    fclose(f);
    return value;
}

void begin(void)
{
    ck_assert_int_eq(slurm_spank_user_init(NULL, 0, NULL), ESPANK_SUCCESS);
    ck_assert_int_eq(slurm_spank_task_post_fork(NULL, 0, NULL), ESPANK_SUCCESS);
}

void end_tasks(void)
{
    for (uint32_t i = 0; i < stub.local_tasks; i++)
        ck_assert_int_eq(slurm_spank_task_exit(NULL, 0, NULL), ESPANK_SUCCESS);
}

void end_step(void)
{
    ck_assert_int_eq(slurm_spank_exit(NULL, 0, NULL), ESPANK_SUCCESS);
}

void assert_no_child(void)
{
    pid_t pid = waitpid(-1, NULL, WNOHANG);
    bool late = pid == 0;

    /* On a machine that is busy one that was killed may outlive the plugin's deadline; none lives on, and none that was dead
     * by then is left. */
    for (int i = 0; pid == 0 && i < 1000; i++) {
        usleep(10000);
        pid = waitpid(-1, NULL, WNOHANG);
    }
    if (late && pid > 0)
        pid = waitpid(-1, NULL, WNOHANG);
    ck_assert_int_eq(pid, -1);
    ck_assert_int_eq(errno, ECHILD);
}

int run_suite(Suite *s)
{
    SRunner *r;
    char text[64];
    int failed;

    if (!mkdtemp(base) || chmod(base, 0755) < 0)
        return 99;
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    snprintf(text, sizeof(text), "rm -rf %s", base);
    if (system(text) != 0)
        fprintf(stderr, "%s is left\n", base);
    return failed != 0;
}
