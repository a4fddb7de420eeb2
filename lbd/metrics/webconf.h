/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * web.yml: TLS and users of /metrics, with the keys of Prometheus' exporter toolkit.  What lbd cannot do of them is an error,
 * never passed over: a page that should have been protected must not be open.
 */
#ifndef LBD_METRICS_WEBCONF_H
#define LBD_METRICS_WEBCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

#define LBD_WEB_USERS_MAX 64
#define LBD_WEB_NAME_MAX 128 /* bytes of a user's name with the NUL */
#define LBD_WEB_HASH_MAX 64  /* a bcrypt hash has 60 */
#define LBD_WEB_COST_MOST 14 /* of bcrypt: a second and more */
#define LBD_WEB_HEADERS_MAX 8

struct lbd_web_user {
    char name[LBD_WEB_NAME_MAX], hash[LBD_WEB_HASH_MAX];
};

struct lbd_web_header {
    const char *name; /* static */
    char *value;
};

struct lbd_webconf {
    bool tls, client_auth;
    char *cert, *key;    /* PEM */
    char *client_ca;     /* PEM; NULL: clients show no certificate */
    char priorities[64]; /* of GnuTLS: the versions allowed */
    size_t nusers, nheaders;
    struct lbd_web_user *user; /* [nusers] */
    struct lbd_web_header header[LBD_WEB_HEADERS_MAX];
};

/* path NULL: neither TLS nor users.  Returns 0, or a negative errno with "FILE:LINE: what"; *ret is filled only on success. */
int lbd_webconf_read(const char *path, struct lbd_webconf *ret, struct lbx_error *err)
    __attribute__((warn_unused_result));
void lbd_webconf_fini(struct lbd_webconf *c); /* NULL is fine */

#endif
