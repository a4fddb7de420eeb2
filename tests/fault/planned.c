/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to go wrong, and what did. */
#include "tests/fault/planned.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAULTS 8

struct fault {
    char what[16], when[16];
    int n, seen;
};

static struct fault fault[FAULTS];
static int nfaults;
static char folder[3072];

static void load(void)
{
    static bool loaded;
    char path[4096];
    ssize_t n;
    FILE *f;

    if (loaded)
        return;
    loaded = true;
    n = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    if (n <= 0 || !strrchr(folder, '/'))
        abort();
    *strrchr(folder, '/') = '\0';
    snprintf(path, sizeof(path), "%s/plan", folder);
    f = fopen(path, "re");
    while (f && nfaults < FAULTS &&
           fscanf(f, "%15s %15s %d", fault[nfaults].what, fault[nfaults].when, &fault[nfaults].n) ==
               3)
        nfaults++;
    if (f)
        fclose(f);
}

/* A line in the file `done`; written before a signal, or nobody would know of it. */
static void note(const char *what, const char *when)
{
    char path[4096], line[64];
    int fd, n = snprintf(line, sizeof(line), "%s %s\n", what, when);

    snprintf(path, sizeof(path), "%s/done", folder);
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        abort();
    close(fd);
}

bool planned_due(const char *what, const char *when, bool every)
{
    load();
    for (int i = 0; i < nfaults; i++) {
        struct fault *f = &fault[i];

        if (strcmp(f->what, what) != 0 || strcmp(f->when, when) != 0)
            continue;
        f->seen++;
        if (every ? f->seen % f->n == 0 : f->seen == f->n) {
            note(what, when);
            return true;
        }
    }
    return false;
}

bool planned_any(const char *when)
{
    load();
    for (int i = 0; i < nfaults; i++)
        if (strncmp(fault[i].when, when, strlen(when)) == 0)
            return true;
    return false;
}
