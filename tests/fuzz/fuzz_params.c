/* SPDX-License-Identifier: BSD-3-Clause */
/* The text behind --lb=, which any user gives. */
#include <stdlib.h>

#include "policy/registry.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "params";

static void try_text(const char *text)
{
    struct lbp_params p, was, again;
    char once[1024], twice[1024];
    struct lbx_error err = {0};

    memset(&p, 0x55, sizeof(p));
    p.report = true; /* a bool has no 0x55 */
    p.policy = LBP_LIU;
    memcpy(&was, &p, sizeof(p));
    if (lbp_params_parse(&p, text, &err) < 0) {
        if (memcmp(&p, &was, sizeof(p)) != 0)
            fuzz_fail("a text that was refused has changed the parameters");
        if (err.text[0] == '\0')
            fuzz_fail("a text was refused without a word");
        return;
    }
    fuzz_accepted++;
    if (lbp_params_print(&p, once, sizeof(once)) >= (int)sizeof(once))
        fuzz_fail("the canonical text has no end");
    lbp_params_init(&again);
    if (lbp_params_parse(&again, once, &err) < 0)
        fuzz_fail("the canonical text is refused");
    if (lbp_params_print(&again, twice, sizeof(twice)) < 0 || strcmp(once, twice) != 0)
        fuzz_fail("the canonical text parses to something else");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1);

    if (!text)
        return 0;
    memcpy(text, data, n);
    text[n] = '\0';
    try_text(text);
    free(text);
    return 0;
}
