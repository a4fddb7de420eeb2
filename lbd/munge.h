/* SPDX-License-Identifier: BSD-3-Clause */
/* MUNGE credentials of the service: sixty seconds, for our own user only.  Both calls may block for ten seconds. */
#ifndef LBD_MUNGE_H
#define LBD_MUNGE_H

#include <stddef.h>
#include <sys/types.h>

#include "common/error.h"

/* ret_text [size]: the credential.  Returns 0, or -EACCES or -EMSGSIZE with err. */
int lbd_munge_encode(const void *payload, size_t n, char *ret_text, size_t size,
                     struct lbx_error *err) __attribute__((warn_unused_result));

/* ret_payload [size]; valid only on success.  Returns 0, or -EACCES or -EMSGSIZE with err. */
int lbd_munge_decode(const char *text, void *ret_payload, size_t size, size_t *ret_n,
                     uid_t *ret_uid, struct lbx_error *err) __attribute__((warn_unused_result));

#endif
