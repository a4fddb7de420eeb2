/* SPDX-License-Identifier: BSD-3-Clause */
/* What all fuzz targets share. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

unsigned long fuzz_accepted;

void fuzz_fail(const char *text)
{
    fprintf(stderr, "fuzz_%s: %s\n", fuzz_name, text);
    abort();
}
