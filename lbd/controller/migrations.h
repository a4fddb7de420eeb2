/* SPDX-License-Identifier: BSD-3-Clause */
/* The SQL of schema/, built in.  Migration i (from 0) leads from user_version i to i + 1. */
#ifndef LBD_CONTROLLER_MIGRATIONS_H
#define LBD_CONTROLLER_MIGRATIONS_H

#include <stddef.h>

struct lbd_migration {
    const char *name;
    const char *sql;
};

extern const struct lbd_migration lbd_migrations[];
extern const size_t lbd_migrations_count;

#endif
