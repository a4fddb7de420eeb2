/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a pass is: a live line on rank 0, or lines of every rank for another program to read. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "examples/aid.h"

#define INTERVAL_NS INT64_C(250000000)

struct ex_progress {
    enum ex_progress_mode mode;
    const char *what; /* borrowed until ex_progress_end */
    int64_t total, own;
    int64_t next_ns;
    int rank, size, terminal, last_percent;
    MPI_Comm comm; /* of our own, so that no message of the program is taken for ours */
    int64_t *done; /* rank 0: of each rank, as last heard */
    int64_t out;   /* other ranks: what is under way to rank 0 */
    MPI_Request request;
    int64_t sent, heard; /* messages */
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int have_mpi(void)
{
    int begun = 0, ended = 0;

    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    return begun && !ended;
}

struct ex_progress *ex_progress_begin(enum ex_progress_mode mode, const char *what, int64_t total)
{
    struct ex_progress *p = mode == EX_PROGRESS_NONE ? NULL : calloc(1, sizeof *p);
    int ok, all_ok;

    if (mode == EX_PROGRESS_NONE)
        return NULL;
    if (p) {
        *p = (struct ex_progress){
            .mode = mode, .what = what, .total = total, .size = 1, .last_percent = -1};
        p->terminal = isatty(STDERR_FILENO);
        p->request = MPI_REQUEST_NULL;
        if (have_mpi()) {
            MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
            MPI_Comm_size(MPI_COMM_WORLD, &p->size);
        }
        p->done = calloc((size_t)p->size, sizeof *p->done);
    }
    ok = p && p->done;
    all_ok = ok;
    if (have_mpi()) /* all or none: the others are collective */
        MPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all_ok) {
        if (p)
            free(p->done);
        free(p);
        return NULL;
    }
    if (p->size > 1)
        MPI_Comm_dup(MPI_COMM_WORLD, &p->comm);
    return p;
}

static void show(struct ex_progress *p)
{
    char bar[31];
    int64_t sum = 0;
    int percent, full;

    for (int r = 0; r < p->size; r++)
        sum += p->done[r];
    percent = p->total > 0 ? (int)(100 * sum / p->total) : 100;
    if (percent == p->last_percent ||
        (!p->terminal && percent / 10 == p->last_percent / 10 && p->last_percent >= 0))
        return;
    p->last_percent = percent;
    full = percent * 30 / 100;
    memset(bar, '.', sizeof bar - 1);
    memset(bar, '#', (size_t)(full < 30 ? full : 30));
    bar[30] = '\0';
    fprintf(stderr, p->terminal ? "\r%s [%s] %3d %%" : "%s [%s] %3d %%\n", p->what, bar, percent);
}

static void receive(struct ex_progress *p, MPI_Status *from)
{
    int64_t done;

    MPI_Recv(&done, 1, MPI_INT64_T, from->MPI_SOURCE, 0, p->comm, MPI_STATUS_IGNORE);
    p->done[from->MPI_SOURCE] = done;
    p->heard++;
}

static void tell(struct ex_progress *p)
{
    int waiting = 1;
    MPI_Status from;

    if (p->mode == EX_PROGRESS_LINES) {
        fprintf(stderr, "progress %d %" PRId64 " %" PRId64 "\n", p->rank, p->own, p->total);
        return;
    }
    if (p->rank != 0) {
        int free_again = 1;

        if (p->request != MPI_REQUEST_NULL)
            MPI_Test(&p->request, &free_again, MPI_STATUS_IGNORE);
        if (!free_again)
            return; /* never wait for rank 0: the next one will do */
        p->out = p->own;
        MPI_Isend(&p->out, 1, MPI_INT64_T, 0, 0, p->comm, &p->request);
        p->sent++;
        return;
    }
    p->done[0] = p->own;
    while (p->size > 1 && waiting) {
        MPI_Iprobe(MPI_ANY_SOURCE, 0, p->comm, &waiting, &from);
        if (waiting)
            receive(p, &from);
    }
    show(p);
}

void ex_progress_tick(struct ex_progress *p, int64_t iterations)
{
    int64_t now;

    if (!p)
        return;
    p->own += iterations;
    now = now_ns();
    if (now < p->next_ns)
        return;
    p->next_ns = now + INTERVAL_NS;
    tell(p);
}

void ex_progress_end(struct ex_progress *p)
{
    int64_t sent = 0;

    if (!p)
        return;
    if (p->mode == EX_PROGRESS_LINES)
        tell(p);
    if (p->size > 1) {
        /* what was sent must be heard before the communicator goes */
        MPI_Reduce(&p->sent, &sent, 1, MPI_INT64_T, MPI_SUM, 0, p->comm);
        while (p->rank == 0 && p->heard < sent) {
            MPI_Status from;

            MPI_Probe(MPI_ANY_SOURCE, 0, p->comm, &from);
            receive(p, &from);
        }
        MPI_Wait(&p->request, MPI_STATUS_IGNORE);
        MPI_Gather(&p->own, 1, MPI_INT64_T, p->done, 1, MPI_INT64_T, 0, p->comm);
        MPI_Comm_free(&p->comm);
    } else {
        p->done[0] = p->own;
    }
    if (p->mode == EX_PROGRESS_LIVE && p->rank == 0) {
        show(p);
        if (p->terminal)
            fputc('\n', stderr);
    }
    free(p->done);
    free(p);
}

enum ex_progress_mode ex_progress_mode_of(const char *text)
{
    static const char *const names[] = {"none", "live", "lines"};

    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum ex_progress_mode)i;
    fprintf(stderr, "option --progress: \"%s\" is not one of none, live, lines\n", text);
    exit(2);
}
