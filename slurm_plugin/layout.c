/* SPDX-License-Identifier: BSD-3-Clause */
/* How many tasks each host gets. */
#include "slurm_plugin/layout.h"

#include <errno.h>
#include <stdbool.h>

/* What each of so many tasks gets there, beside those that are on their way. */
static double speed(const struct lbs_slot *s, uint32_t tasks)
{
    double share = s->capacity / (tasks + s->claimed);

    return share < s->core_speed ? share : s->core_speed;
}

/* Whether one more task is better off at a; where it is all the same, on the host with more room. */
static bool is_better(const struct lbs_slot *a, const struct lbs_slot *b)
{
    double x = speed(a, a->tasks + 1), y = speed(b, b->tasks + 1);

    if (x != y)
        return x > y;
    return a->capacity / (a->tasks + a->claimed + 1) > b->capacity / (b->tasks + b->claimed + 1);
}

/* The best slot for one more task; used: of those that have one, else of those that have none, else of all. */
static struct lbs_slot *best(struct lbs_slot *slot, size_t n, bool used, bool unused)
{
    struct lbs_slot *found = NULL;

    for (size_t i = 0; i < n; i++) {
        if (slot[i].tasks >= slot[i].most || (slot[i].tasks > 0 ? !used : !unused))
            continue;
        if (!found || is_better(&slot[i], found))
            found = &slot[i];
    }
    return found;
}

int lbs_layout(struct lbs_slot *slot, size_t n, uint32_t ntasks, uint32_t nhosts)
{
    if (ntasks == 0 || n == 0 || nhosts > ntasks || nhosts > n)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        slot[i].tasks = 0;
    for (uint32_t i = 0; i < ntasks; i++) {
        struct lbs_slot *s = best(slot, n, nhosts == 0 || i >= nhosts, nhosts == 0 || i < nhosts);

        if (!s)
            return -ENOSPC;
        s->tasks++;
    }
    return 0;
}

double lbs_layout_pace(const struct lbs_slot *slot, size_t n)
{
    double slowest = 0;

    for (size_t i = 0; i < n; i++) {
        double s = slot[i].tasks > 0 ? speed(&slot[i], slot[i].tasks) : 0;

        if (s > 0 && (slowest == 0 || s < slowest))
            slowest = s;
    }
    return slowest;
}

double lbs_layout_plain_pace(const struct lbs_slot *slot, size_t n, uint32_t ntasks)
{
    size_t used = ntasks < n ? ntasks : n;
    double slowest = 0;

    for (size_t i = 0; i < used; i++) {
        double s = speed(&slot[i], ntasks / (uint32_t)used + (i < ntasks % used));

        if (slowest == 0 || s < slowest)
            slowest = s;
    }
    return slowest;
}
