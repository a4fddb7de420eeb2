/* SPDX-License-Identifier: BSD-3-Clause */
/* Which tasks go where: srun's command line, and the layout. */
#include "slurm_plugin/place.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suite.h"

#define WORDS 16

static char *words[WORDS + 1], text[256];
static const char *variables; /* NAME=VALUE, one */

static char *get(const char *name)
{
    size_t n = strlen(name);

    return variables && strncmp(variables, name, n) == 0 && variables[n] == '='
               ? (char *)variables + n + 1
               : NULL;
}

static void split(const char *line)
{
    char *save = NULL;
    int n = 0;

    snprintf(text, sizeof(text), "%s", line);
    for (char *w = strtok_r(text, " ", &save); w && n < WORDS; w = strtok_r(NULL, " ", &save))
        words[n++] = w;
    words[n] = NULL;
}

static const struct {
    const char *line, *variable, *conflict, *fresh, *lb, *partition;
    uint32_t ntasks, nodes, cpus;
} commands[] = {
    {"srun ./a", NULL, NULL, NULL, NULL, NULL, 0, 0, 0},
    {"srun -n4 -N 2 -c2 ./a", NULL, NULL, NULL, NULL, NULL, 4, 2, 2},
    {"srun --ntasks=4 --nodes 2 --cpus-per-task=2 a", NULL, NULL, NULL, NULL, NULL, 4, 2, 2},
    {"srun -N2-2 -n4 a", NULL, NULL, NULL, NULL, NULL, 4, 2, 0},
    {"srun -lun4 -p second -K -J x --lb=liu,hosts a -w n1", NULL, NULL, NULL, "liu,hosts", "second",
     4, 0, 0},
    {"srun --lb -n2 --lb=none a", NULL, NULL, NULL, "none", NULL, 2, 0, 0},
    {"srun -n4 -- -w", NULL, NULL, NULL, NULL, NULL, 4, 0, 0},
    {"srun --mpi=pmix -o out%j -n4 a -m cyclic", NULL, NULL, NULL, NULL, NULL, 4, 0, 0},
    /* the user's own layout */
    {"srun -n4 -w n1 a", NULL, "-w", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4 --nodelist=n1 a", NULL, "--nodelist=n1", NULL, NULL, NULL, 4, 0, 0},
    {"srun -m cyclic -n4 a", NULL, "-m", NULL, NULL, NULL, 0, 0, 0},
    {"srun -n4 --ntasks-per-node=2 a", NULL, "--ntasks-per-node=2", NULL, NULL, NULL, 4, 0, 0},
    {"srun -xn1 a", NULL, "-xn1", NULL, NULL, NULL, 0, 0, 0},
    {"srun -lw n1 a", NULL, "-lw", NULL, NULL, NULL, 0, 0, 0},
    {"srun -n4 --exclude=n1 a", NULL, "--exclude=n1", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4 --exclusive a", NULL, "--exclusive", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4 --overlap a", NULL, "--overlap", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4 --multi-prog file", NULL, "--multi-prog", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4 -r1 a", NULL, "-r1", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4 -m arbitrary a", NULL, "-m", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4 --gres=gpu:1 a", NULL, "--gres=gpu:1", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4 --het-group=0 a", NULL, "--het-group=0", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4 --threads-per-core=1 a", NULL, "--threads-per-core=1", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4 --bcast=/x --nice -I a", NULL, NULL, "-I", NULL, NULL, 4, 0, 0},
    {"srun -N3 a", NULL, NULL, NULL, NULL, NULL, 0, 3, 0},
    {"srun a", "SLURM_THREADS_PER_CORE=1", "SLURM_THREADS_PER_CORE", NULL, NULL, NULL, 0, 0, 0},
    {"srun a", "SLURM_SRUN_MULTI=1", "SLURM_SRUN_MULTI", NULL, NULL, NULL, 0, 0, 0},
    {"srun a", "SLURM_GPUS_PER_SOCKET=1", NULL, "SLURM_GPUS_PER_SOCKET", NULL, NULL, 0, 0, 0},
    {"srun --exact -n4 a", NULL, NULL, NULL, NULL, NULL, 4, 0, 0},
    {"srun -lv -n4 a", NULL, NULL, NULL, NULL, NULL, 4, 0, 0},
    {"srun --verbose -n4 a", NULL, NULL, NULL, NULL, NULL, 4, 0, 0},
    {"srun a", "SLURM_EXACT=1", NULL, NULL, NULL, NULL, 0, 0, 0},
    {"srun --exact=1 a", NULL, "--exact=1", NULL, NULL, NULL, 0, 0, 0},
    {"srun -N2-4 -n4 a", NULL, "-N2-4", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n 4k a", NULL, "-n", NULL, NULL, NULL, 0, 0, 0},
    {"srun -n-4 a", NULL, "-n-4", NULL, NULL, NULL, 0, 0, 0},
    {"srun -n4 a : -n2 b", NULL, ":", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n4", NULL, "no program", NULL, NULL, NULL, 4, 0, 0},
    {"srun -n", NULL, "-n", NULL, NULL, NULL, 0, 0, 0},
    {"srun --ntask=4 a", NULL, "--ntask=4", NULL, NULL, NULL, 0, 0, 0}, /* getopt would know it */
    {"srun --label=x a", NULL, "--label=x", NULL, NULL, NULL, 0, 0, 0},
    {"srun --of-another-version a", NULL, "--of-another-version", NULL, NULL, NULL, 0, 0, 0},
    {"srun a", "SLURM_HOSTFILE=f", "SLURM_HOSTFILE", NULL, NULL, NULL, 0, 0, 0},
    {"srun a", "SLURM_DISTRIBUTION=plane", "SLURM_DISTRIBUTION", NULL, NULL, NULL, 0, 0, 0},
    {"srun a", "SLURM_NTASKS=7", NULL, NULL, NULL, NULL, 7, 0, 0},
    {"srun -n3 a", "SLURM_NTASKS=7", NULL, NULL, NULL, NULL, 3, 0, 0},
    {"srun a", "SLURM_JOB_NUM_NODES=5", NULL, NULL, NULL, NULL, 0, 5, 0},
    /* which hosts a new job may have */
    {"srun -n4 -C big a", NULL, NULL, "-C", NULL, NULL, 4, 0, 0},
    {"srun -n4 --mem=1G a", NULL, NULL, "--mem=1G", NULL, NULL, 4, 0, 0},
    {"srun -p a,b a", NULL, NULL, "-p", NULL, "a,b", 0, 0, 0},
    {"srun a", "SLURM_RESERVATION=r", NULL, "SLURM_RESERVATION", NULL, NULL, 0, 0, 0},
};

START_TEST(test_command)
{
    struct lbs_command c;

    split(commands[_i].line);
    variables = commands[_i].variable;
    lbs_command_scan(words, get, &c);
    ck_assert_pstr_eq(c.conflict, commands[_i].conflict);
    ck_assert_pstr_eq(c.fresh_conflict, commands[_i].fresh);
    ck_assert_pstr_eq(c.lb, commands[_i].lb);
    ck_assert_pstr_eq(c.partition, commands[_i].partition);
    ck_assert_uint_eq(c.ntasks, commands[_i].ntasks);
    ck_assert_uint_eq(c.nodes, commands[_i].nodes);
    ck_assert_uint_eq(c.cpus, commands[_i].cpus);
    ck_assert_int_eq(c.exact, c.cpus > 0 || (!c.conflict && (strstr(commands[_i].line, "--exact") ||
                                                             get("SLURM_EXACT"))));
    ck_assert_int_eq(c.verbose,
                     strstr(commands[_i].line, "-lv") || strstr(commands[_i].line, "--v"));
    ck_assert_int_eq(c.has_lb, strstr(commands[_i].line, "--lb") != NULL);
}
END_TEST

START_TEST(test_cpus)
{
    static const struct {
        const char *text;
        size_t n;
        unsigned cpus;
    } cases[] = {
        {"4", 0, 4},          {"4", 1, 0},           {"4(x2),3", 1, 4}, {"4(x2),3", 2, 3},
        {"4(x2),3", 3, 0},    {"4(x2)3", 2, 0},      {"4(x0),3", 0, 0}, {"4(x", 0, 0},
        {"", 0, 0},           {"-4", 0, 0},          {"x", 0, 0},       {"1,2,3(x9)", 11, 0},
        {"1,2,3(x9)", 10, 3}, {"99999999999", 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ck_assert_msg(lbs_place_cpus(cases[i].text, cases[i].n) == cases[i].cpus, "%s %zu",
                      cases[i].text, cases[i].n);
}
END_TEST

static struct lbs_slot slot[8];

/* speeds: of one task each; room for `most` on each. */
static void fill(const double *speed, size_t n, uint32_t most)
{
    memset(slot, 0, sizeof(slot));
    for (size_t i = 0; i < n; i++)
        slot[i] = (struct lbs_slot){
            .core_speed = speed[i], .capacity = speed[i], .most = most, .tasks = 99};
}

static const struct {
    double speed[4];
    uint32_t ntasks, nhosts, most;
    int rc;
    uint32_t tasks[4];
} layouts[] = {
    {{.4, .4, .4, .4}, 4, 0, 4, 0, {1, 1, 1, 1}},
    {{.4, .4, .4, .4}, 8, 4, 4, 0, {2, 2, 2, 2}},
    {{.4, .4, .4, .1}, 4, 0, 4, 0, {2, 1, 1, 0}},
    {{.4, .4, .4, .1}, 4, 4, 4, 0, {1, 1, 1, 1}},
    {{.1, .4, .4, .2}, 3, 3, 4, 0, {0, 1, 1, 1}}, /* the best three */
    {{.1, .4, .4, .2}, 2, 2, 4, 0, {0, 1, 1, 0}},
    {{.4, .2, .2, .2}, 10, 4, 4, 0, {4, 2, 2, 2}},
    {{.4, .2, .1, .1}, 8, 0, 4, 0, {4, 2, 1, 1}},
    {{.4, .2, .1, .1}, 8, 0, 2, 0, {2, 2, 2, 2}}, /* capped by CPUs */
    {{.4, .2, .1, .1}, 9, 0, 2, -ENOSPC, {0}},
    {{.4, .2, .1, .1}, 0, 0, 4, -EINVAL, {0}},
    {{.4, .2, .1, .1}, 3, 4, 4, -EINVAL, {0}},
    {{.4, .2, .1, .1}, 9, 5, 4, -EINVAL, {0}},
};

START_TEST(test_layout)
{
    fill(layouts[_i].speed, 4, layouts[_i].most);
    ck_assert_int_eq(lbs_layout(slot, 4, layouts[_i].ntasks, layouts[_i].nhosts), layouts[_i].rc);
    for (size_t i = 0; i < 4 && layouts[_i].rc == 0; i++)
        ck_assert_msg(slot[i].tasks == layouts[_i].tasks[i], "slot %zu: %u", i, slot[i].tasks);
}
END_TEST

/* A host of several cores is filled before its cores are shared, and not before another whole one. */
START_TEST(test_layout_cores)
{
    fill((const double[]){1, 1, .5}, 3, 8);
    slot[0].capacity = 4;
    slot[1].capacity = 2;
    ck_assert_int_eq(lbs_layout(slot, 3, 6, 0), 0);
    ck_assert_uint_eq(slot[0].tasks, 4);
    ck_assert_uint_eq(slot[1].tasks, 2);
    ck_assert_uint_eq(slot[2].tasks, 0);
}
END_TEST

/* Ten steps of one task that begin at once, each beside what those before it have claimed. */
START_TEST(test_layout_burst)
{
    uint32_t got[4] = {0};

    fill((const double[]){.4, .4, .4, .1}, 4, 4);
    for (int step = 0; step < 10; step++) {
        ck_assert_int_eq(lbs_layout(slot, 4, 1, 0), 0);
        for (int i = 0; i < 4; i++) {
            got[i] += slot[i].tasks;
            slot[i].claimed = got[i];
            slot[i].most = 4 - got[i];
        }
    }
    for (int i = 0; i < 3; i++)
        ck_assert_msg(got[i] == 3U + (i == 0 && got[3] == 0), "slot %d: %u", i, got[i]);
    ck_assert_uint_eq(got[0] + got[1] + got[2] + got[3], 10);
}
END_TEST

/* The best pace that any layout has; the plain one is one of them. */
static double best_pace(size_t n, uint32_t left, size_t at)
{
    double best = 0;

    if (at + 1 == n) {
        slot[at].tasks = left;
        return left > slot[at].most ? 0 : lbs_layout_pace(slot, n);
    }
    for (uint32_t k = 0; k <= left && k <= slot[at].most; k++) {
        double pace;

        slot[at].tasks = k;
        pace = best_pace(n, left - k, at + 1);
        if (pace > best)
            best = pace;
    }
    return best;
}

START_TEST(test_layout_is_best)
{
    srand(4711); /* the same cases in each run */
    for (int round = 0; round < 300; round++) {
        size_t n = 1 + (size_t)rand() % 4;
        uint32_t ntasks = 1 + (uint32_t)rand() % 9;
        double speed[4], pace;

        for (size_t i = 0; i < n; i++)
            speed[i] = (1 + rand() % 20) / 20.;
        fill(speed, n, 9);
        for (size_t i = 0; i < n; i++)
            slot[i].capacity *= 1 + rand() % 3;
        ck_assert_int_eq(lbs_layout(slot, n, ntasks, 0), 0);
        pace = lbs_layout_pace(slot, n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) /* half the speed in all: half the tasks or fewer */
                if (slot[j].core_speed * 2 <= slot[i].core_speed &&
                    slot[j].capacity * 2 < slot[i].capacity)
                    ck_assert_msg(slot[j].tasks * 2 <= slot[i].tasks, "round %d", round);
        ck_assert_msg(pace >= lbs_layout_plain_pace(slot, n, ntasks) - 1e-12, "round %d", round);
        ck_assert_msg(pace >= best_pace(n, ntasks, 0) - 1e-12, "round %d", round);
    }
}
END_TEST

/* More than is written at once. */
START_TEST(test_hostfile)
{
    static struct lbs_slot many[3] = {{.tasks = 5000}, {.tasks = 0}, {.tasks = 1000}};
    size_t lines[3] = {0};
    char line[LBS_HOST_MAX + 2];
    int fd;
    FILE *f;

    for (int i = 0; i < 3; i++)
        snprintf(many[i].host, sizeof(many[i].host), "a-host-with-a-long-name-%d", i);
    fd = lbs_place_hostfile(many, 3);
    ck_assert_int_ge(fd, 0);
    f = fdopen(fd, "r");
    ck_assert_ptr_nonnull(f);
    rewind(f);
    while (fgets(line, sizeof(line), f)) {
        int i = lines[2] > 0 || lines[0] == many[0].tasks ? 2 : 0; /* in the order of the slots */

        ck_assert_ptr_nonnull(strchr(line, '\n'));
        *strchr(line, '\n') = '\0';
        ck_assert_str_eq(line, many[i].host);
        lines[i]++;
    }
    fclose(f);
    ck_assert_uint_eq(lines[0], many[0].tasks);
    ck_assert_uint_eq(lines[2], many[2].tasks);
}
END_TEST

int main(void)
{
    TCase *t = suite_case("all");

    tcase_add_loop_test(t, test_command, 0, (int)(sizeof(commands) / sizeof(*commands)));
    tcase_add_test(t, test_cpus);
    tcase_add_loop_test(t, test_layout, 0, (int)(sizeof(layouts) / sizeof(*layouts)));
    tcase_add_test(t, test_layout_cores);
    tcase_add_test(t, test_layout_burst);
    tcase_add_test(t, test_layout_is_best);
    tcase_add_test(t, test_hostfile);
    return suite_run("slurm_plugin/place", t);
}
