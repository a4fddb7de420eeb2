/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport of ranks that have no MPI: liblb moves rows over TCP then.
 *
 * Memory in flight is capped: a header goes at once, its rows only when the destination asks for
 * them, having a place for them, and so much of them at a time as the connection has room for.  So
 * nothing that comes is kept but headers, and no rank waits for one that waits for it.
 *
 *     source                          destination
 *     HEADER(id, bytes, header)  ->   kept until probe
 *                                <-   TAKEN(id)             at probe
 *                                <-   GO(id)                at recv, or DROP(id) at recv_drop
 *     ROWS(id, bytes...) ...     ->   straight into their places
 */
#ifndef LBC_TCP_TCP_H
#define LBC_TCP_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libclient/tcp/mesh.h"
#include "libclient/transport.h"

/*
 * Take over a mesh's configuration, its deliver and arg are ours to set.
 * find_arg  for find; transferred with success: free()d by destroy
 * Returns 0 with *ret, whose destroy ends the mesh, or a negative errno.
 */
int lbc_tcp_create(const struct lbc_mesh_config *config, void *find_arg, struct lbc_transport **ret)
    __attribute__((warn_unused_result));

/* From here on for the files of libclient/tcp alone. */

enum tcp_type {
    TCP_HEADER = 1,
    TCP_TAKEN,
    TCP_GO,
    TCP_DROP,
    TCP_ROWS,
    TCP_WANT,
    TCP_PART,
    TCP_GROUP
};

/* In front of every frame; all ranks of a job have one byte order. */
struct tcp_head {
    uint32_t type, id;
    uint64_t number; /* HEADER: bytes of rows; WANT: bytes asked for; GROUP: the round */
};

struct tcp_transport;

/* Memory that rows or parts are copied from or to. */
struct tcp_cursor {
    struct lbc_segment *segment; /* [n], owned */
    size_t n, which, at;
    uint64_t left;
};
int tcp_cursor_init(struct tcp_cursor *c, const struct lbc_segment *segment, size_t n)
    __attribute__((warn_unused_result));
void tcp_cursor_fini(struct tcp_cursor *c);
/* Copy n bytes, at most `left`, to or from their places. */
void tcp_cursor_take(struct tcp_cursor *c, void *to, size_t n);
void tcp_cursor_put(struct tcp_cursor *c, const void *from, size_t n);

/* group.c: what all ranks do together. */
struct tcp_message {
    struct tcp_message *next;
    uint32_t id;    /* which operation */
    uint64_t round; /* of it */
    size_t n;
    uint8_t bytes[];
};
struct tcp_group {
    uint32_t id; /* of the operation that is under way, or was last */
    uint32_t round;
    int64_t since_ns; /* the present round is waited for; 0: it is not yet */
    int64_t *value;   /* [n], borrowed */
    int n;
    struct tcp_message *message; /* that have come, in order */
};
int tcp_group_message(struct tcp_transport *t, const struct tcp_head *h, const uint8_t *bytes,
                      size_t n) __attribute__((warn_unused_result));
void tcp_group_fini(struct tcp_transport *t);
int tcp_least_start(struct lbc_transport *base, int64_t *value, int n);
int tcp_least_test(struct lbc_transport *base);
int tcp_barrier_start(struct lbc_transport *base);
int tcp_allgather(struct lbc_transport *base, const double *values, int n, double *ret_values);

/* parts.c: exchanges, which both sides know of. */
int tcp_part_message(struct tcp_transport *t, int source, const struct tcp_head *h,
                     const uint8_t *bytes, size_t n) __attribute__((warn_unused_result));
int tcp_parts_pump(struct tcp_transport *t) __attribute__((warn_unused_result));
int tcp_exchange_create(struct lbc_transport *base, const struct lbc_part *part, size_t n,
                        struct lbc_exchange **ret);
int tcp_exchange_start(struct lbc_transport *base, struct lbc_exchange *e);
int tcp_exchange_test(struct lbc_transport *base, struct lbc_exchange *e);
bool tcp_exchange_destroy(struct lbc_transport *base, struct lbc_exchange *e);

struct tcp_transport {
    struct lbc_transport base;
    struct lbc_mesh *mesh;
    int (*find)(void *arg, int rank, struct lbw_endpoint *ret_endpoint);
    void *find_arg;
    struct lbc_send *send;      /* going out, in order */
    struct lbc_recv *arrived;   /* headers that nobody has taken, in order */
    struct lbc_recv *receiving; /* taken */
    uint32_t narrived, next_id;
    bool abandoned; /* transfers are, and their rows may be gone */
    struct tcp_group group;
    struct lbc_exchange *exchange; /* under way, in order of their starts */
    uint64_t *asked;               /* [size] bytes that a rank asked for, and were not sent yet */
    uint8_t *scratch;              /* [LBC_MESH_BODY_MAX] */
    int (*pump)(struct tcp_transport *t); /* sends of transfers and exchanges what can be sent */
};

/* frames.c: what the others are made of. */

/* Take what has come, send what can be sent.  Returns 0 or -EIO. */
int tcp_progress(struct tcp_transport *t) __attribute__((warn_unused_result));

/* Queue a short frame.  As lbc_mesh_send. */
int tcp_tell(struct tcp_transport *t, int dest, enum tcp_type type, uint32_t id, uint64_t number,
             const void *bytes, size_t n) __attribute__((warn_unused_result));

/* Send of the cursor as much as there is room for, `most` bytes at most.  Returns 0 or a negative errno. */
int tcp_send_some(struct tcp_transport *t, int dest, enum tcp_type type, uint32_t id,
                  struct tcp_cursor *from, uint64_t most, uint64_t *ret_sent)
    __attribute__((warn_unused_result));

static inline struct tcp_transport *tcp_of(struct lbc_transport *t)
{
    return (struct tcp_transport *)(void *)t;
}

#endif
