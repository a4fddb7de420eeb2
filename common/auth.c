/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutual proof of a shared key over a byte stream. */
#include "common/auth.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>

#define MAGIC_BYTES 8
#define PROOF_BYTES 32
#define HELLO_BYTES (MAGIC_BYTES + LBX_NONCE_BYTES)
#define ANSWER_BYTES (MAGIC_BYTES + LBX_NONCE_BYTES + 4 + PROOF_BYTES)

static const uint8_t magic[MAGIC_BYTES] = {'l', 'b', 'a', 'u', 't', 'h', 0, 1};

enum { HELLO, ANSWER, CONFIRM, DONE, REFUSED };

_Static_assert(PROOF_BYTES == LBX_KEY_BYTES, "direction keys are derived as proofs are");

int lbx_auth_setup(void)
{
    return sodium_init() < 0 ? -EIO : 0;
}

void lbx_auth_random(void *ret_bytes, size_t n)
{
    randombytes_buf(ret_bytes, n);
}

static void init(struct lbx_auth *a, bool server, const uint8_t *key, const void *context, size_t n)
{
    memset(a, 0, sizeof(*a));
    a->server = server;
    a->state = HELLO;
    memcpy(a->key, key, LBX_KEY_BYTES);
    crypto_generichash(a->context, sizeof(a->context), context, n, NULL, 0);
}

void lbx_auth_init_server(struct lbx_auth *a, const uint8_t key[LBX_KEY_BYTES], const void *context,
                          size_t n)
{
    init(a, true, key, context, n);
    lbx_auth_random(a->nonce_s, sizeof(a->nonce_s));
}

void lbx_auth_init_client(struct lbx_auth *a, const uint8_t key[LBX_KEY_BYTES], const void *context,
                          size_t n, uint32_t peer_id)
{
    init(a, false, key, context, n);
    a->peer_id = peer_id;
    lbx_auth_random(a->nonce_c, sizeof(a->nonce_c));
}

void lbx_auth_fini(struct lbx_auth *a)
{
    if (a)
        sodium_memzero(a, sizeof(*a));
}

static void put_id(uint8_t p[4], uint32_t id)
{
    p[0] = (uint8_t)(id >> 24);
    p[1] = (uint8_t)(id >> 16);
    p[2] = (uint8_t)(id >> 8);
    p[3] = (uint8_t)id;
}

/* Keyed hash of label, context, nonces and peer id: a proof or a direction key, by its label. */
static void derive(const struct lbx_auth *a, const char *label, uint8_t ret_hash[PROOF_BYTES])
{
    crypto_generichash_state st;
    uint8_t id[4];

    put_id(id, a->peer_id);
    crypto_generichash_init(&st, a->key, sizeof(a->key), PROOF_BYTES);
    crypto_generichash_update(&st, (const uint8_t *)label, strlen(label) + 1);
    crypto_generichash_update(&st, a->context, sizeof(a->context));
    crypto_generichash_update(&st, a->nonce_s, sizeof(a->nonce_s));
    crypto_generichash_update(&st, a->nonce_c, sizeof(a->nonce_c));
    crypto_generichash_update(&st, id, sizeof(id));
    crypto_generichash_final(&st, ret_hash, PROOF_BYTES);
    sodium_memzero(&st, sizeof(st));
}

static int send_hello(struct lbx_auth *a, struct lbx_buf *out)
{
    uint8_t *p;
    int rc = lbx_buf_room(out, HELLO_BYTES, &p);

    if (rc < 0)
        return rc;
    memcpy(p, magic, MAGIC_BYTES);
    memcpy(p + MAGIC_BYTES, a->nonce_s, LBX_NONCE_BYTES);
    lbx_buf_wrote(out, HELLO_BYTES);
    a->state = ANSWER;
    return 0;
}

static int answer_hello(struct lbx_auth *a, struct lbx_buf *in, struct lbx_buf *out)
{
    const uint8_t *hello = lbx_buf_data(in);
    uint8_t *p;
    int rc;

    if (sodium_memcmp(hello, magic, MAGIC_BYTES) != 0)
        return -EACCES;
    rc = lbx_buf_room(out, ANSWER_BYTES, &p);
    if (rc < 0)
        return rc;
    memcpy(a->nonce_s, hello + MAGIC_BYTES, LBX_NONCE_BYTES);
    lbx_buf_consume(in, HELLO_BYTES);
    memcpy(p, magic, MAGIC_BYTES);
    memcpy(p + MAGIC_BYTES, a->nonce_c, LBX_NONCE_BYTES);
    put_id(p + MAGIC_BYTES + LBX_NONCE_BYTES, a->peer_id);
    derive(a, "slurm-lb client proof", p + MAGIC_BYTES + LBX_NONCE_BYTES + 4);
    lbx_buf_wrote(out, ANSWER_BYTES);
    a->state = CONFIRM;
    return 0;
}

static int check_answer(struct lbx_auth *a, struct lbx_buf *in, struct lbx_buf *out)
{
    const uint8_t *answer = lbx_buf_data(in);
    const uint8_t *id = answer + MAGIC_BYTES + LBX_NONCE_BYTES;
    uint8_t proof[PROOF_BYTES], *p;
    int rc;

    if (sodium_memcmp(answer, magic, MAGIC_BYTES) != 0)
        return -EACCES;
    memcpy(a->nonce_c, answer + MAGIC_BYTES, LBX_NONCE_BYTES);
    a->peer_id = (uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3];
    derive(a, "slurm-lb client proof", proof);
    if (sodium_memcmp(proof, id + 4, PROOF_BYTES) != 0)
        return -EACCES;
    rc = lbx_buf_room(out, PROOF_BYTES, &p);
    if (rc < 0)
        return rc;
    derive(a, "slurm-lb server proof", p);
    lbx_buf_wrote(out, PROOF_BYTES);
    lbx_buf_consume(in, ANSWER_BYTES);
    a->state = DONE;
    return 0;
}

static int check_confirm(struct lbx_auth *a, struct lbx_buf *in)
{
    uint8_t proof[PROOF_BYTES];

    derive(a, "slurm-lb server proof", proof);
    if (sodium_memcmp(proof, lbx_buf_data(in), PROOF_BYTES) != 0)
        return -EACCES;
    lbx_buf_consume(in, PROOF_BYTES);
    a->state = DONE;
    return 0;
}

int lbx_auth_step(struct lbx_auth *a, struct lbx_buf *in, struct lbx_buf *out)
{
    int rc = 0;

    while (rc == 0 && a->state != DONE) {
        if (a->state == HELLO && a->server)
            rc = send_hello(a, out);
        else if (a->state == HELLO && lbx_buf_len(in) >= HELLO_BYTES)
            rc = answer_hello(a, in, out);
        else if (a->state == ANSWER && lbx_buf_len(in) >= ANSWER_BYTES)
            rc = check_answer(a, in, out);
        else if (a->state == CONFIRM && lbx_buf_len(in) >= PROOF_BYTES)
            rc = check_confirm(a, in);
        else if (a->state == REFUSED)
            rc = -EACCES;
        else
            return 0;
    }
    if (rc == -EACCES && a->state != REFUSED) {
        lbx_auth_fini(a); /* the key has no use any more */
        a->state = REFUSED;
    }
    return rc < 0 ? rc : 1;
}

void lbx_auth_channel(const struct lbx_auth *a, struct lbx_channel *ret_channel)
{
    uint8_t to_server[PROOF_BYTES], to_client[PROOF_BYTES];

    assert(a->state == DONE);
    derive(a, "slurm-lb key to server", to_server);
    derive(a, "slurm-lb key to client", to_client);
    if (a->server)
        lbx_channel_init_keyed(ret_channel, to_client, to_server);
    else
        lbx_channel_init_keyed(ret_channel, to_server, to_client);
    sodium_memzero(to_server, sizeof(to_server));
    sodium_memzero(to_client, sizeof(to_client));
}
