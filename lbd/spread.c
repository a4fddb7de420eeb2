/* SPDX-License-Identifier: BSD-3-Clause */
/* What sruns of several hosts claim. */
#include "lbd/spread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define LOOK_MS \
    100 /* for ends of claims that are young; an eighth of its age for one that is not */
#define LOOK_MOST_MS 5000
#define AGE_PER_LOOK 8
#define RATE_HZ 50.0 /* messages; what is beyond them is not told */
#define BURST 200.0

struct lbd_spread {
    const char *host;
    struct lbd_uplink *uplink;
    struct lbd_controller *controller;
    uv_timer_t look;
    struct lbd_claims claims;
    double tokens;
    int64_t tokens_ns;
    struct lbw_node_claims msg; /* large */
};

/* Of claims and of their ends; the latter may use up what the former leave. */
static bool is_within_rate(struct lbd_spread *s, double least)
{
    int64_t now_ns = lbx_clock_mono_ns();

    s->tokens += RATE_HZ * (double)(now_ns - s->tokens_ns) / 1e9;
    s->tokens_ns = now_ns;
    if (s->tokens > BURST)
        s->tokens = BURST;
    if (s->tokens < least)
        return false;
    s->tokens--;
    return true;
}

static bool tell(void *data, uid_t uid, uint64_t generation, const struct lbw_local_claims *want)
{
    struct lbd_spread *s = data;

    if (!is_within_rate(s, want ? BURST / 4 : 1))
        return false;
    if (want)
        s->msg.claims = *want;
    else
        s->msg.claims.n = 0;
    s->msg.claims.generation = generation;
    s->msg.uid = uid;
    if (s->controller)
        lbd_controller_claims(s->controller, &s->msg);
    return s->uplink ? lbd_uplink_claims(s->uplink, &s->msg) : s->controller != NULL;
}

static void hear(void *data, const struct lbw_node_claims *claims)
{
    struct lbd_spread *s = data;

    if (strcmp(claims->origin, s->host) != 0)
        lbd_claims_hear(&s->claims, claims, lbx_clock_mono_ns());
}

/* sruns do not say when they end: while there are some whose end is to be told they are looked for, the less often the older. */
static void on_look(uv_timer_t *timer)
{
    struct lbd_spread *s = timer->data;
    int64_t age_ns = lbd_claims_sweep(&s->claims, lbx_clock_mono_ns());
    int64_t ms = age_ns / AGE_PER_LOOK / LBX_NS_PER_MS;

    if (age_ns == INT64_MAX)
        return;
    ms = ms < LOOK_MS ? LOOK_MS : ms;
    uv_timer_start(timer, on_look, (uint64_t)(ms > LOOK_MOST_MS ? LOOK_MOST_MS : ms), 0);
}

int lbd_spread_create(uv_loop_t *loop, const char *host, struct lbd_uplink *uplink,
                      struct lbd_controller *controller, struct lbd_spread **ret_spread)
{
    struct lbd_spread *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    s->host = host;
    s->uplink = uplink;
    s->controller = controller;
    s->claims.tell = tell;
    s->claims.data = s;
    snprintf(s->msg.origin, sizeof(s->msg.origin), "%s", host);
    uv_timer_init(loop, &s->look);
    s->look.data = s;
    if (uplink)
        lbd_uplink_on_claims(uplink, hear, s);
    if (controller)
        lbd_controller_on_claims(controller, hear, s);
    *ret_spread = s;
    return 0;
}

void lbd_spread_stop(struct lbd_spread *s)
{
    if (!s)
        return;
    s->claims.tell = NULL;
    uv_close((uv_handle_t *)&s->look, NULL);
}

void lbd_spread_destroy(struct lbd_spread *s)
{
    if (!s)
        return;
    lbd_claims_fini(&s->claims);
    free(s);
}

int lbd_spread_take(struct lbd_spread *s, uid_t uid, pid_t pid, const struct lbw_local_claims *want,
                    int64_t half_life_ns, struct lbw_local_claims *ret)
{
    int rc = lbd_claims_take(&s->claims, uid, pid, want, half_life_ns, lbx_clock_mono_ns(), ret);

    if (rc == 0 && !uv_is_closing((uv_handle_t *)&s->look) &&
        (!uv_is_active((uv_handle_t *)&s->look) || uv_timer_get_due_in(&s->look) > LOOK_MS))
        uv_timer_start(&s->look, on_look, LOOK_MS, 0);
    return rc;
}

void lbd_spread_look(struct lbd_spread *s, uid_t uid, int64_t half_life_ns,
                     struct lbw_local_idle *idle)
{
    lbd_claims_look(&s->claims, uid, half_life_ns, lbx_clock_mono_ns(), idle);
}

void lbd_spread_count(const struct lbd_spread *s, size_t *ret_here, size_t *ret_far)
{
    lbd_claims_count(&s->claims, ret_here, ret_far);
}
