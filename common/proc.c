/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc tells of other processes. */
#include "common/proc.h"

#include <stdio.h>
#include <string.h>

#define ANCESTORS_MAX 64

pid_t lbx_proc_parent(pid_t pid)
{
    char path[64], line[512], *after;
    int parent = 0;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    /* the command's name is in parentheses and may hold anything: what counts comes after the last one */
    if (fgets(line, sizeof(line), f) && (after = strrchr(line, ')')) != NULL)
        if (sscanf(after + 1, " %*c %d", &parent) != 1)
            parent = 0;
    fclose(f);
    return parent;
}

bool lbx_proc_descends(pid_t pid, pid_t ancestor)
{
    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        if (pid == ancestor)
            return true;
        pid = lbx_proc_parent(pid);
    }
    return false;
}
