/* SPDX-License-Identifier: BSD-3-Clause */
/* A target with a mistake, one changed byte away from its corpus: replay must find it. */
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "planted";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 4 && memcmp(data, "bug", 3) == 0) {
        fuzz_accepted++;
        if (data[3] == 0x7f)
            fuzz_fail("planted");
    }
    return 0;
}
