/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI of this program, if it uses one. */
#include "config.h"
#include "libclient/mpi_find.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 1024
#define MPICH_COMM_WORLD 0x44000000
#define MPICH_COMM_NULL 0x04000000

/* A function by dlsym: ISO C has no cast from data to function pointers. */
static void find(void *lib, const char *name, void *ret_function)
{
    void *p = dlsym(lib, name);

    memcpy(ret_function, &p, sizeof(p));
}

static bool is_initialized(void)
{
    int (*initialized)(int *), (*finalized)(int *);
    int yes = 0, over = 0;

    find(RTLD_DEFAULT, "MPI_Initialized", &initialized);
    find(RTLD_DEFAULT, "MPI_Finalized", &finalized);
    return initialized && finalized && initialized(&yes) == 0 && yes && finalized(&over) == 0 &&
           !over;
}

static const char *loader_error(void)
{
    const char *why = dlerror();

    return why ? why : "no " LBC_MPI_LIBRARY;
}

/* liblb_mpi from where liblb is, else from where libraries are; or why there is none. */
static void *load(struct lbx_error *err)
{
    char path[PATH_BYTES], *slash;
    void *lib = NULL;
    Dl_info info;

    if (dladdr((const void *)lbc_mpi_find, &info) && info.dli_fname &&
        strlen(info.dli_fname) + sizeof(LBC_MPI_LIBRARY) < sizeof(path)) {
        strcpy(path, info.dli_fname);
        slash = strrchr(path, '/');
        strcpy(slash ? slash + 1 : path, LBC_MPI_LIBRARY);
        if (slash)
            lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (lib)
        return lib;
    lbx_error_set(err, -ENOENT, "%s", loader_error());
    lib = dlopen(LBC_MPI_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (lib)
        err->code = 0;
    return lib;
}

/* Ask the program's own MPI, by what its handles are made of: a pointer or an int. */
static int ask(const char *name, const void *mpi_comm, int *ret)
{
    void *ompi_world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");

    if (ompi_world) {
        int (*call)(void *, int *);

        find(RTLD_DEFAULT, name, &call);
        return call ? call(mpi_comm ? *(void *const *)mpi_comm : ompi_world, ret) : -1;
    } else {
        int (*call)(int, int *);

        find(RTLD_DEFAULT, name, &call);
        return call ? call(mpi_comm ? *(const int *)mpi_comm : MPICH_COMM_WORLD, ret) : -1;
    }
}

/* MPI_COMM_NULL, as MPI_Comm_split gives those that it leaves out.  To ask MPI about it ends the program. */
static bool is_null(const void *mpi_comm)
{
    void *ompi_null = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_null");

    if (!mpi_comm)
        return false;
    return ompi_null ? *(void *const *)mpi_comm == ompi_null
                     : *(const int *)mpi_comm == MPICH_COMM_NULL;
}

union lbc_mpi_comm lbc_mpi_from_fortran(int handle)
{
    union lbc_mpi_comm comm = {NULL};
    void *(*convert)(int);

    if (!is_initialized())
        return comm;
    /* Where a communicator is an int, Fortran's is the same one. */
    comm.number = handle;
    if (!dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world"))
        return comm;
    find(RTLD_DEFAULT, "MPI_Comm_f2c", &convert);
    comm.pointer = convert ? convert(handle) : NULL;
    return comm;
}

int lbc_mpi_find(const void *mpi_comm, int *ret_rank, int *ret_size,
                 struct lbc_transport **ret_transport, struct lbx_error *err)
{
    lbc_transport_entry *entry = NULL;
    int rank = 0, size = 1;
    void *lib;

    err->code = 0;
    if (!is_initialized())
        return -ENOENT;
    *ret_transport = NULL;
    *ret_rank = 0;
    *ret_size = 1;
    if (is_null(mpi_comm))
        return 0;
    lib = load(err); /* for good: it may still be called from MPI_Finalize */
    if (lib)
        find(lib, LBC_MPI_ENTRY, &entry);
    if (lib && !entry)
        lbx_error_set(err, -ENOTSUP, LBC_MPI_LIBRARY " is of another release");
    if (entry && entry(mpi_comm, ret_transport) == 0) {
        *ret_rank = (*ret_transport)->rank;
        *ret_size = (*ret_transport)->size;
        return 0;
    }
    if (entry)
        lbx_error_set(err, -ENOTSUP, LBC_MPI_LIBRARY " does not come to terms with this MPI");
    if (ask("MPI_Comm_rank", mpi_comm, &rank) != 0 || ask("MPI_Comm_size", mpi_comm, &size) != 0)
        return -ENOENT;
    *ret_rank = rank;
    *ret_size = size;
    return 0;
}
