/* SPDX-License-Identifier: BSD-3-Clause */
/* A malloc that fails at the Nth call; one thread. */
#include "tests/fault/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static unsigned long left; /* 1: the next one fails; 0: none does */
static bool fired;
static long live;

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void __real_free(void *p);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void __wrap_free(void *p);

void fault_arm(unsigned long nth)
{
    fired = false;
    left = nth;
}

bool fault_disarm(void)
{
    left = 0;
    return fired;
}

long fault_live(void)
{
    return live;
}

/* Whether this allocation fails. */
static bool fails(void)
{
    if (left == 0 || --left > 0)
        return false;
    fired = true;
    errno = ENOMEM;
    return true;
}

static void *counted(void *p)
{
    live += p != NULL;
    return p;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t count, size_t n)
{
    return fails() ? NULL : counted(__real_calloc(count, n));
}

void *__wrap_realloc(void *p, size_t n)
{
    if (fails())
        return NULL;
    return p ? __real_realloc(p, n) : counted(__real_realloc(NULL, n));
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return fails() ? NULL : counted(__real_aligned_alloc(align, n));
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : counted(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
    return fails() ? NULL : counted(__real_strndup(s, n));
}

void __wrap_free(void *p)
{
    live -= p != NULL;
    __real_free(p);
}
