/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank played by a test: starts a real lb-balancer, joins it over TCP, sends and reads messages. */
#ifndef TESTS_FAKE_RANK_H
#define TESTS_FAKE_RANK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/auth.h"
#include "wire/endpoint.h"
#include "wire/rank.h"

struct fake_balancer {
    pid_t pid;
    int fd; /* our end of its --fd; closing it ends the balancer */
    struct lbw_endpoint endpoint;
};

struct fake_rank {
    int fd;
    struct lbx_channel channel;
    struct lbx_buf in, out;
};

/* All of these fail the running Check test when something does not work. */
void fake_balancer_start(struct fake_balancer *b, uint32_t nranks, const char *policy);
int fake_balancer_end(
    struct fake_balancer *b); /* closes fd, waits; returns the exit status, or 128 + signal */

/* Reads a plain frame with the endpoint from fd. */
void fake_endpoint_read(int fd, struct lbw_endpoint *ret);

int fake_connect(const struct lbw_endpoint *e); /* a bare TCP connection */
/* Connect and prove; returns false when the balancer refuses. */
bool fake_rank_prove(struct fake_rank *r, const struct lbw_endpoint *e, uint32_t rank);
void fake_rank_join(struct fake_rank *r, const struct lbw_endpoint *e, uint32_t rank,
                    uint32_t nranks);
void fake_rank_send(struct fake_rank *r, const struct lbw_rank_msg *msg);
void fake_rank_send_raw(struct fake_rank *r, const void *bytes, size_t n);
/* The next message; returns false when the connection ended, fails after 10 s of nothing.  LBW_BEATs are skipped. */
bool fake_rank_read(struct fake_rank *r, struct lbw_rank_msg *ret);
/* Reads until a message of this type comes; false when the connection ended first. */
bool fake_rank_await(struct fake_rank *r, enum lbw_rank_type type, struct lbw_rank_msg *ret);
void fake_rank_close(struct fake_rank *r);

#endif
