/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks without MPI say to each other (libclient/tcp): the frames of two proved peers, in any order, between what this
 * rank does itself.  No connections: the mesh is here, and looks at what is sent.
 *
 * First byte: how often there is room to send.  Then operations, each of a byte: its last three bits say which.
 *     0 to 2  a frame of rank 1 or 2: its length in two bytes, its body
 *     3       send a transfer        4  take a header; receive its rows, or drop it, or ask for another size
 *     5       go on with transfers   6  start an exchange, or go on with it   7  the same of the least of values
 */
#include <errno.h>
#include <stdlib.h>

#include "libclient/tcp/tcp.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "tcp";

#define RANKS 3
#define TRANSFERS 4
#define SENT_BYTES 9
#define IN_BYTES 16
#define LOG_BYTES 65536

struct lbc_mesh {
    struct lbc_mesh_config config;
    unsigned room, asked; /* every nth time that it is asked there is none */
    bool failed;
};

/* What was said to this rank, and what it has said. */
static struct {
    struct lbc_mesh *mesh;
    uint64_t wanted[RANKS], parts[RANKS];    /* bytes asked for by peers; sent to them */
    uint64_t go[TRANSFERS], rows[TRANSFERS]; /* of the transfer with this id: asked for; sent */
    uint8_t log[RANKS][LOG_BYTES];           /* parts that peers have sent, one after another */
    size_t logged[RANKS], read[RANKS];       /* of them, those whose exchange is over */
} world;

int lbc_mesh_create(const struct lbc_mesh_config *config, struct lbc_mesh **ret)
{
    struct lbc_mesh *m = calloc(1, sizeof(*m));

    if (!m)
        return -ENOMEM;
    m->config = *config;
    *ret = world.mesh = m;
    return 0;
}

void lbc_mesh_destroy(struct lbc_mesh *m)
{
    free(m);
}

int lbc_mesh_connect(struct lbc_mesh *m, int dest)
{
    if (dest < 0 || dest >= RANKS || dest == m->config.rank)
        fuzz_fail("a connection to no rank");
    return m->failed ? -EPIPE : 0;
}

/* Nothing leaves that was not asked for. */
int lbc_mesh_send(struct lbc_mesh *m, int dest, const void *head, size_t nhead, const void *tail,
                  size_t ntail)
{
    struct tcp_head h;
    int rc = lbc_mesh_connect(m, dest);

    (void)tail;
    if (nhead != sizeof(h) || ntail > LBC_MESH_BODY_MAX)
        fuzz_fail("a frame that is too long");
    memcpy(&h, head, sizeof(h));
    if (rc < 0)
        return rc;
    if (h.type == TCP_PART && (world.parts[dest] += ntail) > world.wanted[dest])
        fuzz_fail("parts that nobody asked for");
    if (h.type == TCP_ROWS && h.id >= TRANSFERS)
        fuzz_fail("rows of no transfer");
    if (h.type == TCP_ROWS && (world.rows[h.id] += ntail) > world.go[h.id])
        fuzz_fail("rows that nobody asked for");
    return 0;
}

bool lbc_mesh_has_room(const struct lbc_mesh *m, int dest)
{
    struct lbc_mesh *w = world.mesh;

    (void)dest;
    return m->room == 0 || ++w->asked % m->room != 0;
}

bool lbc_mesh_is_flushed(const struct lbc_mesh *m, int dest)
{
    (void)m;
    (void)dest;
    return true;
}

int lbc_mesh_progress(struct lbc_mesh *m)
{
    return m->failed ? -EIO : 0;
}

int lbc_mesh_fd(const struct lbc_mesh *m)
{
    (void)m;
    return -1;
}

bool lbc_mesh_has_failed(const struct lbc_mesh *m)
{
    return m->failed;
}

bool lbc_mesh_is_gone(const struct lbc_mesh *m, int rank)
{
    (void)m;
    (void)rank;
    return false;
}

int lbc_mesh_heed(struct lbc_mesh *m, int rank)
{
    return lbc_mesh_connect(m, rank);
}

void lbc_mesh_fail(struct lbc_mesh *m)
{
    m->failed = true;
}

static int find(void *arg, int rank, struct lbw_endpoint *ret_endpoint)
{
    (void)arg;
    (void)rank;
    (void)ret_endpoint;
    return -ENOENT;
}

/* This rank: what it has under way. */
struct rank {
    struct lbc_transport *t;
    struct lbc_send *send[TRANSFERS];
    struct lbc_recv *recv[TRANSFERS];
    char *rows[TRANSFERS], *sent; /* exactly so large: a byte too many is seen by the sanitizers */
    int nsent;
    struct lbc_exchange *exchange;
    char *in[RANKS], *out;
    bool exchanging, choosing;
    int64_t value[2];
};

static void make(struct rank *r, unsigned room)
{
    struct lbc_mesh_config config = {.rank = 0, .size = RANKS, .listen_fd = -1, .find = find};
    struct lbc_part part[3];

    memset(&world, 0, sizeof(world));
    memset(r, 0, sizeof(*r));
    if (lbc_tcp_create(&config, NULL, &r->t) != 0)
        fuzz_fail("no memory");
    world.mesh->room = room;
    r->sent = calloc(1, SENT_BYTES);
    r->out = calloc(1, IN_BYTES);
    r->in[1] = calloc(1, IN_BYTES);
    r->in[2] = calloc(1, IN_BYTES / 2);
    part[0] = (struct lbc_part){1, false, {r->in[1], IN_BYTES}};
    part[1] = (struct lbc_part){1, true, {r->out, IN_BYTES}};
    part[2] = (struct lbc_part){2, false, {r->in[2], IN_BYTES / 2}};
    if (r->t->ops->exchange_create(r->t, part, 3, &r->exchange) != 0)
        fuzz_fail("no memory");
}

static void end(struct rank *r)
{
    r->t->ops->exchange_destroy(r->t, r->exchange);
    r->t->ops->destroy(r->t);
    for (int i = 0; i < TRANSFERS; i++)
        free(r->rows[i]);
    free(r->sent);
    free(r->out);
    free(r->in[1]);
    free(r->in[2]);
}

/* Note what a frame of a peer asks for, or brings, if it is one that may be taken. */
static void hear(int source, const uint8_t *body, size_t n)
{
    struct tcp_head h;

    if (n < sizeof(h))
        return;
    memcpy(&h, body, sizeof(h));
    n -= sizeof(h);
    if (h.type == TCP_WANT && world.wanted[source] + h.number >= h.number)
        world.wanted[source] += h.number;
    if (h.type == TCP_GO && h.id < TRANSFERS && source == 1)
        world.go[h.id] = SENT_BYTES;
    if (h.type == TCP_PART && n <= LOG_BYTES - world.logged[source]) {
        memcpy(world.log[source] + world.logged[source], body + sizeof(h), n);
        world.logged[source] += n;
    }
}

/* A frame as the mesh delivers it: not of a byte, which would be a goodbye.  Returns how long the operation was, or 0. */
static size_t take_frame(struct rank *r, int source, const uint8_t *data, size_t n, bool *ret_good)
{
    size_t bytes = n < 2 ? 0 : data[0] | (size_t)data[1] << 8;
    uint8_t *body;
    int rc;

    if (n < 2 || bytes < 2 || bytes > n - 2)
        return 0;
    body = malloc(bytes); /* exactly so large */
    if (!body)
        fuzz_fail("no memory");
    memcpy(body, data + 2, bytes);
    hear(source, body, bytes);
    rc = world.mesh->config.deliver(world.mesh->config.arg, source, body, bytes);
    free(body);
    if (rc > 0)
        fuzz_fail("a frame is taken in part");
    world.mesh->failed = rc < 0;
    *ret_good = rc == 0;
    (void)r;
    return 2 + bytes;
}

static void start_transfer(struct rank *r)
{
    struct lbc_segment segment = {r->sent, SENT_BYTES};

    if (r->nsent < TRANSFERS &&
        r->t->ops->send(r->t, 1, "header", 6, &segment, 1, &r->send[r->nsent]) == 0)
        r->nsent++;
}

/* how: 0 receive as many bytes as the header's first says, 1 drop it, 2 receive five */
static void take_header(struct rank *r, int how)
{
    char header[LBC_HEADER_MAX];
    struct lbc_segment segment = {NULL, 5};
    struct lbc_recv *recv = NULL;
    int i = 0, source = 0;
    size_t n = 0;

    while (i < TRANSFERS && r->recv[i])
        i++;
    if (i == TRANSFERS || r->t->ops->probe(r->t, header, &n, &source, &recv) != 1)
        return;
    if (source < 1 || source >= RANKS || n > LBC_HEADER_MAX)
        fuzz_fail("a header of nobody, or one that is too long");
    if (how == 0)
        segment.bytes = n > 0 ? (uint8_t)header[0] : 0;
    free(r->rows[i]);
    r->rows[i] = segment.base = malloc(segment.bytes + (segment.bytes == 0));
    if (how == 1 || r->t->ops->recv(r->t, recv, &segment, segment.bytes > 0) != 0)
        r->t->ops->recv_drop(r->t, recv);
    else
        r->recv[i] = recv;
}

static void go_on(struct rank *r)
{
    for (int i = 0; i < TRANSFERS; i++) {
        if (r->send[i] && r->t->ops->send_test(r->t, r->send[i]) != 0)
            r->send[i] = NULL;
        if (r->recv[i] && r->t->ops->recv_test(r->t, r->recv[i]) != 0)
            r->recv[i] = NULL;
    }
}

/* When it is over its memory holds what the peers have sent, in order. */
static void exchange(struct rank *r)
{
    int rc = 0;

    if (!r->exchanging) {
        r->exchanging = r->t->ops->exchange_start(r->t, r->exchange) == 0;
        return;
    }
    rc = r->t->ops->exchange_test(r->t, r->exchange);
    for (int s = 1; s < RANKS && rc == 1; s++) {
        size_t n = s == 1 ? IN_BYTES : IN_BYTES / 2;

        if (world.logged[s] - world.read[s] < n ||
            memcmp(world.log[s] + world.read[s], r->in[s], n) != 0)
            fuzz_fail("parts are not what was sent");
        world.read[s] += n;
    }
    r->exchanging = rc == 0;
}

static void choose(struct rank *r)
{
    if (!r->choosing) {
        r->value[0] = 5;
        r->value[1] = -5;
        r->choosing = r->t->ops->least_start(r->t, r->value, 2) == 0;
        return;
    }
    r->choosing = r->t->ops->least_test(r->t) == 0;
    if (r->value[0] > 5 || r->value[1] > -5)
        fuzz_fail("the least is more than ours");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct rank r; /* large */
    bool good = false, taken = false;

    if (n < 2)
        return 0;
    make(&r, data[0]);
    for (size_t i = 1; i < n && !world.mesh->failed; i++) {
        uint8_t what = data[i] & 7, how = data[i] >> 3;
        size_t used;

        switch (what) {
        case 3:
            start_transfer(&r);
            break;
        case 4:
            take_header(&r, how % 3);
            break;
        case 5:
            go_on(&r);
            break;
        case 6:
            exchange(&r);
            break;
        case 7:
            choose(&r);
            break;
        default:
            used = take_frame(&r, 1 + how % 2, data + i + 1, n - i - 1, &good);
            taken = taken || good;
            if (used == 0)
                i = n;
            i += used;
        }
    }
    fuzz_accepted += taken && !world.mesh->failed;
    end(&r);
    return 0;
}
