/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's node weights kept in step with the ranking. */
#include "lbd/controller/weights.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "lbd/helper.h"
#include "policy/nodeweight.h"

#define FIRST_MS 1000
#define TURN_LEAST_MS 2000 /* a turn comes as often as the load is sampled, within these */
#define TURN_MOST_MS 60000
#define STUCK_NS (120 * LBX_NS_PER_S)   /* a turn that takes longer is given up, with its helper */
#define STOP_MS 5000                    /* for putting the weights back at the end */
#define UPDATES_MAX 32                  /* of slurmctld in a turn */
#define NAMES_BYTES_MAX ((size_t)60000) /* of one update */

enum doing { NOTHING, LISTING, SETTING, RESTORING };

struct lbd_weights {
    struct lbd_weights_settings settings;
    char path[4096];
    uv_timer_t timer;
    struct lbd_helper helper;
    struct lbd_weighted_set all;
    enum doing doing;
    int waiting; /* answers that are due */
    int64_t since_ns;
    char error[256];
    bool held; /* put back by hand: until the next start */
    bool stopped, failed;
};

static bool follows(const struct lbx_policyconf *c, const char *partition)
{
    for (size_t i = 0; i < c->npartitions; i++)
        if (strcmp(c->partition[i].name, partition) == 0 &&
            c->partition[i].placement != LBX_PLACE_UNSET)
            return c->partition[i].placement == LBX_PLACE_WEIGHTS;
    return c->placement == LBX_PLACE_WEIGHTS;
}

static bool is_on(const struct lbd_weights *w)
{
    const struct lbx_policyconf *c = w->settings.conf;
    bool on = c->placement == LBX_PLACE_WEIGHTS;

    for (size_t i = 0; i < c->npartitions; i++)
        on = on || c->partition[i].placement == LBX_PLACE_WEIGHTS;
    return on && !w->held && !w->stopped;
}

static void fail(struct lbd_weights *w, const char *what, const char *why)
{
    snprintf(w->error, sizeof(w->error), "%s: %s", what, why);
    if (!w->failed)
        lbx_log(LBX_LOG_WARNING, "node weights: %s", w->error);
    w->failed = true;
}

static int compare_hosts(const void *a, const void *b)
{
    const struct lbw_local_host *x = *(const struct lbw_local_host *const *)a,
                                *y = *(const struct lbw_local_host *const *)b;

    return strcmp(x->host, y->host);
}

static int compare_wanted(const void *a, const void *b)
{
    const struct lbd_weighted *x = *(const struct lbd_weighted *const *)a,
                              *y = *(const struct lbd_weighted *const *)b;

    return x->wanted < y->wanted ? -1 : x->wanted > y->wanted;
}

/* What each node should have.  Returns 0, -EAGAIN (no ranking that counts), -ENOMEM. */
static int decide(struct lbd_weights *w)
{
    const struct lbd_ranking *r = w->settings.ranking;
    const struct lbw_local_host **by_name;

    if (r->n == 0 || lbd_ranking_age_ns(r, lbx_clock_mono_ns()) > LBD_RANKING_UNUSED_NS)
        return -EAGAIN;
    by_name = malloc(r->n * sizeof(const struct lbw_local_host *));
    if (!by_name)
        return -ENOMEM;
    for (size_t i = 0; i < r->n; i++)
        by_name[i] = &r->host[i];
    qsort(by_name, r->n, sizeof(const struct lbw_local_host *), compare_hosts);
    for (size_t i = 0; i < w->all.n; i++) {
        struct lbd_weighted *node = &w->all.node[i];
        struct lbw_local_host key;
        const struct lbw_local_host *at = &key, **found;

        memcpy(key.host, node->name, sizeof(key.host));
        found = bsearch(&at, by_name, r->n, sizeof(const struct lbw_local_host *), compare_hosts);
        node->bucket = found
                           ? lbp_nodeweight_bucket((*found)->index, r->host[0].index, node->bucket)
                           : LBP_NODEWEIGHT_UNKNOWN;
        node->wanted = node->managed && node->site <= LBP_NODEWEIGHT_MOST
                           ? lbp_nodeweight(node->site, node->bucket)
                       : lbp_nodeweight_is_ours(node->weight, node->site) ? node->site
                                                                          : node->weight;
    }
    free(by_name);
    return 0;
}

/* One update for all nodes of the same new weight, best ones first; what is too much is done next time. */
static int send_updates(struct lbd_weights *w)
{
    struct lbd_weighted **due = malloc((w->all.n ? w->all.n : 1) * sizeof(struct lbd_weighted *));
    char *text = malloc(NAMES_BYTES_MAX + 128);
    size_t n = 0, used = 0;
    int rc = due && text ? 0 : -ENOMEM;

    for (size_t i = 0; i < w->all.n && rc == 0; i++)
        if (w->all.node[i].seen && w->all.node[i].wanted != w->all.node[i].weight)
            due[n++] = &w->all.node[i];
    if (rc == 0)
        qsort(due, n, sizeof(struct lbd_weighted *), compare_wanted);
    for (size_t i = 0; i < n && rc == 0 && w->waiting < UPDATES_MAX; i++) {
        bool first = used == 0;

        used +=
            (size_t)(first ? sprintf(text, "weight %" PRIu32 " %s", due[i]->wanted, due[i]->name)
                           : sprintf(text + used, ",%s", due[i]->name));
        if (i + 1 < n && due[i + 1]->wanted == due[i]->wanted && used < NAMES_BYTES_MAX)
            continue;
        strcpy(text + used, "\n");
        used = 0;
        rc = lbd_helper_send(&w->helper, text);
        w->waiting += rc == 0;
    }
    free(due);
    free(text);
    return rc;
}

static void set_weights(struct lbd_weights *w)
{
    int rc = decide(w);

    w->doing = NOTHING;
    if (rc == 0)
        rc = lbd_weighted_save(&w->all, w->path);
    w->waiting = 0;
    if (rc == 0)
        rc = send_updates(w);
    if (rc < 0) {
        fail(w, "not set", rc == -EAGAIN ? "there is no ranking yet" : strerror(-rc));
        return;
    }
    if (w->waiting > 0) {
        w->doing = SETTING;
        return;
    }
    w->failed = false;
    w->error[0] = '\0';
}

/* NAME WEIGHT PARTITION,... */
static void take_node(struct lbd_weights *w, char *line)
{
    char *save_at = NULL, *name = strtok_r(line, " ", &save_at);
    char *number = strtok_r(NULL, " ", &save_at), *partition;
    struct lbd_weighted *node;
    uint32_t weight;

    if (!name || !number || sscanf(number, "%" SCNu32, &weight) != 1)
        return;
    node = lbd_weighted_find(&w->all, name);
    if (!node)
        node = lbd_weighted_add(&w->all, name, weight);
    if (!node)
        return;
    if (weight != node->site && !lbp_nodeweight_is_ours(weight, node->site))
        node->site = weight; /* the administrator's new one */
    node->weight = weight;
    node->seen = true;
    node->managed = false;
    while ((partition = strtok_r(NULL, ",", &save_at)))
        node->managed = node->managed || follows(w->settings.conf, partition);
}

static void on_line(void *data, char *line)
{
    struct lbd_weights *w = data;
    bool good = strcmp(line, ".") == 0, bad = line[0] == '!';

    if (!good && !bad) {
        if (w->doing == LISTING)
            take_node(w, line);
        return;
    }
    if (bad)
        fail(w, w->doing == RESTORING ? "not put back" : "slurmctld", line + 1);
    if (w->doing == LISTING && good) {
        set_weights(w);
    } else if (w->doing == SETTING && --w->waiting > 0) {
        return;
    } else {
        if (w->doing == RESTORING && good) {
            lbx_log(LBX_LOG_INFO, "node weights: the site's are back");
            w->all.n = 0;
        }
        if (good && w->doing == SETTING)
            w->failed = false;
        w->doing = NOTHING;
    }
}

static void start_turn(struct lbd_weights *w, enum doing doing)
{
    char text[sizeof(w->path) + 16];
    int rc = lbd_helper_start(&w->helper, w->settings.helper);

    snprintf(text, sizeof(text), doing == LISTING ? "nodes\n" : "restore %s\n", w->path);
    if (rc == 0)
        rc = lbd_helper_send(&w->helper, text);
    if (rc < 0) {
        fail(w, w->settings.helper, strerror(-rc));
        return;
    }
    for (size_t i = 0; i < w->all.n; i++)
        w->all.node[i].seen = false;
    w->doing = doing;
    w->since_ns = lbx_clock_mono_ns();
}

static uint64_t turn_ms(const struct lbd_weights *w)
{
    int64_t ms = w->settings.conf->load_interval_ns / LBX_NS_PER_MS;

    return (uint64_t)(ms < TURN_LEAST_MS ? TURN_LEAST_MS : ms > TURN_MOST_MS ? TURN_MOST_MS : ms);
}

static void on_timer(uv_timer_t *timer)
{
    struct lbd_weights *w = timer->data;

    uv_timer_set_repeat(timer, turn_ms(w));
    if (w->doing != NOTHING) {
        if (lbx_clock_mono_ns() - w->since_ns > STUCK_NS)
            lbd_helper_drop(&w->helper, true);
    } else if (is_on(w)) {
        start_turn(w, LISTING);
    } else if (access(w->path, F_OK) == 0) {
        start_turn(w, RESTORING);
    } else {
        lbd_helper_finish(&w->helper); /* there is nothing for it to do */
    }
}

static void close_timer(struct lbd_weights *w)
{
    if (!uv_is_closing((uv_handle_t *)&w->timer))
        uv_close((uv_handle_t *)&w->timer, NULL);
}

static void on_end(void *data)
{
    struct lbd_weights *w = data;

    if (w->doing != NOTHING)
        fail(w, w->settings.helper, "it has ended");
    w->doing = NOTHING;
    w->waiting = 0;
    if (w->stopped)
        close_timer(w);
}

int lbd_weights_create(uv_loop_t *loop, const struct lbd_weights_settings *settings,
                       struct lbd_weights **ret_weights)
{
    struct lbd_weights *w = calloc(1, sizeof(*w));

    if (!w)
        return -ENOMEM;
    if (snprintf(w->path, sizeof(w->path), "%s/weights", settings->state) >= (int)sizeof(w->path)) {
        free(w);
        return -ENAMETOOLONG;
    }
    w->settings = *settings;
    w->settings.state = NULL;
    lbd_weighted_load(&w->all, w->path);
    lbd_helper_init(&w->helper, loop);
    w->helper.on_line = on_line;
    w->helper.on_end = on_end;
    w->helper.data = w;
    uv_timer_init(loop, &w->timer);
    w->timer.data = w;
    uv_timer_start(&w->timer, on_timer, FIRST_MS, TURN_LEAST_MS);
    *ret_weights = w;
    return 0;
}

void lbd_weights_restore(struct lbd_weights *w)
{
    w->held = true;
    uv_timer_start(&w->timer, on_timer, w->doing == NOTHING ? 0 : FIRST_MS, TURN_LEAST_MS);
}

static void on_stop_timer(uv_timer_t *timer)
{
    struct lbd_weights *w = timer->data;

    lbd_helper_drop(&w->helper,
                    false); /* it goes on by itself; its file is there for the next lbd */
    close_timer(w);
}

void lbd_weights_stop(struct lbd_weights *w)
{
    w->stopped = true;
    if (access(w->path, F_OK) == 0)
        start_turn(w, RESTORING);
    if (!w->helper.running) {
        close_timer(w);
        return;
    }
    lbd_helper_finish(&w->helper);
    uv_timer_start(&w->timer, on_stop_timer, STOP_MS, 0);
}

void lbd_weights_destroy(struct lbd_weights *w)
{
    if (!w)
        return;
    lbd_helper_fini(&w->helper);
    lbd_weighted_fini(&w->all);
    free(w);
}

const struct lbd_weighted *lbd_weights_list(const struct lbd_weights *w, size_t *ret_n,
                                            bool *ret_on, const char **ret_error)
{
    *ret_n = w->all.n;
    *ret_on = is_on(w);
    *ret_error = w->error;
    return w->all.node;
}
