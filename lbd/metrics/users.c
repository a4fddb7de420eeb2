/* SPDX-License-Identifier: BSD-3-Clause */
/* Passwords of web.yml's users. */
#include "lbd/metrics/users.h"

#include <crypt.h>
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define REMEMBERED 128
#define CHECKS_HZ 2.0
#define BURST 8.0

struct remembered {
    uint8_t digest[crypto_generichash_BYTES];
    bool used, right;
};

struct lbd_users {
    const struct lbd_webconf *conf;
    uint8_t key[crypto_generichash_KEYBYTES];
    struct remembered known[REMEMBERED];
    unsigned next;
    double tokens;
    int64_t at_ns;
    struct crypt_data crypt; /* large */
};

struct lbd_users *lbd_users_create(const struct lbd_webconf *conf)
{
    struct lbd_users *u = calloc(1, sizeof(*u));

    if (!u)
        return NULL;
    u->conf = conf;
    u->tokens = BURST;
    u->at_ns = lbx_clock_mono_ns();
    randombytes_buf(u->key, sizeof(u->key));
    return u;
}

void lbd_users_destroy(struct lbd_users *u)
{
    if (u)
        sodium_memzero(u, sizeof(*u));
    free(u);
}

/* Name, hash and password with their ends: no two triples give the same bytes. */
static void digest_of(const struct lbd_users *u, const char *name, const char *hash,
                      const char *password, uint8_t ret[crypto_generichash_BYTES])
{
    crypto_generichash_state s;

    crypto_generichash_init(&s, u->key, sizeof(u->key), crypto_generichash_BYTES);
    crypto_generichash_update(&s, (const uint8_t *)name, strlen(name) + 1);
    crypto_generichash_update(&s, (const uint8_t *)hash, strlen(hash) + 1);
    crypto_generichash_update(&s, (const uint8_t *)password, strlen(password) + 1);
    crypto_generichash_final(&s, ret, crypto_generichash_BYTES);
}

static bool may_check(struct lbd_users *u, int64_t now_ns)
{
    double more = (double)(now_ns - u->at_ns) / 1e9 * CHECKS_HZ;

    u->tokens = u->tokens + more > BURST ? BURST : u->tokens + more;
    u->at_ns = now_ns;
    if (u->tokens < 1)
        return false;
    u->tokens -= 1;
    return true;
}

static bool is_right(struct lbd_users *u, const char *hash, const char *password)
{
    const char *got = crypt_r(password, hash, &u->crypt);
    bool right = got && strlen(got) == strlen(hash) && sodium_memcmp(got, hash, strlen(hash)) == 0;

    sodium_memzero(&u->crypt, sizeof(u->crypt));
    return right;
}

int lbd_users_check(struct lbd_users *u, const char *name, const char *password, int64_t now_ns)
{
    /* Of nobody's password: an unknown name takes as long as a wrong password. */
    const char *hash = "$2b$10$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234";
    struct remembered r = {.used = true};
    bool known = false;

    for (size_t i = 0; i < u->conf->nusers; i++)
        if (strcmp(u->conf->user[i].name, name) == 0) {
            hash = u->conf->user[i].hash;
            known = true;
        }
    digest_of(u, name, hash, password, r.digest);
    for (unsigned i = 0; i < REMEMBERED; i++)
        if (u->known[i].used && sodium_memcmp(u->known[i].digest, r.digest, sizeof(r.digest)) == 0)
            return u->known[i].right ? 0 : -EACCES;
    if (!may_check(u, now_ns))
        return -EAGAIN;
    r.right = is_right(u, hash, password) && known;
    u->known[u->next++ % REMEMBERED] = r;
    return r.right ? 0 : -EACCES;
}
