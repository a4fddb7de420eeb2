/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows by MPI, on a communicator of our own.  This library is loaded by liblb into programs that
 * use MPI. */
#include "libclient/transport.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#define TAG_HEADER 0
#define TAG_ROWS 1 /* and the TAG_ROWS_COUNT - 1 above: one for each transfer of a source */
#define TAG_ROWS_COUNT 16000 /* MPI promises tags up to 32767 */
#define TAG_EXCHANGE (TAG_ROWS + TAG_ROWS_COUNT)
#define PIECE_BYTES (1U << 30) /* a count is an int */

/* In front of every header. */
struct prefix {
    uint32_t rows_tag;
};

struct mpi_transport {
    struct lbc_transport base;
    MPI_Comm comm;
    uint32_t next_tag;
    MPI_Request barrier, least;
    /* MPI's own place for the least: who takes it may give up meanwhile, and free his. */
    int64_t least_value[LBC_LEAST_MAX];
    int64_t *least_to;
    int least_n;
    struct lbc_recv *spare; /* so that a message is never taken without memory for it */
};

struct lbc_send {
    char header[sizeof(struct prefix) + LBC_HEADER_MAX];
    int nrequests;
    MPI_Request request[]; /* [nrequests], the header's first */
};

struct lbc_recv {
    int source;
    uint32_t rows_tag;
    int nrequests;
    MPI_Request *request; /* [nrequests], owned */
};

/* Persistent requests. */
struct lbc_exchange {
    bool active;
    int nrequests;
    MPI_Request request[]; /* [nrequests], in the order of the parts */
};

static struct mpi_transport *of(struct lbc_transport *t)
{
    return (struct mpi_transport *)t;
}

static size_t pieces(const struct lbc_segment *segment, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += segment[i].bytes / PIECE_BYTES + (segment[i].bytes % PIECE_BYTES != 0);
    return sum;
}

/* Call post for each piece of the segments.  Returns 0 or -EIO. */
static int post_pieces(MPI_Comm comm, const struct lbc_segment *segment, size_t n, int peer,
                       int tag, MPI_Request *request, bool sending)
{
    for (size_t i = 0; i < n; i++) {
        char *p = segment[i].base;

        for (size_t left = segment[i].bytes; left > 0;) {
            int bytes = (int)(left < PIECE_BYTES ? left : PIECE_BYTES);
            int rc = sending ? MPI_Isend(p, bytes, MPI_BYTE, peer, tag, comm, request)
                             : MPI_Irecv(p, bytes, MPI_BYTE, peer, tag, comm, request);

            if (rc != MPI_SUCCESS)
                return -EIO;
            request++;
            p += bytes;
            left -= (size_t)bytes;
        }
    }
    return 0;
}

static bool mpi_usable(struct lbc_transport *t)
{
    int finalized = 0;

    (void)t;
    return MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized;
}

static int mpi_send(struct lbc_transport *t, int dest, const void *header, size_t header_bytes,
                    const struct lbc_segment *segment, size_t n, struct lbc_send **ret_send)
{
    struct mpi_transport *m = of(t);
    size_t nrequests = 1 + pieces(segment, n);
    struct prefix prefix = {TAG_ROWS + m->next_tag % TAG_ROWS_COUNT};
    struct lbc_send *s;

    if (header_bytes > LBC_HEADER_MAX || nrequests > INT32_MAX)
        return -EMSGSIZE;
    s = malloc(sizeof(*s) + nrequests * sizeof(s->request[0]));
    if (!s)
        return -ENOMEM;
    m->next_tag++;
    memcpy(s->header, &prefix, sizeof(prefix));
    memcpy(s->header + sizeof(prefix), header, header_bytes);
    s->nrequests = (int)nrequests;
    /* The header goes last: until it is sent the destination knows nothing.  After a failure s is
     * left to the requests that were posted, under a tag that nobody listens to. */
    if (post_pieces(m->comm, segment, n, dest, (int)prefix.rows_tag, s->request + 1, true) < 0)
        return -EIO;
    if (MPI_Issend(s->header, (int)(sizeof(prefix) + header_bytes), MPI_BYTE, dest, TAG_HEADER,
                   m->comm, &s->request[0]) != MPI_SUCCESS)
        return -EIO;
    *ret_send = s;
    return 0;
}

static int mpi_send_test(struct lbc_transport *t, struct lbc_send *s)
{
    int done = 0, rc;

    (void)t;
    rc = MPI_Testall(s->nrequests, s->request, &done, MPI_STATUSES_IGNORE);
    if (rc != MPI_SUCCESS) {
        free(s);
        return -EIO;
    }
    if (done)
        free(s);
    return done;
}

static int mpi_probe(struct lbc_transport *t, void *header, size_t *ret_header_bytes,
                     int *ret_source, struct lbc_recv **ret_recv)
{
    struct mpi_transport *m = of(t);
    char text[sizeof(struct prefix) + LBC_HEADER_MAX];
    struct prefix prefix;
    MPI_Message message;
    MPI_Status status;
    int there = 0, bytes = 0;

    if (!m->spare)
        m->spare = calloc(1, sizeof(*m->spare));
    if (!m->spare)
        return 0;
    if (MPI_Improbe(MPI_ANY_SOURCE, TAG_HEADER, m->comm, &there, &message, &status) != MPI_SUCCESS)
        return -EIO;
    if (!there)
        return 0;
    /* The whole header fits what comes with the first packet, so this does not wait. */
    if (MPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < (int)sizeof(prefix) ||
        bytes > (int)sizeof(text) ||
        MPI_Mrecv(text, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -EIO;
    memcpy(&prefix, text, sizeof(prefix));
    memcpy(header, text + sizeof(prefix), (size_t)bytes - sizeof(prefix));
    *ret_header_bytes = (size_t)bytes - sizeof(prefix);
    *ret_source = m->spare->source = status.MPI_SOURCE;
    m->spare->rows_tag = prefix.rows_tag;
    *ret_recv = m->spare;
    m->spare = NULL;
    return 1;
}

static int mpi_recv(struct lbc_transport *t, struct lbc_recv *r, const struct lbc_segment *segment,
                    size_t n)
{
    size_t nrequests = pieces(segment, n);

    if (nrequests > INT32_MAX)
        return -EMSGSIZE;
    r->request = calloc(nrequests + 1, sizeof(*r->request));
    if (!r->request)
        return -ENOMEM;
    r->nrequests = (int)nrequests;
    return post_pieces(of(t)->comm, segment, n, r->source, (int)r->rows_tag, r->request, false);
}

static void mpi_recv_drop(struct lbc_transport *t, struct lbc_recv *r)
{
    (void)t;
    if (!r)
        return;
    free(r->request);
    free(r);
}

static int mpi_recv_test(struct lbc_transport *t, struct lbc_recv *r)
{
    int done = 0;
    int rc = MPI_Testall(r->nrequests, r->request, &done, MPI_STATUSES_IGNORE);

    if (rc == MPI_SUCCESS && !done)
        return 0;
    mpi_recv_drop(t, r);
    return rc == MPI_SUCCESS ? 1 : -EIO;
}

static int mpi_barrier_start(struct lbc_transport *t)
{
    return MPI_Ibarrier(of(t)->comm, &of(t)->barrier) == MPI_SUCCESS ? 0 : -EIO;
}

static int mpi_barrier_test(struct lbc_transport *t)
{
    int done = 0;

    if (MPI_Test(&of(t)->barrier, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -EIO;
    return done;
}

static bool mpi_exchange_destroy(struct lbc_transport *t, struct lbc_exchange *e)
{
    if (!e || e->active) /* after a failure it is left to what is under way */
        return !e;
    for (int i = 0; i < e->nrequests && mpi_usable(t); i++)
        if (e->request[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&e->request[i]);
    free(e);
    return true;
}

static int init_part(MPI_Comm comm, const struct lbc_part *part, MPI_Request *request)
{
    char *p = part->segment.base;

    for (size_t left = part->segment.bytes; left > 0;) {
        int bytes = (int)(left < PIECE_BYTES ? left : PIECE_BYTES);
        int rc = part->out
                     ? MPI_Send_init(p, bytes, MPI_BYTE, part->peer, TAG_EXCHANGE, comm, request)
                     : MPI_Recv_init(p, bytes, MPI_BYTE, part->peer, TAG_EXCHANGE, comm, request);

        if (rc != MPI_SUCCESS)
            return -EIO;
        request++;
        p += bytes;
        left -= (size_t)bytes;
    }
    return 0;
}

static int mpi_exchange_create(struct lbc_transport *t, const struct lbc_part *part, size_t n,
                               struct lbc_exchange **ret)
{
    struct lbc_exchange *e;
    size_t nrequests = 0, k = 0;

    for (size_t i = 0; i < n; i++)
        nrequests += pieces(&part[i].segment, 1);
    if (nrequests > INT32_MAX)
        return -EMSGSIZE;
    e = malloc(sizeof(*e) + nrequests * sizeof(e->request[0]));
    if (!e)
        return -ENOMEM;
    e->active = false;
    e->nrequests = (int)nrequests;
    for (size_t i = 0; i < nrequests; i++)
        e->request[i] = MPI_REQUEST_NULL;
    for (size_t i = 0; i < n; i++) {
        if (init_part(of(t)->comm, &part[i], e->request + k) < 0) {
            mpi_exchange_destroy(t, e);
            return -EIO;
        }
        k += pieces(&part[i].segment, 1);
    }
    *ret = e;
    return 0;
}

/* One by one: MPI_Startall may start them in any order, and the order tells which is which. */
static int mpi_exchange_start(struct lbc_transport *t, struct lbc_exchange *e)
{
    (void)t;
    e->active = true;
    for (int i = 0; i < e->nrequests; i++)
        if (MPI_Start(&e->request[i]) != MPI_SUCCESS)
            return -EIO;
    return 0;
}

static int mpi_exchange_test(struct lbc_transport *t, struct lbc_exchange *e)
{
    int done = 0;

    (void)t;
    if (MPI_Testall(e->nrequests, e->request, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
        return -EIO;
    e->active = !done;
    return done;
}

static int mpi_least_start(struct lbc_transport *t, int64_t *value, int n)
{
    struct mpi_transport *m = of(t);

    assert(n <= LBC_LEAST_MAX);
    memcpy(m->least_value, value, (size_t)n * sizeof(*value));
    m->least_to = value;
    m->least_n = n;
    return MPI_Iallreduce(MPI_IN_PLACE, m->least_value, n, MPI_INT64_T, MPI_MIN, m->comm,
                          &m->least) == MPI_SUCCESS
               ? 0
               : -EIO;
}

static int mpi_least_test(struct lbc_transport *t)
{
    struct mpi_transport *m = of(t);
    int done = 0;

    if (MPI_Test(&m->least, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -EIO;
    if (done)
        memcpy(m->least_to, m->least_value, (size_t)m->least_n * sizeof(*m->least_to));
    return done;
}

static int mpi_allgather(struct lbc_transport *t, const double *values, int n, double *ret_values)
{
    return MPI_Allgather(values, n, MPI_DOUBLE, ret_values, n, MPI_DOUBLE, of(t)->comm) ==
                   MPI_SUCCESS
               ? 0
               : -EIO;
}

static void mpi_destroy(struct lbc_transport *t)
{
    struct mpi_transport *m = of(t);

    if (!m)
        return;
    if (mpi_usable(t) && m->least == MPI_REQUEST_NULL)
        MPI_Comm_free(&m->comm);
    mpi_recv_drop(t, m->spare);
    if (m->least == MPI_REQUEST_NULL) /* else MPI may still write there, until the process ends */
        free(m);
}

static const struct lbc_transport_ops mpi_ops = {
    .usable = mpi_usable,
    .send = mpi_send,
    .send_test = mpi_send_test,
    .probe = mpi_probe,
    .recv = mpi_recv,
    .recv_test = mpi_recv_test,
    .recv_drop = mpi_recv_drop,
    .barrier_start = mpi_barrier_start,
    .barrier_test = mpi_barrier_test,
    .exchange_create = mpi_exchange_create,
    .exchange_start = mpi_exchange_start,
    .exchange_test = mpi_exchange_test,
    .exchange_destroy = mpi_exchange_destroy,
    .least_start = mpi_least_start,
    .least_test = mpi_least_test,
    .allgather = mpi_allgather,
    .destroy = mpi_destroy,
};

/* Is the MPI of this process the one this library was built for?  Handles differ between makes. */
static bool is_our_mpi(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n = 0;

    if (MPI_Get_library_version(text, &n) != MPI_SUCCESS)
        return false;
#ifdef OPEN_MPI
    return strncmp(text, "Open MPI", 8) == 0;
#else
    return strncmp(text, "Open MPI", 8) != 0;
#endif
}

int lb_mpi_transport_6(const void *mpi_comm, struct lbc_transport **ret)
{
    struct mpi_transport *m;
    MPI_Comm comm;

    if (!is_our_mpi())
        return -ENOTSUP;
    comm = mpi_comm ? *(const MPI_Comm *)mpi_comm : MPI_COMM_WORLD;
    if (comm == MPI_COMM_NULL)
        return -EINVAL;
    m = calloc(1, sizeof(*m));
    if (!m)
        return -ENOMEM;
    m->base.ops = &mpi_ops;
    m->barrier = m->least = MPI_REQUEST_NULL;
    if (MPI_Comm_dup(comm, &m->comm) != MPI_SUCCESS) {
        free(m);
        return -EIO;
    }
    if (MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
        MPI_Comm_rank(m->comm, &m->base.rank) != MPI_SUCCESS ||
        MPI_Comm_size(m->comm, &m->base.size) != MPI_SUCCESS) {
        mpi_destroy(&m->base);
        return -EIO;
    }
    *ret = &m->base;
    return 0;
}
