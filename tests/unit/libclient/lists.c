/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists that belong to iterations. */
#include "tests/unit/libclient/lists.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/libclient/fault.h"

struct list {
    bool there;
    size_t n;
    uint64_t *v; /* [n] */
};

struct lists {
    int64_t n;
    struct list list[];
};

/* The length changes from step to step; 0 now and then. */
static size_t length(int64_t i, int64_t steps)
{
    return (size_t)((i * 7 + steps * 3) % 11);
}

static void make(struct list *p, int64_t i, int64_t steps)
{
    p->there = true;
    p->n = length(i, steps);
    free(p->v);
    p->v = malloc((p->n + 1) * sizeof(*p->v));
    for (size_t k = 0; k < p->n; k++)
        p->v[k] = (uint64_t)(i * 1000 + steps) * 100 + k;
}

static size_t bytes(void *arg, int64_t i)
{
    return ((struct lists *)arg)->list[i].n * sizeof(uint64_t);
}

static void pack(void *arg, int64_t i, void *to)
{
    struct list *p = &((struct lists *)arg)->list[i];

    if (!p->there || (uintptr_t)to % 16 != 0)
        abort();
    memcpy(to, p->v, p->n * sizeof(*p->v));
    free(p->v);
    *p = (struct list){0};
}

static void unpack(void *arg, int64_t i, const void *from, size_t n)
{
    struct list *p = &((struct lists *)arg)->list[i];

    if (p->there || (uintptr_t)from % 16 != 0)
        abort();
    fault_pause();
    p->v = malloc(n + 1);
    fault_resume();
    memcpy(p->v, from, n);
    p->n = n / sizeof(*p->v);
    p->there = true;
}

struct lists *lists_create(int64_t n)
{
    struct lists *s = calloc(1, sizeof(*s) + (size_t)n * sizeof(s->list[0]));

    s->n = n;
    return s;
}

void lists_destroy(struct lists *s)
{
    for (int64_t i = 0; i < s->n; i++)
        free(s->list[i].v);
    free(s);
}

struct lb_pack lists_pack(struct lists *s)
{
    return (struct lb_pack){sizeof(struct lb_pack), s, bytes, pack, unpack};
}

void lists_fill(struct lists *s, int64_t i)
{
    make(&s->list[i], i, 0);
}

bool lists_step(struct lists *s, int64_t i, int64_t steps)
{
    struct list *p = &s->list[i];
    bool right = p->there && p->n == length(i, steps);

    for (size_t k = 0; right && k < p->n; k++)
        right = p->v[k] == (uint64_t)(i * 1000 + steps) * 100 + k;
    fault_pause();
    make(p, i, steps + 1);
    fault_resume();
    return right;
}

int64_t lists_count(const struct lists *s)
{
    int64_t n = 0;

    for (int64_t i = 0; i < s->n; i++)
        n += s->list[i].there;
    return n;
}
