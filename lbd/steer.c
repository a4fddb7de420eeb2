/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that change something until the configuration is read again. */
#include "lbd/steer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "lbd/rules.h"

#define INTERVAL_LEAST_S .1
#define INTERVAL_MOST_S 3600.
#define WEIGHT_MOST 1e6
#define TEXT_MAX 512

static bool parse_number(const char *text, double least, double most, double *ret)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !isfinite(v) || v < least || v > most)
        return false;
    *ret = v;
    return true;
}

static void probe(const struct lbd_view *v, char *rest, json_t **ret, struct lbx_error *err)
{
    char *save = NULL, *word = strtok_r(rest, " ", &save);
    double interval_s = 0;

    if (!v->node) {
        lbx_error_set(err, -ENOTSUP, "this lbd has no node role: ask on the host");
    } else if (word && !parse_number(word, INTERVAL_LEAST_S, INTERVAL_MOST_S, &interval_s)) {
        lbx_error_set(err, -EINVAL, "an interval is 0.1 to 3600 s, not '%.40s'", word);
    } else {
        v->hands->probe(v->hands->data, (int64_t)(interval_s * 1e9));
        *ret = json_pack("{ss sf}", "host", v->options->host, "load_interval_s",
                         (double)v->conf->load_interval_ns / 1e9);
    }
}

static void weights(const struct lbd_view *v, char *rest, json_t **ret, struct lbx_error *err)
{
    struct lbp_index_weights w = {v->conf->index_scale, v->conf->index_user,
                                  v->conf->index_terminal, v->conf->index_task};
    const struct {
        const char *name;
        double *value, least;
    } known[] = {{"scale", &w.scale, 1e-6},
                 {"user", &w.user, 0},
                 {"terminal", &w.terminal, 0},
                 {"task", &w.task, 0}};
    char *save = NULL;
    bool any = false;

    for (char *word = strtok_r(rest, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        size_t i = 0;

        if (equals)
            *equals = '\0';
        while (i < 4 && strcmp(word, known[i].name) != 0)
            i++;
        if (i == 4) {
            lbx_error_set(err, -EINVAL, "weight '%.40s' is unknown: scale, user, terminal, task",
                          word);
            return;
        }
        if (!equals || !parse_number(equals + 1, known[i].least, WEIGHT_MOST, known[i].value)) {
            lbx_error_set(err, -EINVAL, "write %s=NUMBER, %s and at most %g", known[i].name,
                          known[i].least > 0 ? "above 0" : "0 or more", WEIGHT_MOST);
            return;
        }
        any = true;
    }
    if (any)
        v->hands->set_weights(v->hands->data, &w);
    *ret = json_pack("{sf sf sf sf sb}", "scale", w.scale, "user", w.user, "terminal", w.terminal,
                     "task", w.task, "ranks_hosts", v->controller != NULL);
}

static void effective(const struct lbd_view *v, char *rest, json_t **ret, struct lbx_error *err)
{
    struct lbw_local_scope scope = {{0}, {0}};
    struct lbw_local_rule rule = {0};
    char *save = NULL, *partition = strtok_r(rest, " ", &save),
         *account = strtok_r(NULL, " ", &save);

    if (!partition || !account || strlen(partition) >= sizeof(scope.partition) ||
        strlen(account) >= sizeof(scope.account)) {
        lbx_error_set(err, -EINVAL, "write effective PARTITION ACCOUNT");
        return;
    }
    snprintf(scope.partition, sizeof(scope.partition), "%s",
             strcmp(partition, "-") == 0 ? "" : partition);
    snprintf(scope.account, sizeof(scope.account), "%s", strcmp(account, "-") == 0 ? "" : account);
    lbd_rules_for(v->conf, &scope, &rule);
    *ret = json_pack("{ss ss ss ss sb s{ss sf sf sb}}", "partition", scope.partition, "account",
                     scope.account, "policy", rule.policy, "mode",
                     rule.opt_out ? "opt-out" : "opt-in", "placement", rule.place, "limits",
                     "policies", rule.allowed[0] ? rule.allowed : "all", "least_period_s",
                     (double)rule.least_period_ns / 1e9, "least_chunk_s",
                     (double)rule.least_chunk_ns / 1e9, "trace", rule.trace);
}

bool lbd_steer_command(const struct lbd_view *v, const char *text, json_t **ret,
                       struct lbx_error *err)
{
    static const struct {
        const char *name;
        void (*run)(const struct lbd_view *v, char *rest, json_t **ret, struct lbx_error *err);
    } commands[] = {{"probe", probe}, {"weights", weights}, {"effective", effective}};
    char copy[TEXT_MAX];

    if (strcmp(text, "weights nodes") == 0 || strcmp(text, "weights restore") == 0)
        return false; /* Slurm's */
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        size_t n = strlen(commands[i].name);

        if (strncmp(text, commands[i].name, n) != 0 || (text[n] && text[n] != ' '))
            continue;
        if (strlen(text) >= sizeof(copy)) {
            lbx_error_set(err, -EINVAL, "%s: too many words", commands[i].name);
            return true;
        }
        memcpy(copy, text + n, strlen(text + n) + 1);
        commands[i].run(v, copy, ret, err);
        return true;
    }
    return false;
}
