/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated host: how long CPU work takes on it, under quotas and competing loads.  Virtual time, ns. */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_host {
    double cores;          /* CPU time to be had per elapsed time, 0 < cores <= 1 */
    double other_cores;    /* while the competing load runs */
    double hardware;       /* reference work done in a CPU ns; 0 is 1 */
    int64_t flip_ns;       /* it runs every second interval of this length; 0: never */
    int64_t flip_phase_ns; /* the first interval is shorter by this */
    double duty;           /* part of two intervals that it runs for; 0: a half, as said */
    bool flip_once;        /* the load begins at the first flip, and stays */
    const double *
        left; /* [nleft] parts of the cores that a recorded load leaves, > 0; borrowed; NULL: none */
    size_t nleft;
    int64_t left_ns,
        left_phase_ns; /* each lasts so long; at time 0 so much of the record is over; it begins again */
    const double *
        slower; /* [nslower] so many times the CPU time does the same work take, > 0, as what runs beside it
                             shares a core, caches or a machine with it; borrowed; NULL: none */
    size_t nslower;
    int64_t slower_ns; /* each lasts so long; it begins again */
    bool quota;        /* true: full speed until the share of a period is used up; false: smooth */
    int64_t quota_ns;  /* such a period; 0: 10 ms */
    double
        quota_cores; /* that can be read of it: a load has its part of them; 0: those of the moment */
    bool
        inside; /* of a quota: the load is in the same group and wants a core: it takes what a rank that waits leaves,
                    and half of the rest; other_cores is that half */
    unsigned
        uneven; /* not 0: it is no half, but what the kernel gives: another part for each 100 ms, drawn by this number */
    double link;      /* a transfer of rows from or to it takes so many times as long; 0 is 1 */
    int64_t phase_ns; /* where its periods begin, 0 to one */
    int64_t stop_from_ns, stop_to_ns; /* stopped in between; equal: never */
    /* state */
    int64_t period; /* index of the period that used_ns belongs to */
    double used_ns;
    double seen_ns; /* until here in that period the load inside has been counted */
};

/* Reference work that a CPU ns does, > 0. */
double sim_host_hardware(const struct sim_host *h);

/* So many times the CPU time that work takes else does work take that is begun at a moment, > 0. */
double sim_host_slower(const struct sim_host *h, int64_t now_ns);

/* Cores at a moment. */
double sim_host_cores(const struct sim_host *h, int64_t now_ns);

/* Cores that its quota allows at a moment, as can be read there; 0: it has none. */
double sim_host_quota(const struct sim_host *h, int64_t now_ns);

/* The period of its quota. */
int64_t sim_host_period(const struct sim_host *h);

/* Execute cpu_ns beginning at now_ns; later calls must not begin before this one's end.  Returns the end. */
int64_t sim_host_run(struct sim_host *h, int64_t now_ns, double cpu_ns);

/* CPU time that the host had for the program from 0 to to_ns, ns, >= 0: by its cores, without what loads took.  O(1) of a host
 * whose cores stay, else of each ms. */
double sim_host_given(const struct sim_host *h, int64_t to_ns);

/* When `work` is done at the soonest by all hosts (at their hardware's speed, and never slower) together, begun at now_ns: the ideal. */
int64_t sim_host_ideal(const struct sim_host *h, int nhosts, int64_t now_ns, double work);

#endif
