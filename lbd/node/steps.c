/* SPDX-License-Identifier: BSD-3-Clause */
/* The job steps that run tasks on this host. */
#include "lbd/node/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"

void lbd_steps_fini(struct lbd_steps *s)
{
    if (!s)
        return;
    free(s->step);
    memset(s, 0, sizeof(*s));
}

uint64_t lbd_steps_started(pid_t pid)
{
    char path[64], text[1024], *p;
    uint64_t started;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    p = strrchr(text, ')'); /* the name before may hold anything */
    if (!p || sscanf(p,
                     ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                     "%*d %" SCNu64,
                     &started) != 1)
        return 0;
    return started;
}

static struct lbd_step *find(struct lbd_steps *s, uint32_t jobid, uint32_t stepid)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->step[i].jobid == jobid && s->step[i].stepid == stepid)
            return &s->step[i];
    return NULL;
}

int lbd_steps_begin(struct lbd_steps *s, uint32_t jobid, uint32_t stepid, uint32_t ntasks,
                    pid_t pid)
{
    struct lbd_step *step = find(s, jobid, stepid);

    if (!step && s->n == LBD_STEPS_MAX)
        return -ENOSPC;
    if (!step && s->n == s->size) {
        size_t size = s->size ? 2 * s->size : 8;

        step = realloc(s->step, size * sizeof(*step));
        if (!step)
            return -ENOMEM;
        s->step = step;
        s->size = size;
        step = NULL;
    }
    if (!step)
        step = &s->step[s->n++];
    *step = (struct lbd_step){.jobid = jobid,
                              .stepid = stepid,
                              .ntasks = ntasks,
                              .pid = pid,
                              .begun_ns = lbx_clock_mono_ns(),
                              .started = pid > 0 ? lbd_steps_started(pid) : 0};
    return 0;
}

void lbd_steps_end(struct lbd_steps *s, uint32_t jobid, uint32_t stepid)
{
    struct lbd_step *step = find(s, jobid, stepid);

    if (step)
        *step = s->step[--s->n];
}

void lbd_steps_sweep(struct lbd_steps *s)
{
    for (size_t i = s->n; i > 0; i--) {
        struct lbd_step *step = &s->step[i - 1];

        if (step->pid > 0 && lbd_steps_started(step->pid) != step->started)
            *step = s->step[--s->n];
    }
}

const struct lbd_step *lbd_steps_of(const struct lbd_steps *s, pid_t pid)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->step[i].pid > 0 && lbx_proc_descends(pid, s->step[i].pid) &&
            lbd_steps_started(s->step[i].pid) == s->step[i].started)
            return &s->step[i];
    return NULL;
}

uint32_t lbd_steps_tasks(const struct lbd_steps *s)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < s->n; i++)
        sum += s->step[i].ntasks;
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}
