/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aid.h - what every example needs beside its own work: options, checksum, progress, a report of
 * what happened.
 *
 * None of it is needed to balance a loop.  These are parts of programs, so they may print and end
 * the program.
 */
#ifndef LB_EXAMPLES_AID_H
#define LB_EXAMPLES_AID_H

#include <stddef.h>
#include <stdint.h>

#include "libclient/lb.h"

enum ex_type { EX_FLAG, EX_INT, EX_REAL, EX_TEXT };

struct ex_option {
    const char *name; /* without the leading dashes; NULL ends the table */
    enum ex_type type;
    void *value; /* int, int64_t, double, const char *; holds the default, which --help shows */
    int64_t min; /* EX_INT: least value allowed */
    int64_t max; /* EX_INT: greatest value allowed */
    const char *help;
};

/* Read argv into opts.  Ends the program: after --help with 0, on a wrong option or value with 2.
 */
void ex_options(int argc, char **argv, const char *purpose, const struct ex_option *opts);

/* Kinds of loops that a program can run as: every iteration once; or in steps, all of it each time, by rows or by blocks of their elements. */
enum ex_kind { EX_DOALL, EX_STEPPED, EX_PIPELINED };

/* "doall", "stepped" or "pipelined"; ends the program with 2 on anything else. */
enum ex_kind ex_kind_of(const char *text);

/* FNV-1a, 64 bits: begin with EX_CHECKSUM_INIT, or go on with an earlier result. */
#define EX_CHECKSUM_INIT UINT64_C(0xcbf29ce484222325)
uint64_t ex_checksum(uint64_t sum, const void *data, size_t bytes);

/* Numbers in [0, 1) that depend on seed alone. */
void ex_random_row(double *row, int64_t n, uint64_t seed);

double ex_now_s(void);        /* CLOCK_REALTIME: comparable between hosts that keep the same time */
double ex_thread_cpu_s(void); /* CPU time of this thread */

enum ex_progress_mode {
    EX_PROGRESS_NONE,
    EX_PROGRESS_LIVE, /* one line on rank 0, of all ranks */
    EX_PROGRESS_LINES /* lines "progress RANK DONE TOTAL" of every rank, for another program */
};

struct ex_progress;

/*
 * Say on stderr how far a pass of total iterations is.  All three are collective; without MPI it is
 * a single rank. ex_progress_begin returns NULL in mode EX_PROGRESS_NONE or when out of memory; the
 * others take NULL.
 */
struct ex_progress *ex_progress_begin(enum ex_progress_mode mode, const char *what, int64_t total);
void ex_progress_tick(struct ex_progress *p,
                      int64_t iterations); /* these are done; not collective, ~50 ns */
void ex_progress_end(struct ex_progress *p);

/* "none", "live" or "lines" as a mode; ends the program with 2 on anything else. */
enum ex_progress_mode ex_progress_mode_of(const char *text);

/*
 * Print on rank 0, for each rank, what it had of the loop, then the whole.  Collective.
 * began_s, ended_s[in]  ex_now_s() of this rank before and after the pass
 */
void ex_report(const lb_loop *l, double began_s, double ended_s);

/* Bring the rows of base together on rank 0, or end all ranks. */
void ex_collect(lb_loop *l, void *base, const char *program);

/*
 * Rank 0 prints the checksum, and when it is to be checked whether it is that of right().
 * Returns the program's exit status: 1 when it is not.
 */
int ex_result(const lb_ctx *ctx, uint64_t sum, int check, uint64_t (*right)(void));

#endif
