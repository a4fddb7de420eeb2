/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI of this program, if it uses one: liblb itself is not linked with any. */
#ifndef LBC_MPI_FIND_H
#define LBC_MPI_FIND_H

#include "common/error.h"
#include "libclient/transport.h"

/* An MPI_Comm, whatever the program's MPI makes of it: a pointer, or an int in the place of one. */
union lbc_mpi_comm {
    void *pointer;
    int number;
};

/* The communicator of a Fortran handle; any when MPI is not initialised in this process, as nobody is asked then. */
union lbc_mpi_comm lbc_mpi_from_fortran(int handle);

/*
 * mpi_comm[in]  pointer to an MPI_Comm, or NULL: all ranks of the program; one that is MPI_COMM_NULL makes a single rank
 * ret_transport[out]  NULL when liblb_mpi cannot be had: then rank and size are right, but nothing
 *                     can move by MPI
 * err[out]  why it cannot be had; no code where it can, or where MPI is not initialised
 * Returns 0, or -ENOENT when MPI is not initialised in this process.  Collective over the
 * communicator.
 */
int lbc_mpi_find(const void *mpi_comm, int *ret_rank, int *ret_size,
                 struct lbc_transport **ret_transport, struct lbx_error *err);

#endif
