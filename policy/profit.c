/* SPDX-License-Identifier: BSD-3-Clause */
/* Does a plan pay? */
#include "policy/profit.h"

#include <math.h>

/* What is expected before the first move: elapsed ns of a move of no bytes, and of each byte (500 MB/s); CPU time of a move. */
#define FIXED_NS 1e6
#define BYTE_NS 2.0
#define CPU_NS 1e5
/* The expected benefit times this must exceed the cost; and the least that is learned. */
#define MARGIN 2.0
#define MARGIN_MIN 0.1
/* A plan that brought less than it cost multiplies that by the first, one that brought more by the second. */
#define WRONG 0.5
#define RIGHT 1.25
/* Moves of up to so many bytes tell of a move's fixed cost, longer ones of that of a byte. */
#define SMALL 65536
/* A move changes what is expected by this part of the difference, but for the first ones, whose mean is taken; what is expected of a
 * byte by the less, the fewer the move has than usual. */
#define LEARN 0.25

void lbp_profit_init(struct lbp_profit *p, double message_ns, int64_t now_ns)
{
    *p = (struct lbp_profit){.fixed_ns = FIXED_NS + message_ns,
                             .byte_ns = BYTE_NS,
                             .cpu_ns = CPU_NS,
                             .margin = MARGIN,
                             .margin_max = MARGIN,
                             .margin_min = MARGIN_MIN,
                             .asked = 1};
    lbp_horizon_init(&p->horizon, now_ns);
}

void lbp_profit_set(struct lbp_profit *p, double ratio, double stable_ns)
{
    if (ratio >= 0) {
        p->asked = ratio;
        p->margin = p->margin_min = p->margin_max = 1;
    }
    lbp_horizon_set(&p->horizon, stable_ns);
}

void lbp_profit_moved(struct lbp_profit *p, int64_t bytes, int64_t wall_ns, int64_t cpu_ns)
{
    double learn = fmax(LEARN, 1 / (double)(p->moves + 1)); /* what was guessed weighs nothing */

    if (bytes <= SMALL) {
        p->fixed_ns += learn * ((double)wall_ns - p->fixed_ns);
    } else {
        double part = p->usual_bytes > 0 ? fmin(1, (double)bytes / p->usual_bytes) : 1;

        p->usual_bytes += learn * ((double)bytes - p->usual_bytes);
        p->byte_ns += learn * part *
                      (fmax(0.01, ((double)wall_ns - p->fixed_ns) / (double)bytes) - p->byte_ns);
    }
    p->cpu_ns += learn * (2 * (double)cpu_ns - p->cpu_ns);
    p->moves++;
}

double lbp_profit_transfer_ns(const struct lbp_profit *p, double bytes)
{
    return p->fixed_ns + p->byte_ns * bytes;
}

void lbp_profit_outcome(struct lbp_profit *p, double promised_ns, double brought_ns, double cost_ns)
{
    if (!(promised_ns > 0) || !isfinite(promised_ns) || !isfinite(brought_ns))
        return;
    if (brought_ns < cost_ns)
        p->margin = fmax(p->margin_min, WRONG * p->margin);
    else
        p->margin = fmin(p->margin_max, RIGHT * p->margin);
}

double lbp_profit_benefit_ns(const struct lbp_profit *p, double gain_ratio, double remaining_ns,
                             int64_t now_ns)
{
    return p->margin * gain_ratio * fmin(remaining_ns, lbp_horizon_ns(&p->horizon, now_ns));
}

bool lbp_profit_worth(const struct lbp_profit *p, double benefit_ns, double cost_ns)
{
    return benefit_ns > p->asked * cost_ns;
}

bool lbp_profit_pays(const struct lbp_profit *p, double gain_ratio, double remaining_ns,
                     double cost_ns, int64_t now_ns)
{
    return lbp_profit_worth(p, lbp_profit_benefit_ns(p, gain_ratio, remaining_ns, now_ns), cost_ns);
}
