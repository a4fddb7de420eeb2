/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The only file that knows PMIx.  Of its calls only Init, Put, Commit, Get, Fence and Finalize: all
 * launchers have these, and events kill a step under Slurm.
 */
#include "libclient/pmix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define GET_TIMEOUT_S 5

static uint32_t job_number(const struct lbc_pmix *p, const char *key, uint32_t otherwise)
{
    const pmix_proc_t *me = p->proc;
    pmix_value_t *value = NULL;
    pmix_proc_t job;
    uint32_t number = otherwise;

    PMIX_PROC_CONSTRUCT(&job);
    PMIX_LOAD_PROCID(&job, me->nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&job, key, NULL, 0, &value) != PMIX_SUCCESS || !value)
        return otherwise;
    if (value->type == PMIX_UINT32 && value->data.uint32 > 0)
        number = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return number;
}

int lbc_pmix_open(struct lbc_pmix *p)
{
    pmix_proc_t *me;

    memset(p, 0, sizeof(*p));
    /* Without a server PMIx_Init may wait or write a line; a plain ./app shall not notice. */
    if (!getenv("PMIX_NAMESPACE") || !getenv("PMIX_RANK"))
        return -ENOENT;
    me = calloc(1, sizeof(*me));
    if (!me)
        return -ENOMEM;
    if (PMIx_Init(me, NULL, 0) != PMIX_SUCCESS) {
        free(me);
        return -EIO;
    }
    p->there = true;
    p->proc = me;
    p->rank = me->rank;
    p->slurm = strncmp(me->nspace, "slurm.", 6) == 0;
    p->size = job_number(p, PMIX_JOB_SIZE, 0);
    p->local_size = job_number(p, PMIX_LOCAL_SIZE, 1);
    if (p->size == 0 || p->rank >= p->size) {
        lbc_pmix_close(p);
        return -EIO;
    }
    return 0;
}

void lbc_pmix_close(struct lbc_pmix *p)
{
    if (p->there)
        PMIx_Finalize(NULL, 0);
    free(p->proc);
    memset(p, 0, sizeof(*p));
}

int lbc_pmix_put(struct lbc_pmix *p, const char *key, const void *data, size_t n)
{
    char *copy = malloc(n);
    pmix_value_t value;
    int rc = -EIO;

    (void)p;
    if (!copy)
        return -ENOMEM;
    memcpy(copy, data, n);
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = copy;
    value.data.bo.size = n;
    if (PMIx_Put(PMIX_GLOBAL, key, &value) == PMIX_SUCCESS && PMIx_Commit() == PMIX_SUCCESS)
        rc = 0;
    explicit_bzero(copy, n);
    free(copy);
    return rc;
}

int lbc_pmix_fence(struct lbc_pmix *p)
{
    const pmix_proc_t *me = p->proc;
    pmix_proc_t all;
    pmix_info_t collect;
    bool yes = true;
    pmix_status_t rc;

    PMIX_PROC_CONSTRUCT(&all);
    PMIX_LOAD_PROCID(&all, me->nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_CONSTRUCT(&collect);
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    rc = PMIx_Fence(&all, 1, &collect, 1);
    PMIX_INFO_DESTRUCT(&collect);
    return rc == PMIX_SUCCESS ? 0 : -EIO;
}

int lbc_pmix_get(struct lbc_pmix *p, uint32_t rank, const char *key, void *ret_data, size_t size,
                 size_t *ret_n)
{
    const pmix_proc_t *me = p->proc;
    pmix_value_t *value = NULL;
    pmix_proc_t from;
    pmix_info_t timeout;
    int seconds = GET_TIMEOUT_S, rc = -ENOENT;

    PMIX_PROC_CONSTRUCT(&from);
    PMIX_LOAD_PROCID(&from, me->nspace, rank);
    PMIX_INFO_CONSTRUCT(&timeout);
    PMIX_INFO_LOAD(&timeout, PMIX_TIMEOUT, &seconds, PMIX_INT);
    if (PMIx_Get(&from, key, &timeout, 1, &value) == PMIX_SUCCESS && value &&
        value->type == PMIX_BYTE_OBJECT) {
        if (value->data.bo.size > size) {
            rc = -EMSGSIZE;
        } else {
            memcpy(ret_data, value->data.bo.bytes, value->data.bo.size);
            *ret_n = value->data.bo.size;
            rc = 0;
        }
    }
    if (value)
        PMIX_VALUE_RELEASE(value);
    PMIX_INFO_DESTRUCT(&timeout);
    return rc;
}
