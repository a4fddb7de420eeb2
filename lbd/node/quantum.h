/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the scheduler lets one process run while another waits: measured by two threads that want one processor. */
#ifndef LBD_NODE_QUANTUM_H
#define LBD_NODE_QUANTUM_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * cpu[in]     the processor that both threads are pinned to
 * cancel[in]  looked at all the time
 * ret_ns[out] how long each ran between two stops, where nobody cut it short, however many others there are; 0: too
 *             few were seen
 * Takes 60 ms on an idle processor, 500 ms of elapsed time at most.
 * Returns 0, -ECANCELED, -EAGAIN (no thread to be had).
 */
int lbd_quantum_measure(int cpu, const atomic_bool *cancel, int64_t *ret_ns)
    __attribute__((warn_unused_result));

#endif
