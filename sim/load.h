/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded load, as bench/record-load.pl writes it: processors in use, a sample a line. */
#ifndef SIM_LOAD_H
#define SIM_LOAD_H

#include <stddef.h>
#include <stdint.h>

struct sim_load {
    double *cpus; /* [n] owned */
    size_t n, size;
    double interval_s; /* of a sample */
    double cores;      /* of the machine that it was recorded on */
};

/*
 * Read a trace: lines of comment, of which "# interval_s=2 cores=2" is obeyed (1 and 1 when not given), and a number a line.
 * interval_s: samples become means of so many that one takes as long; 0: as they are.
 * Returns 0, -ENODATA when there is no sample in it, or a negative errno of opening or memory; *ret untouched then.
 */
int sim_load_read(const char *path, double interval_s, struct sim_load *ret)
    __attribute__((warn_unused_result));
void sim_load_fini(struct sim_load *l);

/*
 * What a load leaves to a program of one process on a host of one core: all that the load does not want; but if both want
 * more than there is, the program gets as much as each of the load's processes.
 * demand: processors that the load wants, >= 0.  Returns a ratio, above 0.  Pure.  Source: ours, fair shares.
 */
double sim_load_left(double demand);

#endif
