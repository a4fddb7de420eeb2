/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank and its balancer say to each other, and where the balancer is.  First byte: which the rest is. */
#include "tests/fuzz/fuzz.h"
#include "wire/endpoint.h"
#include "wire/rank.h"

const char fuzz_name[] = "rank";

FUZZ_CODEC(try_rank, struct lbw_rank_msg, lbw_rank_decode, lbw_rank_encode)
FUZZ_CODEC(try_endpoint, struct lbw_endpoint, lbw_endpoint_decode, lbw_endpoint_encode)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    if (data[0] & 1)
        try_endpoint(data + 1, n - 1);
    else
        try_rank(data + 1, n - 1);
    return 0;
}
