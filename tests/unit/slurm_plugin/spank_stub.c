/* SPDX-License-Identifier: BSD-3-Clause */
/* A Slurm to load the plugin into. */
#include "tests/unit/slurm_plugin/spank_stub.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stub stub;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t n);

static bool fails(int *countdown)
{
    return *countdown > 0 && --*countdown == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails(&stub.fail_malloc) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails(&stub.fail_malloc) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t n)
{
    return fails(&stub.fail_malloc) ? NULL : __real_realloc(old, n);
}

void stub_reset(void)
{
    memset(&stub, 0, sizeof(stub));
    stub.context = S_CTX_REMOTE;
    stub.jobid = 7;
    stub.stepid = 1;
    stub.local_tasks = 2;
    stub.total_tasks = 2;
    stub.has_task_0 = true;
    stub.uid = geteuid();
    stub.gid = getegid();
}

static char *find(const char *name)
{
    size_t n = strlen(name);

    for (int i = 0; i < STUB_ENV_MAX; i++)
        if (strncmp(stub.env[i], name, n) == 0 && stub.env[i][n] == '=')
            return stub.env[i];
    return NULL;
}

const char *stub_getenv(const char *name)
{
    char *at = find(name);

    return at ? at + strlen(name) + 1 : NULL;
}

void stub_setenv(const char *name, const char *value)
{
    char *at = find(name);

    for (int i = 0; !at && i < STUB_ENV_MAX; i++)
        if (stub.env[i][0] == '\0')
            at = stub.env[i];
    if (at)
        snprintf(at, STUB_TEXT_MAX, "%s=%s", name, value);
}

spank_context_t spank_context(void)
{
    return stub.context;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *opt)
{
    (void)spank;
    if (fails(&stub.fail_call))
        return ESPANK_BAD_ARG;
    stub.option = *opt;
    return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *var, char *buf, int len)
{
    const char *value = stub_getenv(var);

    (void)spank;
    if (fails(&stub.fail_call))
        return ESPANK_BAD_ARG;
    if (!value)
        return ESPANK_ENV_NOEXIST;
    return snprintf(buf, (size_t)len, "%s", value) >= len ? ESPANK_NOSPACE : ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *var, const char *val, int overwrite)
{
    (void)spank;
    if (fails(&stub.fail_call))
        return ESPANK_BAD_ARG;
    if (!overwrite && find(var))
        return ESPANK_ENV_EXISTS;
    stub_setenv(var, val);
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *var)
{
    char *at = find(var);

    (void)spank;
    if (fails(&stub.fail_call))
        return ESPANK_BAD_ARG;
    if (at)
        at[0] = '\0';
    return ESPANK_SUCCESS;
}

static spank_err_t item(spank_item_t what, va_list ap)
{
    switch (what) {
    case S_JOB_ID:
        *va_arg(ap, uint32_t *) = stub.jobid;
        return ESPANK_SUCCESS;
    case S_JOB_STEPID:
        *va_arg(ap, uint32_t *) = stub.stepid;
        return ESPANK_SUCCESS;
    case S_JOB_UID:
        *va_arg(ap, uid_t *) = stub.uid;
        return ESPANK_SUCCESS;
    case S_JOB_GID:
        *va_arg(ap, gid_t *) = stub.gid;
        return ESPANK_SUCCESS;
    case S_JOB_SUPPLEMENTARY_GIDS:
        *va_arg(ap, gid_t **) = stub.groups;
        *va_arg(ap, int *) = stub.ngroups;
        return ESPANK_SUCCESS;
    case S_JOB_LOCAL_TASK_COUNT:
        *va_arg(ap, uint32_t *) = stub.local_tasks;
        return ESPANK_SUCCESS;
    case S_JOB_TOTAL_TASK_COUNT:
        *va_arg(ap, uint32_t *) = stub.total_tasks;
        return ESPANK_SUCCESS;
    case S_SLURM_RESTART_COUNT:
        *va_arg(ap, uint32_t *) = 0;
        return ESPANK_SUCCESS;
    case S_TASK_EXIT_STATUS:
        *va_arg(ap, int *) = stub.task_status;
        return ESPANK_SUCCESS;
    case S_JOB_GLOBAL_TO_LOCAL_ID:
        return va_arg(ap, uint32_t) == 0 && stub.has_task_0 ? ESPANK_SUCCESS : ESPANK_NOEXIST;
    default:
        return ESPANK_BAD_ARG;
    }
}

spank_err_t spank_get_item(spank_t spank, spank_item_t what, ...)
{
    spank_err_t rc;
    va_list ap;

    (void)spank;
    if (fails(&stub.fail_call))
        return ESPANK_BAD_ARG;
    va_start(ap, what);
    rc = item(what, ap);
    va_end(ap);
    return rc;
}

__attribute__((format(printf, 3, 0))) static void append(char *log, size_t size, const char *fmt,
                                                         va_list ap)
{
    size_t n = strlen(log);

    vsnprintf(log + n, size - n, fmt, ap);
    n = strlen(log);
    snprintf(log + n, size - n, "\n");
}

void slurm_spank_log(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    append(stub.log, sizeof(stub.log), fmt, ap);
    va_end(ap);
}

void slurm_verbose(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    append(stub.verbose, sizeof(stub.verbose), fmt, ap);
    va_end(ap);
}

/* Lists without brackets. */
struct hostlist {
    char *text, *at;
};

hostlist_t slurm_hostlist_create(const char *text)
{
    struct hostlist *list = malloc(sizeof(*list));

    if (list)
        list->text = list->at = strdup(text);
    return list;
}

char *slurm_hostlist_shift(hostlist_t list)
{
    char *name = strsep(&list->at, ",");

    return name ? strdup(name) : NULL;
}

void slurm_hostlist_destroy(hostlist_t list)
{
    free(list->text);
    free(list);
}
