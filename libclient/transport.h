/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What moves rows from rank to rank.  liblb knows only this table; liblb_mpi fills it with MPI, and
 * libclient/tcp with TCP for ranks that have no MPI.
 * No call waits for another rank but allgather.  Every call is made by the thread that is in a
 * function of lb.h.
 *
 * A transfer is a short header and any number of segments.  It is complete at its source only when
 * the destination has taken the header (synchronous sending): so a rank whose transfers are all
 * complete knows that the others know of them, and a barrier entered after that tells the end of a
 * pass.
 */
#ifndef LBC_TRANSPORT_H
#define LBC_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LBC_HEADER_MAX 1024 /* bytes of a transfer's header */
#define LBC_LEAST_MAX 4096  /* values of which the least is taken at once */

struct lbc_segment {
    void *base;
    size_t bytes;
};

/* What one rank sends to, or receives from, another one in an exchange. */
struct lbc_part {
    int peer;
    bool out;
    struct lbc_segment
        segment; /* of at least one byte; borrowed as long as the exchange is there */
};

struct lbc_send;     /* of the transport */
struct lbc_recv;     /* of the transport */
struct lbc_exchange; /* of the transport */
struct lbc_transport;

struct lbc_transport_ops {
    /* False when the layer below is no longer there (MPI_Finalize was called); only destroy may
     * follow. */
    bool (*usable)(struct lbc_transport *t);

    /*
     * Start a transfer to rank dest.
     * header[in]   [header_bytes], at most LBC_HEADER_MAX; copied
     * segment[in]  [n]; the table is copied, the memory borrowed until the transfer is complete
     * Returns 0; on a negative errno the destination will never hear of this transfer.
     */
    int (*send)(struct lbc_transport *t, int dest, const void *header, size_t header_bytes,
                const struct lbc_segment *segment, size_t n, struct lbc_send **ret_send);

    /* Returns 1 when complete (send is freed), 0 when not yet, a negative errno when the layer
     * below failed (freed). */
    int (*send_test)(struct lbc_transport *t, struct lbc_send *send);

    /* Will the headers sent to dest so far come there without any further call of this rank?  NULL: always. */
    bool (*is_under_way)(struct lbc_transport *t, int dest);

    /*
     * Take a header that has arrived, from any rank.
     * header[out]  [LBC_HEADER_MAX]
     * Returns 1, 0 when none is there (or no memory for it: it stays where it is), a negative errno
     * when the layer below failed.
     */
    int (*probe)(struct lbc_transport *t, void *header, size_t *ret_header_bytes, int *ret_source,
                 struct lbc_recv **ret_recv);

    /*
     * Begin to receive the segments of a transfer, straight into their places; the same number of
     * bytes as were sent.  Returns 0, -ENOMEM (nothing happened, call again), or another negative
     * errno.
     */
    int (*recv)(struct lbc_transport *t, struct lbc_recv *recv, const struct lbc_segment *segment,
                size_t n);

    /* As send_test. */
    int (*recv_test)(struct lbc_transport *t, struct lbc_recv *recv);

    /* Free a transfer whose segments nobody will receive. */
    void (*recv_drop)(struct lbc_transport *t, struct lbc_recv *recv);

    /* After a failure, when the program may take its memory back and this rank may not come again for long: nothing that is
     * under way is read from there or written there any more, nothing new begins, and whom the last words do not reach by
     * themselves hears of the failure in another way.  NULL: the layer below sees to it, as far as it can. */
    void (*abandon)(struct lbc_transport *t);

    /* Enter the next barrier; test says 1 when all ranks have entered it.  One at a time. */
    int (*barrier_start)(struct lbc_transport *t);
    int (*barrier_test)(struct lbc_transport *t);

    /*
     * Transfers that both sides know of: no headers.  An exchange is made once and used as often as
     * is liked, one at a time; what rank a sends to b in its exchanges comes, part by part, in the
     * order in which b's exchanges ask for it.  Making one is local.
     * part[in]  [n], copied; NULL when n is 0
     * Returns 0, -ENOMEM, or another negative errno when the layer below failed.
     */
    int (*exchange_create)(struct lbc_transport *t, const struct lbc_part *part, size_t n,
                           struct lbc_exchange **ret);
    int (*exchange_start)(struct lbc_transport *t, struct lbc_exchange *e);

    /* Returns 1 when all parts are there and the memory of those sent is free again, 0, or a
     * negative errno. */
    int (*exchange_test)(struct lbc_transport *t, struct lbc_exchange *e);

    /* Returns false when the layer below may still read or write the memory of its parts, until the process ends: after a failure,
     * where it was under way.  NULL is fine. */
    bool (*exchange_destroy)(struct lbc_transport *t, struct lbc_exchange *e);

    /*
     * The least of all ranks' values, one by one.  One at a time, and no barrier meanwhile.
     * value[in,out]  [n], the same n <= LBC_LEAST_MAX on all ranks; borrowed by test, until it says 1 or is called no more
     */
    int (*least_start)(struct lbc_transport *t, int64_t *value, int n);
    int (*least_test)(struct lbc_transport *t);

    /* ret_values[out] [size * n], by rank.  Waits for all ranks. */
    int (*allgather)(struct lbc_transport *t, const double *values, int n, double *ret_values);

    /* A descriptor that is readable when there is something to test for; NULL: the layer below has none. */
    int (*wait_fd)(struct lbc_transport *t);

    void (*destroy)(struct lbc_transport *t);
};

struct lbc_transport {
    const struct lbc_transport_ops *ops;
    int rank, size;
};

/*
 * The one symbol of liblb_mpi.  The name carries the version of this header.
 * mpi_comm[in]  pointer to the MPI_Comm to be duplicated, or NULL: MPI_COMM_WORLD
 * Collective over it.  Returns 0 or a negative errno, on all ranks alike unless MPI itself failed.
 */
#define LBC_MPI_LIBRARY "liblb_mpi.so.0"
#define LBC_MPI_ENTRY "lb_mpi_transport_6"
typedef int lbc_transport_entry(const void *mpi_comm, struct lbc_transport **ret);
lbc_transport_entry lb_mpi_transport_6;

#endif
