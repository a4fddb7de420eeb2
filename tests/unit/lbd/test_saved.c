/* SPDX-License-Identifier: BSD-3-Clause */
/* The saved benchmark, and looking for jobs. */
#include "lbd/node/saved.h"

#include <errno.h>
#include <sys/stat.h>

#include "lbd/node/busy.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

static char dir[64], path[128];

static void set_up(void)
{
    make_folder(dir);
    snprintf(path, sizeof(path), "%s/benchmark", dir);
}

static void tear_down(void)
{
    remove_folder(dir);
}

static struct lbd_saved an_example(void)
{
    struct lbd_saved s = {
        .boot = "0123-abc", .model = "Some Processor (R) @ 3 GHz", .at_ns = 12345};

    s.result = (struct lbd_bench_result){.hardware = 1.1,
                                         .share = .4,
                                         .hardware_s = 1 / 1.1,
                                         .scaling_ratio = .7,
                                         .cpu_ns = 5,
                                         .wall_ns = 9,
                                         .quantum_ns = 3000000,
                                         .quota_period_ns = 100000000,
                                         .repetition_ns = 7,
                                         .ncpus = 12,
                                         .topology = {2, 12, 24, 4, UINT64_C(1) << 40}};
    for (int i = 0; i < LBD_KERNELS; i++)
        s.result.kernel[i] = (struct lbd_bench_kernel_result){1e8 / 3 * (i + 1), .01, 1e9 / 7, .02};
    return s;
}

START_TEST(it_comes_back_to_the_last_bit)
{
    struct lbd_saved s = an_example(), t;

    memset(&t, 0, sizeof(t));
    ck_assert_int_eq(lbd_saved_read(path, &t), -ENOENT);
    ck_assert_int_eq(lbd_saved_write(path, &s), 0);
    ck_assert_int_eq(lbd_saved_read(path, &t), 0);
    ck_assert_mem_eq(&s, &t, sizeof(s));
    ck_assert_int_eq(lbd_saved_write("/nonexistent/x", &s), -ENOENT);
}
END_TEST

START_TEST(what_is_cut_or_changed_is_refused_or_sane)
{
    struct lbd_saved s = an_example(), t;
    char text[2048];
    size_t n;
    FILE *f;

    ck_assert_int_eq(lbd_saved_write(path, &s), 0);
    f = fopen(path, "r");
    n = fread(text, 1, sizeof(text), f);
    fclose(f);
    for (size_t cut = 0; cut < n; cut++) {
        f = fopen(path, "w");
        fwrite(text, 1, cut, f);
        fclose(f);
        ck_assert_int_eq(lbd_saved_read(path, &t), -EPROTO);
    }
    for (size_t i = 0; i < n; i++) {
        static const char change[] = "\n -9xe\x01";

        for (size_t k = 0; k < sizeof(change); k++) {
            char old = text[i];

            text[i] = change[k];
            f = fopen(path, "w");
            fwrite(text, 1, n, f);
            fclose(f);
            text[i] = old;
            if (lbd_saved_read(path, &t) == 0) {
                ck_assert_double_gt(t.result.hardware, 0);
                ck_assert_ptr_nonnull(memchr(t.model, 0, sizeof(t.model)));
            }
        }
    }
}
END_TEST

static void process(const char *pid, const char *comm, const char *status)
{
    char folder[256];

    snprintf(folder, sizeof(folder), "%s/%s", dir, pid);
    mkdir(folder, 0755);
    write_file(folder, "comm", comm);
    write_file(folder, "status", status);
}

START_TEST(a_slurmstepd_of_ours_is_a_job)
{
    ck_assert(!lbd_busy_with_job("/nonexistent"));
    process("10", "bash\n", "Name:\tbash\nNSpid:\t10\n");
    process("11", "slurmd\n", "Name:\tslurmd\nNSpid:\t11\n");
    process("self", "slurmstepd\n", "Name:\tslurmstepd\n");
    ck_assert(!lbd_busy_with_job(dir));
    process("12", "slurmstepd\n", "Name:\tslurmstepd\nNSpid:\t12\t3\nNSpgid:\t1\n");
    ck_assert(!lbd_busy_with_job(dir)); /* that of another host in a test cluster */
    process("13", "slurmstepd\n", "Name:\tslurmstepd\nNSpid:\t13\nNSpgid:\t1\t2\n");
    ck_assert(lbd_busy_with_job(dir));
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("saved");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, it_comes_back_to_the_last_bit);
    tcase_add_test(tc, what_is_cut_or_changed_is_refused_or_sane);
    tcase_add_test(tc, a_slurmstepd_of_ours_is_a_job);
    return suite_run("lbd/saved", tc);
}
