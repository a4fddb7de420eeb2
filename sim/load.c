/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded load. */
#include "sim/load.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 512

#define LEAST 1e-3 /* of what a recording says of itself: less would be no time, or no processor */
#define MOST 1e6   /* likewise; and no machine uses more processors */
#define LEFT 1e-3  /* a host goes on, however many want it */

/* "# interval_s=2 cores=2" among the lines of comment. */
static void find(const char *line, const char *key, double *ret)
{
    const char *p = strstr(line, key);
    double v;

    if (!p)
        return;
    v = strtod(p + strlen(key), NULL);
    if (v >= LEAST && v <= MOST)
        *ret = v;
}

static int append(struct sim_load *l, double cpus)
{
    if (l->n == l->size) {
        size_t size = l->size ? 2 * l->size : 1024;
        double *grown = realloc(l->cpus, size * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        l->cpus = grown;
        l->size = size;
    }
    l->cpus[l->n++] = cpus;
    return 0;
}

int sim_load_read(const char *path, double interval_s, struct sim_load *ret)
{
    struct sim_load l = {.cores = 1};
    char line[LINE_BYTES], *end;
    double sum = 0, recorded_s = 1;
    int n = 0, rc = 0;
    FILE *file = fopen(path, "re");

    if (!file)
        return -errno;
    while (rc == 0 && fgets(line, sizeof(line), file)) {
        double v = strtod(line, &end);

        if (line[0] == '#') {
            find(line, "interval_s=", &recorded_s);
            find(line, "cores=", &l.cores);
        }
        if (line[0] == '#' || end == line || !(v >= 0 && v <= MOST))
            continue;
        sum += v;
        if (++n * recorded_s < interval_s * .999)
            continue;
        rc = append(&l, sum / n);
        l.interval_s = n * recorded_s;
        sum = 0;
        n = 0;
    }
    fclose(file);
    if (rc == 0 && l.n == 0)
        rc = -ENODATA;
    if (rc < 0)
        sim_load_fini(&l);
    else
        *ret = l;
    return rc;
}

void sim_load_fini(struct sim_load *l)
{
    free(l->cpus);
    *l = (struct sim_load){0};
}

double sim_load_left(double demand)
{
    return fmax(fmax(1 - demand, 1 / (1 + fmax(1, demand))), LEFT);
}
