/* SPDX-License-Identifier: BSD-3-Clause */
/* The last benchmark on disk, as one line of text. */
#include "lbd/node/saved.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FORMAT_NAME "lbd-benchmark-2"
#define LINE_BYTES 2048

_Static_assert(LBD_KERNELS == 5, "another number of kernels is another format");

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
    fprintf(f,
            FORMAT_NAME " %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                        " %" PRIu32 " %.17g %.17g %.17g %.17g",
            s->boot, s->at_ns, r->cpu_ns, r->wall_ns, r->quantum_ns, r->quota_period_ns,
            r->repetition_ns, r->ncpus, r->hardware, r->share, r->hardware_s, r->scaling_ratio);
    fprintf(f, " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64, r->topology.packages,
            r->topology.cores, r->topology.threads, r->topology.numa_nodes,
            r->topology.cache_bytes);
    for (int i = 0; i < LBD_KERNELS; i++)
        fprintf(f, " %.17g %.17g %.17g %.17g", r->kernel[i].ops_hz, r->kernel[i].dispersion_ratio,
                r->kernel[i].all_ops_hz, r->kernel[i].all_dispersion_ratio);
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

static bool is_positive(double v)
{
    return isfinite(v) && v > 0;
}

static bool is_ratio(double v)
{
    return isfinite(v) && v >= 0;
}

static bool is_good(const struct lbd_bench_result *r)
{
    bool good = is_positive(r->hardware) && is_positive(r->hardware_s) && r->share >= 0 &&
                r->share <= 1 && r->scaling_ratio > 0 && r->scaling_ratio <= 1 && r->cpu_ns > 0 &&
                r->wall_ns > 0 && r->ncpus > 0;

    for (int i = 0; i < LBD_KERNELS; i++)
        good = good && is_positive(r->kernel[i].ops_hz) &&
               (r->kernel[i].all_ops_hz == 0 || is_positive(r->kernel[i].all_ops_hz)) &&
               is_ratio(r->kernel[i].dispersion_ratio) &&
               is_ratio(r->kernel[i].all_dispersion_ratio);
    return good;
}

/* Fields of the line, one after the other; "end" is where the next begins, 0 when one was not right. */
static void read_fields(const char *line, struct lbd_saved *s, int *ret_end)
{
    struct lbd_bench_result *r = &s->result;
    int end = 0, n = 0;

    *ret_end = 0;
    if (sscanf(line,
               FORMAT_NAME " %39s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                           " %" SCNd64 " %" SCNu32 " %lf %lf %lf %lf%n",
               s->boot, &s->at_ns, &r->cpu_ns, &r->wall_ns, &r->quantum_ns, &r->quota_period_ns,
               &r->repetition_ns, &r->ncpus, &r->hardware, &r->share, &r->hardware_s,
               &r->scaling_ratio, &end) != 12 ||
        end == 0)
        return;
    if (sscanf(line + end, " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu64 "%n",
               &r->topology.packages, &r->topology.cores, &r->topology.threads,
               &r->topology.numa_nodes, &r->topology.cache_bytes, &n) != 5)
        return;
    end += n;
    for (int i = 0; i < LBD_KERNELS; i++) {
        n = 0;
        if (sscanf(line + end, " %lf %lf %lf %lf %n", &r->kernel[i].ops_hz,
                   &r->kernel[i].dispersion_ratio, &r->kernel[i].all_ops_hz,
                   &r->kernel[i].all_dispersion_ratio, &n) != 4 ||
            n == 0)
            return;
        end += n;
    }
    *ret_end = end;
}

int lbd_saved_read(const char *path, struct lbd_saved *ret)
{
    struct lbd_saved s = {0};
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
    read_fields(line, &s, &end);
    if (end == 0 || strlen(line + end) >= sizeof(s.model) || !is_good(&s.result))
        return -EPROTO;
    memcpy(s.model, line + end, strlen(line + end) + 1);
    *ret = s;
    return 0;
}
