/* SPDX-License-Identifier: BSD-3-Clause */
/* MUNGE credentials of the service. */
#include "lbd/munge.h"

#include <errno.h>
#include <munge.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TTL_S 60

static int failed(munge_ctx_t ctx, munge_err_t rc, const char *what, struct lbx_error *err)
{
    const char *why = ctx ? munge_ctx_strerror(ctx) : NULL;

    return lbx_error_set(err, -EACCES, "%s: %s", what, why ? why : munge_strerror(rc));
}

int lbd_munge_encode(const void *payload, size_t n, char *ret_text, size_t size,
                     struct lbx_error *err)
{
    munge_ctx_t ctx = munge_ctx_create();
    munge_err_t rc = ctx ? EMUNGE_SUCCESS : EMUNGE_NO_MEMORY;
    char *text = NULL;
    int result = 0;

    if (rc == EMUNGE_SUCCESS)
        rc = munge_ctx_set(ctx, MUNGE_OPT_TTL, TTL_S);
    if (rc == EMUNGE_SUCCESS)
        rc = munge_ctx_set(ctx, MUNGE_OPT_UID_RESTRICTION, geteuid());
    if (rc == EMUNGE_SUCCESS)
        rc = munge_encode(&text, ctx, payload, (int)n);
    if (rc != EMUNGE_SUCCESS)
        result = failed(ctx, rc, "munge", err);
    else if (strlen(text) >= size)
        result = lbx_error_set(err, -EMSGSIZE, "munge: the credential is too long");
    else
        memcpy(ret_text, text, strlen(text) + 1);
    free(text);
    if (ctx)
        munge_ctx_destroy(ctx);
    return result;
}

int lbd_munge_decode(const char *text, void *ret_payload, size_t size, size_t *ret_n,
                     uid_t *ret_uid, struct lbx_error *err)
{
    munge_ctx_t ctx = munge_ctx_create();
    void *payload = NULL;
    uid_t uid;
    gid_t gid;
    int n = 0, result = 0;
    munge_err_t rc;

    if (!ctx)
        return lbx_error_set(err, -ENOMEM, "out of memory");
    rc = munge_decode(text, ctx, &payload, &n, &uid, &gid);
    if (rc !=
        EMUNGE_SUCCESS) { /* munge may hand out the payload of a refused credential, too: not ours to read */
        result = failed(ctx, rc, "credential", err);
    } else if (n < 0 || (size_t)n > size) {
        result = lbx_error_set(err, -EMSGSIZE, "credential: its payload is too long");
    } else {
        if (n > 0)
            memcpy(ret_payload, payload, (size_t)n);
        *ret_n = (size_t)n;
        *ret_uid = uid;
    }
    if (payload && n > 0)
        sodium_memzero(payload, (size_t)n);
    free(payload);
    munge_ctx_destroy(ctx);
    return result;
}
