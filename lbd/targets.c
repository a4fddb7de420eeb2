/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the lbds of the cluster are. */
#include "lbd/targets.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "lbd/capture.h"
#include "lbd/metrics/webconf.h"
#include "wire/hosts.h"

#define WORD_BYTES 256

/* The value of "KEY   = VALUE" in what scontrol prints, up to a space. */
static void config_value(const char *config, const char *key, char ret[WORD_BYTES])
{
    const char *at = config;
    size_t n;

    ret[0] = '\0';
    while (at && strncmp(at, key, strlen(key)) != 0)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    at = at ? strchr(at, '=') : NULL;
    if (!at)
        return;
    at += 1 + strspn(at + 1, " ");
    n = strcspn(at, " \n");
    if (n < WORD_BYTES) {
        memcpy(ret, at, n);
        ret[n] = '\0';
    }
}

static json_t *make_target(const char *cluster, const char *node, const char *address,
                           uint16_t port, bool tls)
{
    char at[WORD_BYTES + 16], name[WORD_BYTES];
    json_t *o;

    lbx_text_clean(cluster, name, sizeof(name));
    snprintf(at, sizeof(at), strchr(address, ':') ? "[%s]:%u" : "%s:%u", address, port);
    o = json_pack("{s[s] s{ss ss}}", "targets", at, "labels", "cluster", name, "node", node);
    if (o && tls)
        json_object_set_new(json_object_get(o, "labels"), "__scheme__", json_string("https"));
    return o;
}

static bool is_address(const char *text)
{
    static const char valid[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:";

    return text[0] && text[strspn(text, valid)] == '\0';
}

/* "HOST(ADDRESS)" or "HOST": the address of this host as Slurm's controller, else its name. */
static void own_address(const char *config, const char *host, char ret[WORD_BYTES])
{
    char word[WORD_BYTES], *open;

    config_value(config, "SlurmctldHost[0]", word);
    open = strchr(word, '(');
    snprintf(ret, WORD_BYTES, "%s", host);
    if (!open)
        return;
    *open = '\0';
    open[1 + strcspn(open + 1, ")")] = '\0';
    if (strcmp(word, host) == 0 && is_address(open + 1))
        snprintf(ret, WORD_BYTES, "%s", open + 1);
}

/* Sorted by name, a name once: the same cluster gives the same text. */
static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t split_lines(char *text, char **line, size_t most)
{
    char *save = NULL;
    size_t n = 0;

    for (char *w = strtok_r(text, "\n", &save); w && n < most; w = strtok_r(NULL, "\n", &save))
        line[n++] = w;
    qsort(line, n, sizeof(*line), compare_lines);
    return n;
}

static size_t count_lines(const char *text)
{
    size_t n = 1;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void add_nodes(json_t *list, char **line, size_t n, const char *cluster,
                      const struct lbd_options *o, bool tls, bool *ret_self)
{
    char last[WORD_BYTES] = "", name[WORD_BYTES], address[WORD_BYTES];

    for (size_t i = 0; i < n; i++) {
        if (sscanf(line[i], "%255s %255s", name, address) != 2 || !lbw_host_name_valid(name) ||
            !is_address(address) || strcmp(name, last) == 0)
            continue;
        strcpy(last, name);
        *ret_self = *ret_self || strcmp(name, o->host) == 0;
        json_array_append_new(list, make_target(cluster, name, address, o->metrics.port, tls));
    }
}

int lbd_targets_from(const char *nodes, const char *config, const struct lbd_options *options,
                     bool tls, char **ret_json, struct lbx_error *err)
{
    char cluster[WORD_BYTES], address[WORD_BYTES], *copy = strdup(nodes), *json = NULL;
    size_t most = count_lines(nodes);
    char **line = calloc(most, sizeof(*line));
    json_t *list = json_array();
    bool self = false;

    config_value(config, "ClusterName", cluster);
    if (copy && line && list) {
        add_nodes(list, line, split_lines(copy, line, most), cluster, options, tls, &self);
        own_address(config, options->host, address);
        if (options->controller && !self)
            json_array_append_new(
                list, make_target(cluster, options->host, address, options->metrics.port, tls));
        json = json_dumps(list, JSON_INDENT(1));
    }
    free(copy);
    free(line);
    json_decref(list);
    if (!json)
        return lbx_error_set(err, -ENOMEM, "out of memory");
    *ret_json = json;
    return 0;
}

int lbd_targets_make(const struct lbd_options *options, int64_t deadline_ns, char **ret_json,
                     struct lbx_error *err)
{
    char *const ask_nodes[] = {"sinfo", "-hN", "-o", "%N %o", NULL};
    char *const ask_config[] = {"scontrol", "show", "config", NULL};
    char *nodes = NULL, *config = NULL;
    struct lbd_webconf web;
    bool tls = false;
    int rc = lbd_webconf_read(options->web, &web, err);

    if (rc == 0) {
        tls = web.tls;
        lbd_webconf_fini(&web);
        rc = lbd_capture(ask_nodes, deadline_ns, &nodes, err);
    }
    if (rc == 0)
        rc = lbd_capture(ask_config, deadline_ns, &config, err);
    if (rc == 0)
        rc = lbd_targets_from(nodes, config, options, tls, ret_json, err);
    free(nodes);
    free(config);
    return rc;
}
