/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.conf as values. */
#include "common/policyconf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/confgrammar.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)

void lbx_policyconf_init(struct lbx_policyconf *c)
{
    memset(c, 0, sizeof(*c));
    snprintf(c->policy, sizeof(c->policy), "auto");
    c->mode = LBX_MODE_OPT_IN;
    c->placement = LBX_PLACE_ON;
    c->trace = true;
    c->load_interval_ns = 10 * LBX_NS_PER_S;
    c->benchmark_interval_ns = 6 * 3600 * LBX_NS_PER_S;
    c->jitter_ratio = .1;
    c->index_scale = 1;
    c->index_user = .01;
    c->index_terminal = .005;
    c->index_task = 1;
    c->keep_raw_ns = 86400 * LBX_NS_PER_S;
    c->keep_5m_ns = 30 * INT64_C(86400) * LBX_NS_PER_S;
    c->keep_1h_ns = c->keep_benchmarks_ns = 365 * INT64_C(86400) * LBX_NS_PER_S;
    c->keep_jobs_ns = c->keep_events_ns = 730 * INT64_C(86400) * LBX_NS_PER_S;
    c->database_bytes_max = INT64_C(2) << 30; /* of 1,000 hosts, with a quarter to spare */
    c->backup_hour = 3;
    c->backups = 2;
    c->snapshot_interval_ns = 3600 * LBX_NS_PER_S;
    c->verify_address = true;
}

void lbx_policyconf_fini(struct lbx_policyconf *c)
{
    if (!c)
        return;
    free(c->partition);
    free(c->account);
    c->partition = c->account = NULL;
    c->npartitions = c->naccounts = 0;
}

/* The setters leave the default where the file says nothing; everything was checked while parsing. */
static void set_text(cfg_t *cfg, const char *key, char *ret, size_t size)
{
    if (cfg_size(cfg, key) > 0 && cfg_getstr(cfg, key))
        snprintf(ret, size, "%s", cfg_getstr(cfg, key));
}

static void set_duration(cfg_t *cfg, const char *key, int64_t *ret_ns)
{
    int64_t ns;

    if (cfg_size(cfg, key) > 0 && lbx_confvalue_duration(cfg_getstr(cfg, key), &ns) == 0)
        *ret_ns = ns;
}

static void set_float(cfg_t *cfg, const char *key, double *ret)
{
    if (cfg_size(cfg, key) > 0)
        *ret = cfg_getfloat(cfg, key);
}

static void set_int(cfg_t *cfg, const char *key, int *ret)
{
    if (cfg_size(cfg, key) > 0)
        *ret = (int)cfg_getint(cfg, key);
}

static void set_database(cfg_t *cfg, struct lbx_policyconf *c)
{
    set_text(cfg, "backup", c->backup, sizeof(c->backup));
    set_int(cfg, "backup_hour", &c->backup_hour);
    set_int(cfg, "backups", &c->backups);
    set_text(cfg, "snapshot", c->snapshot, sizeof(c->snapshot));
    set_duration(cfg, "snapshot_interval", &c->snapshot_interval_ns);
}

static void set_scope(cfg_t *cfg, char *policy, enum lbx_conf_mode *mode,
                      enum lbx_conf_placement *placement)
{
    set_text(cfg, "policy", policy, LBX_CONF_POLICY_MAX);
    if (cfg_size(cfg, "mode") > 0)
        *mode = lbx_confvalue_mode(cfg_getstr(cfg, "mode"));
    if (cfg_size(cfg, "placement") > 0)
        *placement = lbx_confvalue_placement(cfg_getstr(cfg, "placement"));
}

static int set_rules(cfg_t *cfg, const char *key, struct lbx_conf_rule **ret, size_t *ret_n)
{
    size_t n = cfg_size(cfg, key);
    struct lbx_conf_rule *rule = calloc(n ? n : 1, sizeof(*rule));

    if (!rule)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        cfg_t *sec = cfg_getnsec(cfg, key, (unsigned)i);

        rule[i].mode = LBX_MODE_UNSET;
        rule[i].placement = LBX_PLACE_UNSET;
        snprintf(rule[i].name, sizeof(rule[i].name), "%s", cfg_title(sec));
        set_scope(sec, rule[i].policy, &rule[i].mode, &rule[i].placement);
    }
    *ret = rule;
    *ret_n = n;
    return 0;
}

static void set_lists(cfg_t *cfg, struct lbx_policyconf *c)
{
    cfg_t *limits = cfg_getsec(cfg, "limits");

    for (unsigned i = 0; i < cfg_size(limits, "policies"); i++)
        snprintf(c->allowed[c->npolicies++], LBX_CONF_NAME_MAX, "%s",
                 cfg_getnstr(limits, "policies", i));
    for (unsigned i = 0; i < cfg_size(cfg, "lbctl_users"); i++)
        if (lbx_confvalue_user(cfg_getnstr(cfg, "lbctl_users", i), &c->user[c->nusers]) == 0)
            c->nusers++;
}

static int take_values(cfg_t *cfg, struct lbx_policyconf *c)
{
    cfg_t *limits = cfg_getsec(cfg, "limits"), *probe = cfg_getsec(cfg, "probe");
    cfg_t *index = cfg_getsec(cfg, "index"), *keep = cfg_getsec(cfg, "retention");
    int rc;

    set_scope(cfg, c->policy, &c->mode, &c->placement);
    set_lists(cfg, c);
    set_duration(limits, "least_period", &c->least_period_ns);
    set_duration(limits, "least_chunk", &c->least_chunk_ns);
    c->trace = cfg_getbool(limits, "trace");
    set_duration(probe, "load_interval", &c->load_interval_ns);
    set_duration(probe, "benchmark_interval", &c->benchmark_interval_ns);
    set_float(probe, "jitter", &c->jitter_ratio);
    set_float(index, "scale", &c->index_scale);
    set_float(index, "user", &c->index_user);
    set_float(index, "terminal", &c->index_terminal);
    set_float(index, "task", &c->index_task);
    set_duration(keep, "raw", &c->keep_raw_ns);
    set_duration(keep, "five_minutes", &c->keep_5m_ns);
    set_duration(keep, "hours", &c->keep_1h_ns);
    set_duration(keep, "benchmarks", &c->keep_benchmarks_ns);
    set_duration(keep, "jobs", &c->keep_jobs_ns);
    set_duration(keep, "events", &c->keep_events_ns);
    set_database(cfg_getsec(cfg, "database"), c);
    if (cfg_size(keep, "size") > 0 &&
        lbx_confvalue_size(cfg_getstr(keep, "size"), &c->database_bytes_max) < 0)
        return -EINVAL;
    c->verify_address = cfg_getbool(cfg_getsec(cfg, "controller"), "verify_address");
    rc = set_rules(cfg, "partition", &c->partition, &c->npartitions);
    return rc < 0 ? rc : set_rules(cfg, "account", &c->account, &c->naccounts);
}

static int load(const char *path, char **ret_text, struct lbx_error *err)
{
    static const char end[] = "\n" LBX_CONFGRAMMAR_END " = true\n";
    FILE *f = fopen(path, "re");
    char *text = malloc(FILE_BYTES_MAX + 1 + sizeof(end));
    size_t n = 0;
    int rc = 0;

    if (!f)
        rc = lbx_error_set(err, -errno, "%s: %s", path, strerror(errno));
    else if (!text)
        rc = lbx_error_set(err, -ENOMEM, "%s: out of memory", path);
    if (rc == 0) {
        n = fread(text, 1, FILE_BYTES_MAX + 1, f);
        if (ferror(f))
            rc = lbx_error_set(err, -EIO, "%s: %s", path, strerror(errno));
        else if (n > FILE_BYTES_MAX || memchr(text, 0, n))
            rc = lbx_error_set(err, -EINVAL, "%s: not a text of at most 1 MiB", path);
    }
    if (f)
        fclose(f);
    if (rc < 0) {
        free(text);
        return rc;
    }
    memcpy(text + n, end, sizeof(end));
    *ret_text = text;
    return 0;
}

/* Blank comments out: libconfuse counts the end of their line three times, and each later mistake is told too far down. */
static void blank_comments(char *text)
{
    char quote = 0;

    for (; *text; text++) {
        if (quote && *text == '\\' && text[1])
            text++;
        else if (quote)
            quote = *text == quote ? 0 : quote;
        else if (*text == '"' || *text == '\'')
            quote = *text;
        else if (*text == '#')
            for (; *text && *text != '\n'; text++)
                *text = ' ';
        if (!*text)
            return;
    }
}

int lbx_policyconf_read(const char *path, int (*check)(const char *text, struct lbx_error *err),
                        struct lbx_policyconf *ret, struct lbx_error *err)
{
    struct lbx_error mistake = {0};
    struct lbx_policyconf c;
    char *text;
    cfg_t *cfg;
    int rc = load(path, &text, err);

    if (rc < 0)
        return rc;
    cfg = lbx_confgrammar_create(path, check, &mistake);
    if (!cfg) {
        free(text);
        return lbx_error_set(err, -ENOMEM, "%s: out of memory", path);
    }
    lbx_policyconf_init(&c);
    blank_comments(text);
    rc = cfg_parse_buf(cfg, text);
    free(text);
    if (rc == CFG_SUCCESS)
        rc = take_values(cfg, &c);
    else if (!mistake.code)
        lbx_error_set(&mistake, -EINVAL, "%s: not understood", path);
    cfg_free(cfg);
    if (mistake.code || rc != 0) {
        lbx_policyconf_fini(&c);
        if (!mistake.code)
            lbx_error_set(&mistake, rc, "%s: %s", path, strerror(-rc));
        return lbx_error_set(err, mistake.code, "%s", mistake.text);
    }
    *ret = c;
    return 0;
}
