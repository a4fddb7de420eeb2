/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's list of nodes. */
#include "lbd/controller/slurmnodes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "lbd/helper.h"

#define FIRST_MS 1500
#define TURN_MS 15000
#define FAILED_MS 300000 /* where Slurm has never answered: perhaps there is none */
#define NODES_MAX ((size_t)65536)

const char *const lbd_slurm_state_name[LBD_SLURM_STATES] = {"unknown", "up", "drained", "down",
                                                            "absent"};

struct list {
    struct lbd_slurmnode *node; /* [n] */
    size_t n, size;
};

struct lbd_slurmnodes {
    const char *path;
    void (*on_list)(void *data);
    void *data;
    uv_timer_t timer;
    struct lbd_helper helper;
    struct list now, next; /* in force; coming */
    bool waiting, ever, told, stopped;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct lbd_slurmnode *)a)->name, ((const struct lbd_slurmnode *)b)->name);
}

/* NAME STATE */
static void take_node(struct list *l, const char *line)
{
    struct lbd_slurmnode node = {.state = LBD_SLURM_UNKNOWN};
    char state[16];

    if (sscanf(line, "%63s %15s", node.name, state) != 2 || l->n == NODES_MAX)
        return;
    for (int i = LBD_SLURM_UP; i <= LBD_SLURM_DOWN; i++)
        if (strcmp(state, lbd_slurm_state_name[i]) == 0)
            node.state = (enum lbd_slurm_state)i;
    if (l->n == l->size) {
        size_t size = l->size ? 2 * l->size : 64;
        struct lbd_slurmnode *bigger = realloc(l->node, size * sizeof(*bigger));

        if (!bigger)
            return;
        l->node = bigger;
        l->size = size;
    }
    l->node[l->n++] = node;
}

static void put_in_force(struct lbd_slurmnodes *s)
{
    struct list old = s->now;

    s->now = s->next;
    s->next = old;
    if (s->now.n > 0)
        qsort(s->now.node, s->now.n, sizeof(*s->now.node), compare_names);
    s->ever = true;
    s->told = false;
    s->on_list(s->data);
}

static void fail(struct lbd_slurmnodes *s, const char *why)
{
    if (!s->told)
        lbx_log(LBX_LOG_WARNING, "Slurm's nodes are not known: %s", why);
    s->told = true;
}

static void on_line(void *data, char *line)
{
    struct lbd_slurmnodes *s = data;
    bool good = strcmp(line, ".") == 0;

    if (!s->waiting)
        return;
    if (!good && line[0] != '!') {
        take_node(&s->next, line);
        return;
    }
    s->waiting = false;
    if (good && s->next.n > 0) /* a cluster without nodes says nothing */
        put_in_force(s);
    else
        fail(s, good ? "it has none" : line + 1);
    lbd_helper_finish(&s->helper); /* it is wanted seldom, and costs memory */
}

static void on_timer(uv_timer_t *timer)
{
    struct lbd_slurmnodes *s = timer->data;
    int rc;

    uv_timer_start(timer, on_timer, s->ever || !s->told ? TURN_MS : FAILED_MS, 0);
    if (s->helper.running) { /* it hangs since the last turn */
        lbd_helper_drop(&s->helper, true);
        return;
    }
    s->next.n = 0;
    rc = lbd_helper_start(&s->helper, s->path);
    if (rc == 0)
        rc = lbd_helper_send(&s->helper, "states\n");
    s->waiting = rc == 0;
    if (rc < 0)
        fail(s, strerror(-rc));
}

static void on_end(void *data)
{
    struct lbd_slurmnodes *s = data;

    if (s->waiting && !s->stopped)
        fail(s, "lb-slurm has ended");
    s->waiting = false;
}

int lbd_slurmnodes_create(uv_loop_t *loop, const char *helper, void (*on_list)(void *data),
                          void *data, struct lbd_slurmnodes **ret_nodes)
{
    struct lbd_slurmnodes *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    s->path = helper;
    s->on_list = on_list;
    s->data = data;
    lbd_helper_init(&s->helper, loop);
    s->helper.on_line = on_line;
    s->helper.on_end = on_end;
    s->helper.data = s;
    uv_timer_init(loop, &s->timer);
    s->timer.data = s;
    uv_timer_start(&s->timer, on_timer, FIRST_MS, 0);
    *ret_nodes = s;
    return 0;
}

void lbd_slurmnodes_stop(struct lbd_slurmnodes *s)
{
    if (!s)
        return;
    s->stopped = true;
    uv_close((uv_handle_t *)&s->timer, NULL);
    lbd_helper_drop(&s->helper, true);
}

void lbd_slurmnodes_destroy(struct lbd_slurmnodes *s)
{
    if (!s)
        return;
    lbd_helper_fini(&s->helper);
    free(s->now.node);
    free(s->next.node);
    free(s);
}

enum lbd_slurm_state lbd_slurmnodes_state(const struct lbd_slurmnodes *s, const char *name)
{
    const struct lbd_slurmnode *found;
    struct lbd_slurmnode key;

    if (!s || !s->ever)
        return LBD_SLURM_UNKNOWN;
    snprintf(key.name, sizeof(key.name), "%s", name);
    found = bsearch(&key, s->now.node, s->now.n, sizeof(key), compare_names);
    return found ? found->state : LBD_SLURM_ABSENT;
}

const struct lbd_slurmnode *lbd_slurmnodes_list(const struct lbd_slurmnodes *s, size_t *ret_n)
{
    *ret_n = s ? s->now.n : 0;
    return s ? s->now.node : NULL;
}
