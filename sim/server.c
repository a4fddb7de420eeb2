/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated balancer's time. */
#include "sim/server.h"

/* As in wire/rank.h. */
#define BEAT_NS INT64_C(450000000)
#define BUSY 3

static int64_t spend(struct sim_server *s, int64_t now_ns, int64_t cpu_ns)
{
    int64_t from = s->free_ns > now_ns ? s->free_ns : now_ns;

    s->free_ns = from + cpu_ns;
    s->busy_ns += cpu_ns;
    return from - now_ns;
}

/* One round, as in lbd/balancer/job.c: to each rank that was told nothing in the last half of the time between its beats. */
static void beat(struct sim_server *s, int64_t now_ns)
{
    bool all = s->beats % BUSY == 0;
    uint32_t n = 0;

    for (uint32_t r = 0; s->beat_ns > 0 && r < s->nranks; r++)
        if (now_ns - s->said_ns[r] >= BEAT_NS * (s->waits[r] ? 1 : BUSY) / 2 &&
            (all || s->waits[r])) {
            s->said_ns[r] = now_ns;
            n++;
        }
    spend(s, now_ns, n * s->beat_ns);
}

int64_t sim_server_take(struct sim_server *s, int64_t now_ns)
{
    int64_t late;

    while ((s->beats + 1) * BEAT_NS <= now_ns) {
        s->beats++;
        beat(s, s->beats * BEAT_NS);
    }
    late = spend(s, now_ns, s->message_ns);
    if (late > s->late_ns)
        s->late_ns = late;
    return s->free_ns;
}
