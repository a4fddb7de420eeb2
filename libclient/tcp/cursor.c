/* SPDX-License-Identifier: BSD-3-Clause */
/* A position in memory of many pieces. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libclient/tcp/tcp.h"

int tcp_cursor_init(struct tcp_cursor *c, const struct lbc_segment *segment, size_t n)
{
    struct lbc_segment *copy = calloc(n + 1, sizeof(*copy));

    if (!copy)
        return -ENOMEM;
    *c = (struct tcp_cursor){.segment = copy, .n = n};
    for (size_t i = 0; i < n; i++) {
        copy[i] = segment[i];
        c->left += segment[i].bytes;
    }
    return 0;
}

void tcp_cursor_fini(struct tcp_cursor *c)
{
    free(c->segment);
    *c = (struct tcp_cursor){0};
}

/* The next bytes that lie together, n at most. */
static size_t step(struct tcp_cursor *c, size_t n, char **ret_at)
{
    size_t bytes;

    while (c->at == c->segment[c->which].bytes) {
        c->which++;
        c->at = 0;
    }
    bytes = c->segment[c->which].bytes - c->at;
    bytes = bytes < n ? bytes : n;
    *ret_at = (char *)c->segment[c->which].base + c->at;
    c->at += bytes;
    c->left -= bytes;
    return bytes;
}

void tcp_cursor_take(struct tcp_cursor *c, void *to, size_t n)
{
    char *at, *p = to;

    while (n > 0) {
        size_t bytes = step(c, n, &at);

        memcpy(p, at, bytes);
        p += bytes;
        n -= bytes;
    }
}

void tcp_cursor_put(struct tcp_cursor *c, const void *from, size_t n)
{
    const char *p = from;
    char *at;

    while (n > 0) {
        size_t bytes = step(c, n, &at);

        memcpy(at, p, bytes);
        p += bytes;
        n -= bytes;
    }
}
