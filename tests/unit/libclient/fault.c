/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out; linked with --wrap for malloc, calloc and realloc. */
#include "tests/unit/libclient/fault.h"

#include <errno.h>
#include <stddef.h>

#include "tests/unit/libclient/world.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static _Thread_local uint64_t state;
static _Thread_local unsigned fail_every;
static _Thread_local int paused;
static int64_t failed;

void fault_arm(uint64_t seed, unsigned every)
{
    state = seed;
    fail_every = every;
}

void fault_pause(void)
{
    paused++;
}

void fault_resume(void)
{
    paused--;
}

int64_t fault_count(void)
{
    return __atomic_load_n(&failed, __ATOMIC_RELAXED);
}

bool fault_strikes(void)
{
    if (fail_every == 0 || paused > 0 || world_random(&state, fail_every) != 0)
        return false;
    __atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t n)
{
    return fault_strikes() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fault_strikes() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fault_strikes() ? NULL : __real_realloc(p, n);
}
