/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all fuzz targets share.  A target is one file with fuzz_name and LLVMFuzzerTestOneInput; linked with replay.c it goes
 * through its corpus in `make check`, linked with clang's libFuzzer (--enable-fuzz, tests/fuzz/run) it is fuzzed.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/buf.h"
#include "common/frame.h"

/* By the target: its folder in tests/fuzz/corpus. */
extern const char fuzz_name[];
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Inputs that were good ones.  Each file of a corpus must be, but those named bad-*: what is refused at once tests little. */
extern unsigned long fuzz_accepted;

/* Something is wrong: says what, and aborts. */
_Noreturn void fuzz_fail(const char *text);

/* What a decoder takes can be told again, and then always in the same bytes. */
#define FUZZ_CODEC(name, type, decode, encode)                                          \
    static void name(const uint8_t *body, size_t n)                                     \
    {                                                                                   \
        static type msg;                                                                \
        struct lbx_buf once, twice;                                                     \
                                                                                        \
        if (decode(body, n, &msg) < 0)                                                  \
            return;                                                                     \
        fuzz_accepted++;                                                                \
        lbx_buf_init(&once, LBX_FRAME_CAP);                                             \
        lbx_buf_init(&twice, LBX_FRAME_CAP);                                            \
        if (encode(&msg, &once) != 0)                                                   \
            fuzz_fail(#decode " takes what " #encode " does not");                      \
        if (decode(lbx_buf_data(&once), lbx_buf_len(&once), &msg) != 0)                 \
            fuzz_fail(#decode " does not take what " #encode " makes");                 \
        if (encode(&msg, &twice) != 0 || lbx_buf_len(&once) != lbx_buf_len(&twice) ||   \
            memcmp(lbx_buf_data(&once), lbx_buf_data(&twice), lbx_buf_len(&once)) != 0) \
            fuzz_fail(#decode " and " #encode " do not say the same");                  \
        lbx_buf_fini(&once);                                                            \
        lbx_buf_fini(&twice);                                                           \
    }

#endif
