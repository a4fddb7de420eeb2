/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.conf: an administrator's file; a daemon reads it again while it runs. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/policyconf.h"
#include "policy/registry.h"
#include "tests/fuzz/fuzz.h"

const char fuzz_name[] = "policyconf";

static int check_policy(const char *text, struct lbx_error *err)
{
    struct lbp_params p;

    lbp_params_init(&p);
    return lbp_params_parse(&p, text, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static int fd = -1;
    static char path[64];
    struct lbx_policyconf c, was;
    struct lbx_error err = {0};

    if (fd < 0) {
        fd = memfd_create("policy.conf", MFD_CLOEXEC);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
        return 0;
    memset(&c, 0, sizeof(c));
    c.npartitions = 77;
    memcpy(&was, &c, sizeof(c));
    if (lbx_policyconf_read(path, check_policy, &c, &err) < 0) {
        if (memcmp(&c, &was, sizeof(c)) != 0)
            fuzz_fail("a file that was refused has changed the values");
        if (err.text[0] == '\0')
            fuzz_fail("a file was refused without a word");
        return 0;
    }
    fuzz_accepted++;
    if (c.npartitions > LBX_CONF_RULES_MAX || c.naccounts > LBX_CONF_RULES_MAX ||
        c.npolicies > LBX_CONF_LIST_MAX || c.nusers > LBX_CONF_LIST_MAX)
        fuzz_fail("more than its maximum");
    if (c.load_interval_ns <= 0 || c.benchmark_interval_ns <= 0 || c.keep_raw_ns <= 0 ||
        c.database_bytes_max <= 0)
        fuzz_fail("a duration or size that is none");
    lbx_policyconf_fini(&c);
    return 0;
}
