/* SPDX-License-Identifier: BSD-3-Clause */
/* Who we are among the job's processes, and the one value that passes between them, by PMIx. */
#ifndef LBC_PMIX_H
#define LBC_PMIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbc_pmix {
    bool there; /* PMIx_Init succeeded */
    bool slurm; /* the launcher is Slurm's srun */
    uint32_t rank, size;
    uint32_t local_size; /* of the job's processes on this host, >= 1 */
    void *proc;          /* pmix_proc_t, owned */
};

/*
 * Join.  Returns 0, -ENOENT when the process was not started by a PMIx launcher (nothing is loaded,
 * asked or written then), -ENOMEM, -EIO.  After a failure all fields are zero and close is a no-op.
 */
int lbc_pmix_open(struct lbc_pmix *p) __attribute__((warn_unused_result));
void lbc_pmix_close(struct lbc_pmix *p);

/* Publish n > 0 bytes under key for all processes of the job.  Returns 0 or -EIO. */
int lbc_pmix_put(struct lbc_pmix *p, const char *key, const void *data, size_t n)
    __attribute__((warn_unused_result));

/* Wait for all processes of the job, and bring what they published here.  Returns 0 or -EIO. */
int lbc_pmix_fence(struct lbc_pmix *p) __attribute__((warn_unused_result));

/*
 * What process `rank` published.
 * ret_data[out]  [size]
 * Returns 0, -EMSGSIZE, -ENOENT.
 */
int lbc_pmix_get(struct lbc_pmix *p, uint32_t rank, const char *key, void *ret_data, size_t size,
                 size_t *ret_n) __attribute__((warn_unused_result));

#endif
