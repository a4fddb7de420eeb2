/* SPDX-License-Identifier: BSD-3-Clause */
/* What writes the corpora; a failure ends the program. */
#ifndef TESTS_FUZZ_SEEDS_H
#define TESTS_FUZZ_SEEDS_H

#include "common/buf.h"

/* Write FOLDER/TARGET/NAME: the byte kind, then body, which is freed. */
void seeds_put(const char *folder, const char *target, const char *name, char kind,
               struct lbx_buf *body);

void seeds_local(const char *folder);
void seeds_tcp(const char *folder);

#endif
