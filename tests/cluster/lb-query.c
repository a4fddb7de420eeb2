/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lb-query HOSTS COUNT: how long lbd's socket takes to answer what the plugin asks, with so many hosts in the ranking.
 * A child of it is lbd's own server; nothing is measured on the host.  Prints the 99th percentiles in ms:
 *   rule_p99_ms   what has the site decided (each srun, each host)
 *   query_p99_ms  all of the hosts, by rank (srun, where it lays out tasks)
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "common/clock.h"
#include "lbd/local_server.h"
#include "lbd/ranking.h"

#define WAIT_NS (10 * LBX_NS_PER_S)

static struct lbw_local_msg request, answer;
static struct lbw_local_hosts part;
static char path[64];

static bool may_command(void *data, uid_t uid)
{
    (void)data, (void)uid;
    return false;
}

static void rule(void *data, const struct lbw_local_scope *scope, struct lbw_local_rule *ret_rule)
{
    (void)data, (void)scope;
    memset(ret_rule, 0, sizeof(*ret_rule));
    strcpy(ret_rule->policy, "auto");
}

static void fill(struct lbd_ranking *r, size_t hosts)
{
    for (size_t first = 0; first < hosts; first += part.n) {
        part.n = hosts - first < LBW_LOCAL_HOSTS_MAX ? hosts - first : LBW_LOCAL_HOSTS_MAX;
        part.more = first + part.n < hosts;
        for (size_t i = 0; i < part.n; i++) {
            part.host[i] = (struct lbw_local_host){
                .core_speed = .4, .capacity = 3.2, .hardware = .9, .index = (double)(first + i)};
            snprintf(part.host[i].host, sizeof(part.host[i].host), "node%05zu", first + i);
        }
        if (lbd_ranking_part(r, &part, lbx_clock_mono_ns()) < 0)
            exit(1);
    }
}

static void serve(size_t hosts)
{
    struct lbd_ranking ranking = {0};
    struct lbd_local_sources sources = {
        .ranking = &ranking, .may_command = may_command, .rule = rule};
    struct lbd_local_server *server;
    struct lbx_error err = {0};
    uv_loop_t loop;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fill(&ranking, hosts);
    if (uv_loop_init(&loop) < 0 ||
        lbd_local_server_create(&loop, path, &sources, &err, &server) < 0) {
        fprintf(stderr, "lb-query: %s\n", err.text);
        exit(1);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Of COUNT questions as in request. */
static double p99_ms(size_t count, enum lbw_local_type expected)
{
    double *ms = calloc(count, sizeof(*ms)), p99;

    for (size_t i = 0; ms && i < count; i++) {
        int64_t began_ns = lbx_clock_mono_ns();
        int rc = lbw_local_ask(path, &request, began_ns + WAIT_NS, &answer);

        ms[i] = (double)(lbx_clock_mono_ns() - began_ns) / 1e6;
        if (rc < 0 || answer.type != expected) {
            fprintf(stderr, "lb-query: no answer: %s\n",
                    rc < 0 ? strerror(-rc) : answer.u.text.text);
            exit(1);
        }
        if (i % 50 == 0) /* within what lbd allows one user */
            lbx_clock_sleep_ns(300 * LBX_NS_PER_MS);
    }
    if (!ms)
        exit(1);
    qsort(ms, count, sizeof(*ms), compare);
    p99 = ms[count * 99 / 100];
    free(ms);
    return p99;
}

int main(int argc, char **argv)
{
    size_t hosts = argc == 3 ? (size_t)atol(argv[1]) : 0,
           count = argc == 3 ? (size_t)atol(argv[2]) : 0;
    size_t used = 0;
    double rule_ms, query_ms;
    pid_t pid;

    if (hosts < 1 || hosts > 5000 || count < 1) {
        fprintf(stderr, "usage: lb-query HOSTS COUNT   (1 to 5000 hosts)\n");
        return 2;
    }
    snprintf(path, sizeof(path), "/tmp/lb-query.%d.sock", (int)getpid());
    pid = fork();
    if (pid == 0)
        serve(hosts);
    for (int i = 0; i < 1000 && access(path, F_OK) < 0; i++)
        lbx_clock_sleep_ns(10 * LBX_NS_PER_MS);
    request.type = LBW_L_SCOPE;
    rule_ms = p99_ms(count, LBW_L_RULE);
    memset(&request, 0, sizeof(request));
    request.type = LBW_L_PLACE;
    for (size_t i = 0; i < hosts; i++)
        used += (size_t)sprintf(request.u.text.text + used, "%snode%05zu", i ? "," : "", i);
    query_ms = p99_ms(count, LBW_L_HOSTS);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    unlink(path);
    printf("hosts=%zu rule_p99_ms=%.3f query_p99_ms=%.3f queries=%zu\n", hosts, rule_ms, query_ms,
           count);
    return 0;
}
