/* SPDX-License-Identifier: BSD-3-Clause */
/* How long speeds can be expected to stay. */
#include "policy/horizon.h"

#include <math.h>

/* Speeds are expected to stay so long before any change was seen, and never for less. */
#define STABLE_NS 2000e6
#define STABLE_MIN 200e6
/* A change alters that by this part of the difference. */
#define LEARN 0.25
/* One that comes within this part of what was expected comes once in ten times by chance (of times that are exponentially
 * distributed): it is taken for a proof that what was expected is wrong. */
#define REFUTES 0.1

void lbp_horizon_init(struct lbp_horizon *h, int64_t now_ns)
{
    *h = (struct lbp_horizon){.stable_ns = STABLE_NS, .own_ns = STABLE_NS, .changed_ns = now_ns};
}

void lbp_horizon_expect(struct lbp_horizon *h, double stable_ns)
{
    if (stable_ns > 0)
        h->stable_ns = fmax(stable_ns, STABLE_MIN);
}

void lbp_horizon_set(struct lbp_horizon *h, double stable_ns)
{
    if (stable_ns > 0) {
        h->stable_ns = stable_ns;
        h->set = true;
    }
}

/* Several ranks and windows see one and the same change. */
static bool is_new(const struct lbp_horizon *h, int64_t now_ns)
{
    return (double)(now_ns - h->changed_ns) >= STABLE_MIN / 2;
}

/* Speeds have stayed so long since the last change. */
static double stayed(const struct lbp_horizon *h, int64_t now_ns)
{
    return fmax((double)(now_ns - h->changed_ns), STABLE_MIN);
}

void lbp_horizon_surprise(struct lbp_horizon *h, int64_t now_ns)
{
    if (is_new(h, now_ns) && !h->set && stayed(h, now_ns) < REFUTES * h->stable_ns)
        h->stable_ns = h->own_ns;
}

void lbp_horizon_changed(struct lbp_horizon *h, int64_t now_ns)
{
    if (!is_new(h, now_ns))
        return;
    h->own_ns += LEARN * (stayed(h, now_ns) - h->own_ns);
    if (!h->set)
        h->stable_ns += LEARN * (stayed(h, now_ns) - h->stable_ns);
    h->changed_ns = now_ns;
}

double lbp_horizon_ns(const struct lbp_horizon *h, int64_t now_ns)
{
    /* what has lasted long is expected to last as long again */
    return h->set ? h->stable_ns
                  : fmax(fmax(h->stable_ns, h->least_ns), (double)(now_ns - h->changed_ns));
}

bool lbp_horizon_unstable(const struct lbp_horizon *h, int64_t now_ns)
{
    return (double)now_ns - (double)h->changed_ns < h->stable_ns;
}
