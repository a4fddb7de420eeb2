/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl's commands about hosts and their weights. */
#include "lbd/ctl/show.h"

#include <errno.h>
#include <jansson.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/policyconf.h"
#include "lbd/ctl/ask.h"
#include "lbd/ctl/history.h"
#include "lbd/ctl/print.h"
#include "lbd/ctl/slurm.h"

#define WIDTH 80 /* where there is no terminal */
#define WIDTH_MOST 1000
#define SINCE "2h"
#define COLUMN "external_cpus"

int lbd_show_nobody(const char *socket, int rc)
{
    if (rc == -ENOENT || rc == -ECONNREFUSED)
        fprintf(stderr, "lbctl: no lbd listens at %s: is lbd running? (systemctl status lbd)\n",
                socket);
    else if (rc == -ETIMEDOUT)
        fprintf(stderr, "lbctl: lbd at %s does not answer within 5 s\n", socket);
    else
        fprintf(stderr, "lbctl: %s: %s\n", socket, strerror(-rc));
    return LBD_EXIT_NOBODY;
}

static int misuse(const char *text, const char *word)
{
    fprintf(stderr, "lbctl: %s '%s'; see lbctl --help\n", text, word);
    return LBD_EXIT_USAGE;
}

static int explain(const struct lbd_ctl *c, int rc, const struct lbx_error *err)
{
    if (rc != -EREMOTEIO && rc != -ENOMEM && rc != -EINVAL)
        return lbd_show_nobody(c->socket, rc);
    fprintf(stderr, "lbctl: %s\n", err->text);
    return LBD_EXIT_REFUSED;
}

/* Print by `print`, or as JSON.  answer is given back. */
static int finish(const struct lbd_ctl *c, json_t *answer, void (*print)(FILE *f, const json_t *a))
{
    if (c->json) {
        json_dumpf(answer, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
        putchar('\n');
    } else {
        print(stdout, answer);
    }
    json_decref(answer);
    return LBD_EXIT_OK;
}

static int ask_and_print(const struct lbd_ctl *c, const char *request,
                         void (*print)(FILE *f, const json_t *a))
{
    struct lbx_error err = {0};
    json_t *answer;
    int rc = lbd_ctl_ask(c->socket, request, NULL, &answer, &err);

    return rc < 0 ? explain(c, rc, &err) : finish(c, answer, print);
}

static bool is_name(const char *host)
{
    return *host && strlen(host) < LBX_CONF_NAME_MAX && !strpbrk(host, " \t\n");
}

/* Leave one host of the list.  Returns false: it is not there. */
static bool keep_one(json_t *answer, const char *host)
{
    json_t *hosts = json_object_get(answer, "hosts"), *h, *kept = NULL;
    size_t i;

    json_array_foreach(hosts, i, h)
    {
        const char *name = json_string_value(json_object_get(h, "host"));

        if (name && strcmp(name, host) == 0)
            kept = h;
    }
    if (!kept)
        return false;
    json_object_set_new(answer, "hosts", json_pack("[O]", kept));
    json_object_del(answer, "without_lbd");
    return true;
}

/* host: that one alone; NULL: all */
static int show_list(const struct lbd_ctl *c, const char *request, const char *host,
                     void (*print)(FILE *f, const json_t *a))
{
    struct lbx_error err = {0};
    json_t *answer, *states;
    int rc = lbd_ctl_ask(c->socket, request, "hosts", &answer, &err);

    if (rc < 0)
        return explain(c, rc, &err);
    if (host && !keep_one(answer, host)) {
        fprintf(stderr, "lbctl: host '%.64s' is not known: see lbctl hosts\n", host);
        json_decref(answer);
        return LBD_EXIT_REFUSED;
    }
    states = lbd_slurm_states();
    lbd_slurm_add(json_object_get(answer, "hosts"), states);
    json_decref(states);
    return finish(c, answer, print);
}

int lbd_show_hosts(const struct lbd_ctl *c, const char *host)
{
    if (host && !is_name(host))
        return misuse("a host is needed, not", host);
    return show_list(c, "hosts", host, host ? lbd_print_one_host : lbd_print_hosts);
}

int lbd_show_rank(const struct lbd_ctl *c)
{
    return show_list(c, "rank", NULL, lbd_print_rank);
}

int lbd_show_forecast(const struct lbd_ctl *c, const char *host)
{
    char request[128];

    if (!is_name(host))
        return misuse("a host is needed, not", host);
    snprintf(request, sizeof(request), "forecast %s", host);
    return ask_and_print(c, request, lbd_print_forecast);
}

size_t lbd_show_width(const struct lbd_ctl *c)
{
    struct winsize w;
    char *end;
    long given;

    if (c->width) {
        given = strtol(c->width, &end, 10);
        if (end == c->width || *end || given <= 0)
            return 0;
        return given < WIDTH_MOST ? (size_t)given : WIDTH_MOST;
    }
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : WIDTH;
}

int lbd_show_history(const struct lbd_ctl *c, const char *host)
{
    struct lbd_history_wish w = {.host = host,
                                 .of = c->of ? c->of : COLUMN,
                                 .columns = lbd_show_width(c),
                                 .braille =
                                     !c->ascii && strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    struct lbx_error err = {0};
    int64_t now_s = (int64_t)time(NULL);
    json_t *answer;
    int rc;

    if (!is_name(host))
        return misuse("a host is needed, not", host);
    if (w.columns == 0)
        return misuse("write --width=80, not", c->width);
    if (lbd_history_time(c->since ? c->since : SINCE, now_s, &w.from_s) < 0)
        return misuse("write --since=2h or --since=2026-11-21T18:30, not", c->since);
    if (lbd_history_time(c->until ? c->until : "now", now_s, &w.to_s) < 0)
        return misuse("write --until=1h or --until=2026-11-21T18:30, not", c->until);
    if (w.to_s <= w.from_s)
        return misuse("the time ends before it begins: --since", c->since ? c->since : SINCE);
    rc = lbd_history_ask(c->socket, &w, &answer, &err);
    if (rc < 0)
        return explain(c, rc, &err);
    if (c->json)
        return finish(c, answer, NULL);
    rc = lbd_history_print(stdout, answer, &w);
    json_decref(answer);
    return rc == -EINVAL ? misuse("there is no history of", w.of)
           : rc < 0      ? LBD_EXIT_REFUSED
                         : LBD_EXIT_OK;
}

int lbd_show_probe(const struct lbd_ctl *c)
{
    char request[64] = "probe";
    int64_t ns = 0;

    if (c->interval && lbx_confvalue_duration(c->interval, &ns) < 0)
        return misuse("write --interval=10s or --interval=500ms, not", c->interval);
    if (ns > 0)
        snprintf(request, sizeof(request), "probe %.6f", (double)ns / 1e9);
    return ask_and_print(c, request, lbd_print_any);
}

int lbd_show_weights(const struct lbd_ctl *c, char **set, size_t n)
{
    char request[256] = "weights";

    for (size_t i = 0; i < n; i++) {
        const char *number = strchr(set[i], '=');
        size_t used = strlen(request);
        char *end = NULL;

        if (number)
            strtod(number + 1, &end);
        if (!end || end == number + 1 || *end || strchr(set[i], ' '))
            return misuse("write NAME=NUMBER, not", set[i]);
        if (used + 1 + strlen(set[i]) >= sizeof(request))
            return misuse("too many weights from", set[i]);
        snprintf(request + used, sizeof(request) - used, " %s", set[i]);
    }
    return ask_and_print(c, request, lbd_print_any);
}

int lbd_show_node_weights(const struct lbd_ctl *c)
{
    return c->restore ? ask_and_print(c, "weights restore", lbd_print_any)
                      : ask_and_print(c, "weights nodes", lbd_print_weights);
}

int lbd_show_effective(const struct lbd_ctl *c)
{
    const char *partition = c->partition && *c->partition ? c->partition : "-";
    const char *account = c->account && *c->account ? c->account : "-";
    char request[256];

    if (!is_name(partition) || !is_name(account))
        return misuse("a name is needed, not", is_name(partition) ? account : partition);
    snprintf(request, sizeof(request), "effective %s %s", partition, account);
    return ask_and_print(c, request, lbd_print_any);
}
