/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Give a fuzz target its corpus without a fuzzer: each file, each file cut at every length, and each with every byte changed to
 * a few others.  Usage: replay [FOLDER]; fuzz_name of tests/fuzz/corpus without one.  With clang's libFuzzer the same target is
 * linked without this file.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define FILE_BYTES 65536

/* Returns how often the target was run. */
static size_t replay(const char *path, bool good)
{
    static const uint8_t change[] = {0x00, 0x01, 0x7f, 0x80, 0x90, 0xa0, 0xc4,
                                     0xcb, 0xcf, 0xd3, 0xd9, 0xdc, 0xdd, 0xff};
    uint8_t *data = malloc(FILE_BYTES);
    FILE *f = fopen(path, "rb");
    size_t n, runs = 0;

    if (!data || !f) {
        fprintf(stderr, "replay: %s is not to be read\n", path);
        exit(1);
    }
    n = fread(data, 1, FILE_BYTES, f);
    fclose(f);
    fuzz_accepted = 0;
    LLVMFuzzerTestOneInput(data, n);
    if (good != (fuzz_accepted > 0)) {
        fprintf(stderr, "replay: %s is %s\n", path, good ? "refused" : "accepted, and named bad-");
        exit(1);
    }
    for (size_t cut = 0; cut <= n; cut++, runs++) {
        uint8_t *part = malloc(cut ? cut : 1); /* exactly so large: a read behind it is seen */

        if (!part)
            exit(1);
        memcpy(part, data, cut);
        LLVMFuzzerTestOneInput(part, cut);
        free(part);
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t old = data[i];

        for (size_t k = 0; k < sizeof(change); k++, runs++) {
            data[i] = change[k];
            LLVMFuzzerTestOneInput(data, n);
        }
        data[i] = old;
    }
    free(data);
    return runs;
}

int main(int argc, char **argv)
{
    const char *top = getenv("top_srcdir");
    char folder[2048], path[4096];
    size_t files = 0, runs = 0;
    struct dirent *e;
    DIR *d;

    snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", top ? top : ".", fuzz_name);
    d = opendir(argc > 1 ? argv[1] : folder);
    if (!d) {
        fprintf(stderr, "replay: no folder %s\n", argc > 1 ? argv[1] : folder);
        return 2;
    }
    while ((e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", argc > 1 ? argv[1] : folder, e->d_name);
        runs += replay(path, strncmp(e->d_name, "bad-", 4) != 0);
        files++;
    }
    closedir(d);
    printf("%zu files, %zu runs\n", files, runs);
    return files > 0 ? 0 : 1; /* an empty corpus tests nothing */
}
