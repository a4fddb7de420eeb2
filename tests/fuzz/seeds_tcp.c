/* SPDX-License-Identifier: BSD-3-Clause */
/* Corpus of fuzz_tcp: what it means, see there. */
#include "libclient/tcp/tcp.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"

enum { SEND = 3, TAKE = 4, DROP = 4 + 8, TAKE_FIVE = 4 + 16, GO_ON = 5, EXCHANGE = 6, LEAST = 7 };

static struct lbx_buf input;

static void must(int rc)
{
    if (rc != 0)
        fuzz_fail("no memory");
}

static void put(const void *bytes, size_t n)
{
    must(lbx_buf_append(&input, bytes, n));
}

static void act(int what)
{
    uint8_t b = (uint8_t)what;

    put(&b, 1);
}

/* A frame of a peer: n bytes that count up from `from`. */
static void frame(int source, uint32_t type, uint32_t id, uint64_t number, uint8_t from, size_t n)
{
    struct tcp_head h = {type, id, number};
    uint8_t length[2] = {(uint8_t)(sizeof(h) + n), (uint8_t)((sizeof(h) + n) >> 8)};

    act((source - 1) << 3);
    put(length, sizeof(length));
    put(&h, sizeof(h));
    for (size_t i = 0; i < n; i++)
        act(from + (int)i);
}

static void least(int source, uint32_t id, uint64_t round, int64_t a, int64_t b)
{
    struct tcp_head h = {TCP_GROUP, id, round};
    uint8_t length[2] = {sizeof(h) + 16, 0};

    act((source - 1) << 3);
    put(length, sizeof(length));
    put(&h, sizeof(h));
    put(&a, sizeof(a));
    put(&b, sizeof(b));
}

static void end(const char *folder, const char *name, char room)
{
    seeds_put(folder, "tcp", name, room, &input);
    lbx_buf_init(&input, LBX_FRAME_CAP);
}

void seeds_tcp(const char *folder)
{
    lbx_buf_init(&input, LBX_FRAME_CAP);
    /* a transfer comes: header, TAKEN, GO, rows in two frames */
    frame(1, TCP_HEADER, 7, 12, 12, 3);
    act(TAKE);
    frame(1, TCP_ROWS, 7, 0, 40, 5);
    act(GO_ON);
    frame(1, TCP_ROWS, 7, 0, 45, 7);
    act(GO_ON);
    end(folder, "receive", 0);
    frame(2, TCP_HEADER, 1, 9, 9, 1);
    frame(1, TCP_HEADER, 1, 0, 0, 2);
    act(DROP);
    act(TAKE);
    act(GO_ON);
    end(folder, "drop", 2);
    act(SEND);
    act(SEND);
    frame(1, TCP_TAKEN, 0, 0, 0, 0);
    frame(1, TCP_GO, 0, 0, 0, 0);
    frame(1, TCP_DROP, 1, 0, 0, 0);
    act(GO_ON);
    act(GO_ON);
    end(folder, "send", 2);
    act(EXCHANGE);
    frame(1, TCP_WANT, 0, 16, 0, 0);
    frame(1, TCP_PART, 0, 0, 60, 16);
    frame(2, TCP_PART, 0, 0, 80, 8);
    act(EXCHANGE);
    act(EXCHANGE);
    frame(2, TCP_PART, 0, 0, 90, 8);
    frame(1, TCP_PART, 0, 0, 100, 10);
    frame(1, TCP_PART, 0, 0, 110, 6);
    frame(1, TCP_WANT, 0, 16, 0, 0);
    act(EXCHANGE);
    act(EXCHANGE);
    end(folder, "exchange", 3);
    act(LEAST);
    least(1, 1, 1, 4, -4);
    least(2, 1, 0, 6, -6);
    act(LEAST);
    least(2, 2, 0, 1, 1);
    act(LEAST);
    act(LEAST);
    end(folder, "least", 0);
    frame(1, TCP_ROWS, 7, 0, 1, 4); /* of a transfer that there is not */
    end(folder, "bad-rows", 0);
    frame(1, TCP_HEADER, 7, 3, 3, 3);
    act(TAKE);
    frame(1, TCP_ROWS, 7, 0, 1, 4); /* one too many */
    end(folder, "bad-rows-long", 0);
    act(SEND);
    frame(2, TCP_GO, 0, 0, 0, 0); /* by another rank than its destination */
    end(folder, "bad-go", 0);
    frame(1, TCP_PART, 0, 0, 1, 4); /* nobody asked for it */
    end(folder, "bad-part", 0);
    frame(1, 99, 0, 0, 1, 4);
    end(folder, "bad-type", 0);
    lbx_buf_fini(&input);
}
