/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many nodes' connections with one controller, from one process: nodes NODES PORT ADDRESS...
 * Each of them proves itself, reports each 10 s and takes the rankings; they are spread over the addresses.  Says "connected"
 * when all are, and ends when its standard input does, with a line: nodes connected= acknowledged= ranked=
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/clock.h"
#include "lbd/node/uplink.h"

#define INTERVAL_S 10
#define TICK_MS 100 /* a hundredth of them reports at each */

struct node {
    struct lbd_uplink *up;
    struct lbd_ranking ranking;
    struct lbw_node_report report;
};

struct all {
    uv_loop_t loop;
    uv_timer_t tick;
    uv_poll_t input;
    struct node *node;
    int n, next;
    bool told, stopped;
};

static void report(struct all *a, struct node *node)
{
    struct lbw_node_report *r = &node->report;

    r->external_cpus = (double)(rand() % 8000) / 1000;
    r->busy_cpus = r->external_cpus;
    r->capacity = r->cpus - r->external_cpus;
    r->bench_age_ns += INTERVAL_S * LBX_NS_PER_S;
    lbd_uplink_report(node->up, r);
    (void)a;
}

static int count_connected(const struct all *a)
{
    struct lbd_uplink_stats s;
    int n = 0;

    for (int i = 0; i < a->n; i++) {
        lbd_uplink_stats(a->node[i].up, &s);
        n += s.connected;
    }
    return n;
}

static void on_tick(uv_timer_t *timer)
{
    struct all *a = timer->data;
    int share = a->n * TICK_MS / (INTERVAL_S * 1000);

    for (int i = 0; i < (share > 0 ? share : 1); i++, a->next = (a->next + 1) % a->n)
        report(a, &a->node[a->next]);
    if (!a->told && count_connected(a) == a->n) {
        a->told = true;
        puts("connected");
        fflush(stdout);
    }
}

static void print_end(const struct all *a)
{
    uint64_t acknowledged = 0;
    int ranked = 0;

    for (int i = 0; i < a->n; i++) {
        struct lbd_uplink_stats s;

        lbd_uplink_stats(a->node[i].up, &s);
        acknowledged += s.acknowledged;
        ranked += a->node[i].ranking.n >= (size_t)a->n;
    }
    printf("nodes connected=%d acknowledged=%llu ranked=%d\n", count_connected(a),
           (unsigned long long)acknowledged, ranked);
}

static void on_input(uv_poll_t *poll, int status, int events)
{
    struct all *a = poll->data;

    (void)status;
    (void)events;
    if (a->stopped)
        return;
    a->stopped = true;
    print_end(a);
    uv_close((uv_handle_t *)&a->tick, NULL);
    uv_close((uv_handle_t *)&a->input, NULL);
    for (int i = 0; i < a->n; i++)
        lbd_uplink_stop(a->node[i].up);
}

static int start_node(struct all *a, int i, uint16_t port, const char *address)
{
    struct lbd_address at = {.port = port};
    struct node *node = &a->node[i];
    char name[32];

    snprintf(at.host, sizeof(at.host), "%s", address);
    snprintf(name, sizeof(name), "node%05d", i);
    node->report = (struct lbw_node_report){.cpus = 64,
                                            .hardware = 1,
                                            .core_speed = 1,
                                            .capacity = 64,
                                            .hardware_s = 1,
                                            .workload_ratio = 1,
                                            .share_ratio = 1,
                                            .slow_ratio = 1,
                                            .users = 1};
    strcpy(node->report.model, "A processor of 64 cores");
    return lbd_uplink_create(&a->loop, &at, name, &node->ranking, &node->up);
}

int main(int argc, char **argv)
{
    struct all a = {.n = argc > 3 ? atoi(argv[1]) : 0};

    if (a.n < 1) {
        fprintf(stderr, "Usage: nodes NODES PORT ADDRESS...\n");
        return 2;
    }
    a.node = calloc((size_t)a.n, sizeof(*a.node));
    if (!a.node || uv_loop_init(&a.loop) < 0)
        return 1;
    for (int i = 0; i < a.n; i++)
        if (start_node(&a, i, (uint16_t)atoi(argv[2]), argv[3 + i % (argc - 3)]) < 0)
            return 1;
    uv_timer_init(&a.loop, &a.tick);
    uv_poll_init(&a.loop, &a.input, 0);
    a.tick.data = a.input.data = &a;
    uv_timer_start(&a.tick, on_tick, TICK_MS, TICK_MS);
    uv_poll_start(&a.input, UV_READABLE | UV_DISCONNECT, on_input);
    uv_run(&a.loop, UV_RUN_DEFAULT);
    for (int i = 0; i < a.n; i++) {
        lbd_uplink_destroy(a.node[i].up);
        lbd_ranking_fini(&a.node[i].ranking);
    }
    free(a.node);
    uv_loop_close(&a.loop);
    return 0;
}
