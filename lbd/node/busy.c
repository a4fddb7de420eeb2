/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a job runs on this host. */
#include "lbd/node/busy.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* A file of a process, its first bytes as text. */
static bool read_text(const char *proc, const char *pid, const char *name, char *text, size_t size)
{
    char path[512];
    size_t n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%.20s/%s", proc, pid, name);
    f = fopen(path, "re");
    if (f) {
        n = fread(text, 1, size - 1, f);
        fclose(f);
    }
    text[n] = '\0';
    return n > 0;
}

/* Its line NSpid has one number for each namespace from ours inwards. */
static bool is_nested(const char *status)
{
    const char *p = strstr(status, "\nNSpid:");
    int numbers = 0;

    if (!p)
        return false;
    for (p += strlen("\nNSpid:"); *p && *p != '\n'; p++)
        numbers += isdigit((unsigned char)*p) && !isdigit((unsigned char)p[-1]);
    return numbers > 1;
}

bool lbd_busy_with_job(const char *proc)
{
    char comm[32], status[4096];
    struct dirent *e;
    bool found = false;
    DIR *d = opendir(proc);

    while (d && !found && (e = readdir(d)))
        found = isdigit((unsigned char)e->d_name[0]) &&
                read_text(proc, e->d_name, "comm", comm, sizeof(comm)) &&
                strcmp(comm, "slurmstepd\n") == 0 &&
                read_text(proc, e->d_name, "status", status, sizeof(status)) && !is_nested(status);
    if (d)
        closedir(d);
    return found;
}
