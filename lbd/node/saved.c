/* SPDX-License-Identifier: BSD-3-Clause */
/* The last benchmark on disk, as one line of text. */
#include "lbd/node/saved.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FORMAT_NAME "lbd-benchmark-1"
#define LINE_BYTES 1024

_Static_assert(LBD_KERNELS == 3, "another number of kernels is another format");

int lbd_saved_write(const char *path, const struct lbd_saved *s)
{
    const struct lbd_bench_result *r = &s->result;
    char temporary[1100];
    FILE *f;
    int rc;

    if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary))
        return -ENAMETOOLONG;
    f = fopen(temporary, "we");
    if (!f)
        return -errno;
    fprintf(f, FORMAT_NAME " %s %" PRId64 " %" PRId64 " %" PRId64 " %.17g %.17g %.17g", s->boot,
            s->at_ns, r->cpu_ns, r->wall_ns, r->hardware, r->share, r->hardware_s);
    for (int i = 0; i < LBD_KERNELS; i++)
        fprintf(f, " %.17g %.17g", r->kernel[i].ops_hz, r->kernel[i].dispersion_ratio);
    fprintf(f, " %s\n", s->model);
    rc = ferror(f) ? -EIO : 0;
    if (fclose(f) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(temporary, path) < 0)
        rc = -errno;
    if (rc < 0)
        unlink(temporary);
    return rc;
}

static bool is_good(const struct lbd_bench_result *r)
{
    bool good = isfinite(r->hardware) && r->hardware > 0 && isfinite(r->hardware_s) &&
                r->hardware_s > 0 && r->share >= 0 && r->share <= 1 && r->cpu_ns > 0 &&
                r->wall_ns > 0;

    for (int i = 0; i < LBD_KERNELS; i++)
        good = good && isfinite(r->kernel[i].ops_hz) && r->kernel[i].ops_hz > 0 &&
               isfinite(r->kernel[i].dispersion_ratio) && r->kernel[i].dispersion_ratio >= 0;
    return good;
}

int lbd_saved_read(const char *path, struct lbd_saved *ret)
{
    struct lbd_saved s = {0};
    struct lbd_bench_result *r = &s.result;
    char line[LINE_BYTES] = "";
    int end = 0;
    FILE *f = fopen(path, "re");
    size_t n;

    if (!f)
        return -errno;
    n = fread(line, 1, sizeof(line) - 1, f);
    fclose(f);
    if (n == 0 || line[n - 1] != '\n' || memchr(line, 0, n) || strchr(line, '\n') != line + n - 1)
        return -EPROTO;
    line[n - 1] = '\0';
    if (sscanf(line,
               FORMAT_NAME " %39s %" SCNd64 " %" SCNd64 " %" SCNd64
                           " %lf %lf %lf %lf %lf %lf %lf %lf %lf %n",
               s.boot, &s.at_ns, &r->cpu_ns, &r->wall_ns, &r->hardware, &r->share, &r->hardware_s,
               &r->kernel[0].ops_hz, &r->kernel[0].dispersion_ratio, &r->kernel[1].ops_hz,
               &r->kernel[1].dispersion_ratio, &r->kernel[2].ops_hz, &r->kernel[2].dispersion_ratio,
               &end) != 13 ||
        end == 0 || strlen(line + end) >= sizeof(s.model) || !is_good(r))
        return -EPROTO;
    memcpy(s.model, line + end, strlen(line + end) + 1);
    *ret = s;
    return 0;
}
