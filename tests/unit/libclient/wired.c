/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as threads of one process, connected over TCP. */
#include "tests/unit/libclient/wired.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/auth.h"
#include "common/sock.h"
#include "libclient/tcp/tcp.h"

struct book {
    int size;
    struct lbw_endpoint endpoint[];
};

static int find(void *arg, int rank, struct lbw_endpoint *ret_endpoint)
{
    const struct book *b = arg;

    *ret_endpoint = b->endpoint[rank];
    return 0;
}

void wired_create(int size, struct lbc_transport **ret_transport)
{
    size_t bytes = sizeof(struct book) + (size_t)size * sizeof(struct lbw_endpoint);
    struct book *all = calloc(1, bytes);
    int *fd = calloc((size_t)size, sizeof(*fd));

    if (!all || !fd || lbx_auth_setup() < 0)
        abort();
    for (int r = 0; r < size; r++) {
        struct lbw_endpoint *e = &all->endpoint[r];

        fd[r] = lbx_sock_listen_tcp("127.0.0.1", &e->port);
        lbx_auth_random(e->key, sizeof(e->key));
        snprintf(e->context, sizeof(e->context), "test/%d", r);
        strcpy(e->address[e->naddresses++], "127.0.0.1");
        if (fd[r] < 0)
            abort();
    }
    for (int r = 0; r < size; r++) {
        struct lbc_mesh_config config = {.rank = r,
                                         .size = size,
                                         .listen_fd = fd[r],
                                         .endpoint = &all->endpoint[r],
                                         .find = find};
        struct book *copy = malloc(bytes);

        if (!copy)
            abort();
        memcpy(copy, all, bytes);
        if (lbc_tcp_create(&config, copy, &ret_transport[r]) < 0)
            abort();
    }
    free(fd);
    free(all);
}
