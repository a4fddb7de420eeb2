/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks as threads of one process: a transport through memory that delays what it can delay, and
 * sometimes keeps rows at their source until they are received, sometimes buffers them.  With
 * LB_TEST_TCP in the environment they are connected over TCP instead.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "libclient/transport.h"

#define WORLD_RANKS_MAX 20

struct world;

struct world *world_create(int size, uint64_t seed);
void world_destroy(struct world *w);

/* The transport of one rank; destroyed by its owner before the world. */
struct lbc_transport *world_transport(struct world *w, int rank);

/* Let the nth call of send on any rank from now on fail with -ENOMEM, and every nth after it; 0:
 * none. */
void world_fail_sends(struct world *w, int nth);

/* What is still held: messages not received, transfers not tested to their end. */
int world_leftovers(struct world *w);

/* A number of 0 to n - 1. */
uint64_t world_random(uint64_t *state, uint64_t n);

#endif
