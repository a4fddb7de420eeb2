/* SPDX-License-Identifier: BSD-3-Clause */
/* Is this host slower than it was? */
#include "lbd/node/health.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT_NAME "lbd-benchmarks-1"
#define LINE_BYTES 512

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double usual_hz(const struct lbd_health *h, int kernel)
{
    double hz[LBD_HEALTH_MAX];

    for (size_t i = 0; i < h->n; i++)
        hz[i] = h->hz[i][kernel];
    qsort(hz, h->n, sizeof(hz[0]), compare_doubles);
    return hz[h->n / 2];
}

void lbd_health_judge(const struct lbd_health *h, const struct lbd_bench_result *r,
                      struct lbd_health_verdict *ret)
{
    struct lbd_health_verdict v = {.ratio = 1};

    for (int i = 0; i < LBD_KERNELS && h->n >= LBD_HEALTH_LEAST; i++) {
        double ratio = r->kernel[i].ops_hz / usual_hz(h, i);

        if (ratio < v.ratio) {
            v.ratio = ratio;
            v.kernel = i;
        }
    }
    v.slow = v.ratio < LBD_HEALTH_SLOW;
    *ret = v;
}

void lbd_health_add(struct lbd_health *h, const struct lbd_bench_result *r)
{
    if (h->n == LBD_HEALTH_MAX) {
        memmove(h->hz, h->hz + 1, (LBD_HEALTH_MAX - 1) * sizeof(h->hz[0]));
        h->n--;
    }
    for (int i = 0; i < LBD_KERNELS; i++)
        h->hz[h->n][i] = r->kernel[i].ops_hz;
    h->n++;
}

/* A line of numbers, one a kernel. */
static bool parse_line(const char *line, double *ret_hz)
{
    char *end;

    for (int i = 0; i < LBD_KERNELS; i++) {
        ret_hz[i] = strtod(line, &end);
        if (end == line || !isfinite(ret_hz[i]) || ret_hz[i] <= 0)
            return false;
        line = end;
    }
    return *line == '\n' && line[1] == '\0';
}

void lbd_health_read(const char *path, const char *model, struct lbd_health *ret)
{
    char line[LINE_BYTES], title[LINE_BYTES];
    FILE *f = fopen(path, "re");
    bool good;

    memset(ret, 0, sizeof(*ret));
    snprintf(ret->model, sizeof(ret->model), "%s", model);
    snprintf(title, sizeof(title), FORMAT_NAME " %s\n", ret->model);
    if (!f)
        return;
    good = fgets(line, sizeof(line), f) && strcmp(line, title) == 0;
    while (good && ret->n < LBD_HEALTH_MAX && fgets(line, sizeof(line), f)) {
        good = parse_line(line, ret->hz[ret->n]);
        ret->n += good;
    }
    fclose(f);
}

int lbd_health_write(const char *path, const struct lbd_health *h)
{
    char temporary[1100];
    FILE *f;
    int rc;

    if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary))
        return -ENAMETOOLONG;
    f = fopen(temporary, "we");
    if (!f)
        return -errno;
    fprintf(f, FORMAT_NAME " %s\n", h->model);
    for (size_t i = 0; i < h->n; i++)
        for (int k = 0; k < LBD_KERNELS; k++)
            fprintf(f, "%.6g%c", h->hz[i][k], k + 1 < LBD_KERNELS ? ' ' : '\n');
    rc = ferror(f) ? -EIO : 0;
    if (fclose(f) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(temporary, path) < 0)
        rc = -errno;
    if (rc < 0)
        unlink(temporary);
    return rc;
}
