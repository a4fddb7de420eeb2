/* SPDX-License-Identifier: BSD-3-Clause */
/* How ranks without MPI find each other. */
#include "libclient/meet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/auth.h"
#include "common/sock.h"
#include "libclient/tcp/tcp.h"
#include "wire/addresses.h"

#define KEY_BYTES 64
#define TELLS_BYTES_MAX (LBC_MEET_TELLS_MAX * sizeof(double))
#define CARD_BYTES_MAX (TELLS_BYTES_MAX + LBW_ENDPOINT_BYTES_MAX)

/* Where a transport looks ranks up. */
struct book {
    struct lbc_pmix *pmix; /* borrowed */
    uint32_t serial;
    size_t tells_bytes;
};

static void key_name(char key[KEY_BYTES], uint32_t rank, uint32_t serial)
{
    snprintf(key, KEY_BYTES, "slurm-lb.rank.%u.%u", rank, serial);
}

/* A rank's card: its numbers, then its encoded endpoint; no endpoint when it cannot be reached. */
static int read_card(const struct book *b, uint32_t rank, uint8_t *ret_card, size_t *ret_n)
{
    char key[KEY_BYTES];
    int rc;

    key_name(key, rank, b->serial);
    rc = lbc_pmix_get(b->pmix, rank, key, ret_card, CARD_BYTES_MAX, ret_n);
    return rc == 0 && *ret_n < b->tells_bytes ? -EPROTO : rc;
}

static int find(void *arg, int rank, struct lbw_endpoint *ret_endpoint)
{
    const struct book *b = arg;
    uint8_t card[CARD_BYTES_MAX];
    size_t n = 0;
    int rc = read_card(b, (uint32_t)rank, card, &n);

    if (rc == 0)
        rc = lbw_endpoint_decode(card + b->tells_bytes, n - b->tells_bytes, ret_endpoint);
    explicit_bzero(card, sizeof(card));
    return rc;
}

/* Listen, with a key of our own.  Returns the descriptor or a negative errno. */
static int listen_here(uint32_t serial, const struct lbc_pmix *p, struct lbw_endpoint *ret)
{
    int fd = lbx_auth_setup();

    memset(ret, 0, sizeof(*ret));
    if (fd == 0)
        fd = lbx_sock_listen_tcp(NULL, &ret->port);
    if (fd < 0)
        return fd;
    lbx_auth_random(ret->key, sizeof(ret->key));
    snprintf(ret->context, sizeof(ret->context), "rank/%u/%u", p->rank, serial);
    lbw_addresses_find(ret);
    return fd;
}

/* Publish our card, and wait until all have theirs. */
static int publish(const struct book *b, const double *tell, const struct lbw_endpoint *endpoint)
{
    struct lbx_buf card;
    char key[KEY_BYTES];
    int rc;

    lbx_buf_init(&card, CARD_BYTES_MAX);
    rc = lbx_buf_append(&card, tell, b->tells_bytes);
    if (rc == 0 && endpoint)
        rc = lbw_endpoint_encode(endpoint, &card);
    key_name(key, b->pmix->rank, b->serial);
    if (rc == 0)
        rc = lbc_pmix_put(b->pmix, key, lbx_buf_data(&card), lbx_buf_len(&card));
    if (card.base)
        explicit_bzero(card.base, card.size);
    lbx_buf_fini(&card);
    if (lbc_pmix_fence(b->pmix) < 0) /* made even so: the others are in it */
        rc = -EIO;
    return rc;
}

/* Returns 0, -ENOTCONN or -EIO. */
static int read_all(const struct book *b, uint32_t size, double *ret_tell)
{
    int rc = 0;

    for (uint32_t r = 0; r < size; r++) {
        uint8_t card[CARD_BYTES_MAX];
        size_t n = 0;

        if (read_card(b, r, card, &n) < 0)
            return -EIO;
        memcpy((char *)ret_tell + r * b->tells_bytes, card, b->tells_bytes);
        if (n == b->tells_bytes)
            rc = -ENOTCONN;
        explicit_bzero(card, sizeof(card));
    }
    return rc;
}

int lbc_meet(struct lbc_pmix *p, uint32_t serial, const double *tell, int n, double *ret_tell,
             struct lbc_transport **ret)
{
    struct book here = {p, serial, (size_t)n * sizeof(*tell)}, *book = malloc(sizeof(*book));
    struct lbw_endpoint endpoint;
    struct lbc_mesh_config config = {.rank = (int)p->rank, .size = (int)p->size};
    struct lbc_transport *t = NULL;
    int fd = listen_here(serial, p, &endpoint), rc = fd;

    if (fd >= 0) {
        config.listen_fd = fd;
        config.endpoint = &endpoint;
        config.find = find;
        if (book)
            *book = here;
        rc = book ? lbc_tcp_create(&config, book, &t) : -ENOMEM;
        if (!book)
            close(fd);
        else if (rc < 0)
            free(book);
    } else {
        free(book);
    }
    rc = publish(&here, tell, rc == 0 ? &endpoint : NULL);
    explicit_bzero(&endpoint, sizeof(endpoint));
    if (rc == 0)
        rc = read_all(&here, p->size, ret_tell);
    if (rc == 0)
        *ret = t;
    else if (t)
        t->ops->destroy(t);
    return rc == 0 || rc == -ENOTCONN ? rc : -EIO;
}
