/* SPDX-License-Identifier: BSD-3-Clause */
/* A competing load: wants a number of cores, all the time or for a part of each period. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process that wants less than a core computes its part of each such stretch. */
#define STRETCH_NS 20000000
#define SLICE_NS 200000
#define CORES_MAX 64

struct load {
    double cores;    /* wanted, > 0 */
    double period_s; /* 0: always on */
    double duty;     /* part of the period that is on, 0 to 1 */
    double seconds;  /* 0: until killed */
    bool check;      /* only look at the arguments */
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t t_ns)
{
    struct timespec t = {.tv_sec = t_ns / 1000000000, .tv_nsec = t_ns % 1000000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* Compute for a moment: some arithmetic, then a look at the clocks. */
static void compute_slice(void)
{
    int64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + SLICE_NS;
    volatile double x = 1.0;

    do {
        for (int i = 0; i < 2000; i++)
            x = x * 1.0000001 + 1e-9;
    } while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end);
}

/* Want `share` (0 to 1] of a core until end_ns. */
static void want(double share, int64_t end_ns)
{
    while (now_ns(CLOCK_MONOTONIC) < end_ns) {
        int64_t stretch_end = now_ns(CLOCK_MONOTONIC) + STRETCH_NS;
        int64_t cpu_end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (int64_t)(share * (double)STRETCH_NS);

        if (stretch_end > end_ns)
            stretch_end = end_ns;
        while (now_ns(CLOCK_THREAD_CPUTIME_ID) < cpu_end && now_ns(CLOCK_MONOTONIC) < stretch_end)
            compute_slice();
        if (share < 1.0)
            sleep_until(stretch_end);
    }
}

static void run(const struct load *l, double share, int64_t start_ns)
{
    int64_t end_ns = l->seconds > 0 ? start_ns + (int64_t)(l->seconds * 1e9) : INT64_MAX;

    if (l->period_s <= 0) {
        want(share, end_ns);
        return;
    }
    int64_t period_ns = (int64_t)(l->period_s * 1e9);
    int64_t on_ns = (int64_t)(l->duty * l->period_s * 1e9);

    for (int64_t t = start_ns; t < end_ns; t += period_ns) {
        int64_t off = t + on_ns < end_ns ? t + on_ns : end_ns;

        want(share, off);
        sleep_until(t + period_ns < end_ns ? t + period_ns : end_ns);
    }
}

static bool number(const char *text, double low, double high, double *ret)
{
    char *end;
    double x;

    errno = 0;
    x = strtod(text, &end);
    if (errno || end == text || *end || !isfinite(x) || x < low || x > high)
        return false;
    *ret = x;
    return true;
}

static bool arguments(int argc, char **argv, struct load *l)
{
    static const struct option options[] = {
        {"cores", required_argument, NULL, 'c'}, {"period", required_argument, NULL, 'p'},
        {"duty", required_argument, NULL, 'd'},  {"seconds", required_argument, NULL, 's'},
        {"check", no_argument, NULL, 'n'},       {NULL, 0, NULL, 0},
    };
    int c;
    bool ok = true, has_duty = false;

    while (ok && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (c) {
        case 'c':
            ok = number(optarg, 0.001, CORES_MAX, &l->cores);
            break;
        case 'p':
            ok = number(optarg, 0.001, 1e6, &l->period_s);
            break;
        case 'd':
            ok = has_duty = number(optarg, 0.0, 1.0, &l->duty);
            break;
        case 's':
            ok = number(optarg, 0.0, 1e9, &l->seconds);
            break;
        case 'n':
            l->check = true;
            break;
        default:
            return false;
        }
        if (!ok)
            fprintf(stderr, "lb-load: '%s' is out of range\n", optarg);
    }
    if (ok && (optind < argc || l->cores <= 0 || has_duty != (l->period_s > 0))) {
        fprintf(stderr, "lb-load: --cores C [--period S --duty D] [--seconds S]\n");
        return false;
    }
    return ok;
}

int main(int argc, char **argv)
{
    struct load l = {.duty = 1.0};
    int n;
    int64_t start_ns;

    if (!arguments(argc, argv, &l))
        return 2;
    if (l.check)
        return 0;
    n = (int)l.cores;
    if (n < l.cores)
        n++;
    start_ns = now_ns(CLOCK_MONOTONIC);
    for (int i = 1; i < n; i++) {
        pid_t parent = getpid();
        pid_t pid = fork();

        if (pid < 0) {
            perror("lb-load: fork");
            return 1;
        }
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent)
                run(&l, 1.0, start_ns);
            _exit(0);
        }
    }
    run(&l, l.cores - (n - 1), start_ns);
    while (wait(NULL) > 0)
        ;
    return 0;
}
