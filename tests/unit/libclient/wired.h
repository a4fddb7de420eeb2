/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks as threads of one process, connected over TCP as ranks without MPI are. */
#ifndef TEST_WIRED_H
#define TEST_WIRED_H

#include "libclient/transport.h"

/* Transports of all ranks; ret_transport[out] [size], each destroyed by its owner. */
void wired_create(int size, struct lbc_transport **ret_transport);

#endif
