/* SPDX-License-Identifier: BSD-3-Clause */
/* Stream sockets: made close-on-exec and non-blocking, resolving no names, every wait with a
 * deadline. */
#ifndef LBX_SOCK_H
#define LBX_SOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buf.h"

/*
 * Listen on a numeric IPv4 or IPv6 address ("" or NULL: all, IPv6 and IPv4 where the machine has
 * both).
 * port[in,out]  0 picks a free one, which is returned; untouched on failure
 * Returns the descriptor, -EINVAL (no numeric address), or another negative errno.
 */
int lbx_sock_listen_tcp(const char *address, uint16_t *port) __attribute__((warn_unused_result));

/*
 * Listen at a path; a socket left there by a dead process is replaced.  Permission bits as given,
 * whatever the umask, and never wider before.  Of two that replace at the same moment one may lose
 * its place: callers start one at a time.
 * Returns the descriptor, -EADDRINUSE (somebody listens, or what is there is no socket), -EINVAL
 * (path empty or too long), or another negative errno.
 */
int lbx_sock_listen_unix(const char *path, mode_t mode) __attribute__((warn_unused_result));

/*
 * Connect, waiting until deadline_ns of lbx_clock_mono_ns at most.
 * Returns the descriptor, -ETIMEDOUT, -EINVAL (no numeric address; path too long), or another
 * negative errno.
 */
int lbx_sock_connect_tcp(const char *address, uint16_t port, int64_t deadline_ns)
    __attribute__((warn_unused_result));
int lbx_sock_connect_unix(const char *path, int64_t deadline_ns)
    __attribute__((warn_unused_result));

/*
 * Settings of a connection between our own processes: no Nagle delay, keepalive, and an error after
 * timeout_ms when sent bytes or keepalive probes stay without acknowledgement (TCP_USER_TIMEOUT).
 * Failures are of no consequence and not reported.
 */
void lbx_sock_tune_tcp(int fd, unsigned timeout_ms);

/* Send what the socket takes of `out` now, without waiting.  Raises no SIGPIPE.
 * Returns 0 (bytes may be left), -EPIPE when the peer is gone, or another negative errno. */
int lbx_sock_flush(int fd, struct lbx_buf *out) __attribute__((warn_unused_result));

/*
 * Read what there is into `in`, 16 KiB at most, without waiting.
 * Returns bytes read, 0 for nothing yet, -EPIPE at the end of the stream or when it was reset,
 * -EMSGSIZE when `in` is full, or another negative errno.
 */
ssize_t lbx_sock_fill(int fd, struct lbx_buf *in) __attribute__((warn_unused_result));

/* Wait for POLLIN or POLLOUT.  Returns revents > 0, -ETIMEDOUT, or another negative errno. */
int lbx_sock_wait(int fd, short events, int64_t deadline_ns) __attribute__((warn_unused_result));

#endif
