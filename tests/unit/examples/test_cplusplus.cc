/* SPDX-License-Identifier: BSD-3-Clause */
/* lb.h in C++: it compiles there, every function links by its C name, and what is said of NULL holds. */
#include "libclient/lb.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

static int failed;

#define CHECK(what)                                                         \
    do {                                                                    \
        if (!(what)) {                                                      \
            std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what); \
            failed = 1;                                                     \
        }                                                                   \
    } while (0)

/* Without a context or a loop everything is done by a single rank, or nothing is. */
static void null_is_fine()
{
    int64_t first = -1, last = -1;
    lb_stats stats = lb_stats();

    CHECK(lb_rank(NULL) == 0);
    CHECK(lb_size(NULL) == 1);
    CHECK(lb_balanced(NULL) == 0);
    CHECK(lb_loop_next(NULL, &first, &last) == 0);
    CHECK(lb_loop_owned(NULL, 0, &first, &last) == 0);
    CHECK(lb_loop_stats(NULL, &stats) == -EINVAL);
    CHECK(lb_loop_stepped(NULL, 0) == -EINVAL);
    CHECK(lb_loop_exchange(NULL) == -EINVAL);
    CHECK(lb_loop_owner(NULL, 0) == -1);
    CHECK(lb_loop_doacross(NULL, 1, 1) == -EINVAL);
    CHECK(lb_loop_flow(NULL, NULL) == -EINVAL);
    CHECK(lb_loop_joints(NULL) == -EINVAL);
    CHECK(lb_loop_block(NULL) == 0);
    CHECK(lb_loop_neighbour(NULL, 1) == -1);
    lb_loop_close(NULL);
    lb_array_free(NULL, NULL);
    lb_finalize(NULL);
}

static void one_rank_covers_all()
{
    const int64_t n = 1000;
    lb_loop *l = lb_loop_open(NULL, "c++", n);
    std::vector<int> count(n);
    int64_t first, last;

    CHECK(l != NULL);
    for (int pass = 0; pass < 2; pass++)
        while (lb_loop_next(l, &first, &last))
            for (int64_t i = first; i < last; i++)
                count[static_cast<std::size_t>(i)]++;
    for (std::size_t i = 0; i < count.size(); i++)
        CHECK(count[i] == 2);
    lb_loop_close(l);
}

int main()
{
    CHECK(std::strncmp(lb_version(), "0.", 2) == 0);
    null_is_fine();
    one_rank_covers_all();

    /* never called, but it must link */
    if (failed > 1) {
        lb_ctx *ctx = lb_init_comm(NULL);
        lb_loop *l = lb_loop_open(lb_init(), "x", 1);

        failed += lb_loop_array(l, lb_array_alloc(ctx, 1, 1), 1) + lb_loop_collect(l, NULL, 0);
        failed += lb_loop_stepped(l, 0) + lb_loop_exchange(l) + lb_loop_owner(l, 0);
        failed += lb_loop_doacross(l, 0, 1) + lb_loop_flow(l, NULL) + lb_loop_joints(l);
    }
    return failed;
}
