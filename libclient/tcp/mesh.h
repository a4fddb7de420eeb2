/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections between the ranks of a job that has no MPI.  Each rank listens, with a key of its own;
 * who has something for a rank connects to it, proves its key, and sends frames; what the other has
 * to say comes on a connection of the other's.  A connection is made when it is first needed.
 *
 * Nothing here waits for another rank, but connecting, which the other one's kernel answers.  A rank
 * that goes says so on all its connections; one whose connection ends without that has died, and
 * the mesh has failed.  A mesh that has failed ends its connections at once, so that those who wait for this rank hear of it:
 * who waits for a rank for long has a connection with it.
 */
#ifndef LBC_TCP_MESH_H
#define LBC_TCP_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/endpoint.h"

#define LBC_MESH_BODY_MAX 61440 /* bytes of a frame's body; a frame may hold a little more */

struct lbc_mesh;

struct lbc_mesh_config {
    int rank, size;
    int listen_fd;                       /* transferred, on failure too */
    const struct lbw_endpoint *endpoint; /* ours; copied */
    /* Where a rank listens.  Returns 0 or a negative errno. */
    int (*find)(void *arg, int rank, struct lbw_endpoint *ret_endpoint);
    /* A frame of rank source; body is borrowed.  A negative errno fails the mesh. */
    int (*deliver)(void *arg, int source, const uint8_t *body, size_t n);
    void *arg; /* of both */
};

/* Returns 0, -ENOMEM or another negative errno. */
int lbc_mesh_create(const struct lbc_mesh_config *config, struct lbc_mesh **ret)
    __attribute__((warn_unused_result));

/* Connect to rank dest, if that is not done.  Returns 0 or a negative errno; the mesh goes on. */
int lbc_mesh_connect(struct lbc_mesh *m, int dest) __attribute__((warn_unused_result));

/*
 * Queue a frame of two parts for rank dest, whatever the state of its connection is.  For short
 * frames of which there are few; what is long waits for lbc_mesh_has_room.
 * Returns 0, -EMSGSIZE, -ENOMEM (nothing is queued), or the errors of lbc_mesh_connect.
 */
int lbc_mesh_send(struct lbc_mesh *m, int dest, const void *head, size_t nhead, const void *tail,
                  size_t ntail) __attribute__((warn_unused_result));

/* May a long frame be queued?  What is queued for a rank stays below a cap by this. */
bool lbc_mesh_has_room(const struct lbc_mesh *m, int dest);

/* Has all that was queued for dest left this process? */
bool lbc_mesh_is_flushed(const struct lbc_mesh *m, int dest);

/* Take what has come, and send what can be sent.  Returns 0, or -EIO for ever after a failure. */
int lbc_mesh_progress(struct lbc_mesh *m) __attribute__((warn_unused_result));

/* Readable when there is something for progress to do. */
int lbc_mesh_fd(const struct lbc_mesh *m);

bool lbc_mesh_has_failed(const struct lbc_mesh *m);

/* Has a rank said that it goes?  All that it sent before has been delivered then. */
bool lbc_mesh_is_gone(const struct lbc_mesh *m, int rank);

/* What a rank that waits for another does: from here on the mesh fails when the other one dies, even if nothing was ever sent
 * between the two.  Returns 0, or a negative errno: it is not there any more. */
int lbc_mesh_heed(struct lbc_mesh *m, int rank) __attribute__((warn_unused_result));

/* End all connections without a word: what was to be done with the others failed. */
void lbc_mesh_fail(struct lbc_mesh *m);

/* Say that we go, where the mesh has not failed, and close all; waits a moment for what is still to
 * be sent.  NULL is fine. */
void lbc_mesh_destroy(struct lbc_mesh *m);

#endif
