/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of policy.conf. */
#include "common/confgrammar.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/confvalue.h"

/* libconfuse hands its callbacks nothing of ours. */
static struct {
    const char *path;
    int (*check)(const char *text, struct lbx_error *err);
    struct lbx_error *err;
} reading;

/* The first mistake is what is told; libconfuse may follow up with one of its own. */
__attribute__((format(printf, 2, 0))) static void on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
    char text[LBX_ERROR_TEXT_MAX];

    if (reading.err->code)
        return;
    vsnprintf(text, sizeof(text), fmt, ap);
    if (strstr(text, LBX_CONFGRAMMAR_END))
        snprintf(text, sizeof(text), "the file ends within a section: a } is missing");
    lbx_error_set(reading.err, -EINVAL, "%s:%d: %s", reading.path, cfg ? cfg->line : 0, text);
}

static const char *last_text(cfg_opt_t *opt)
{
    const char *text = cfg_opt_getnstr(opt, cfg_opt_size(opt) - 1);

    return text ? text : "";
}

static int check_policy(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *text = last_text(opt);
    struct lbx_error why = {0};

    if (strlen(text) >= LBX_CONF_POLICY_MAX) {
        cfg_error(cfg, "%s is longer than %d bytes", cfg_opt_name(opt), LBX_CONF_POLICY_MAX - 1);
        return -1;
    }
    if (reading.check(text, &why) == 0)
        return 0;
    cfg_error(cfg, "%s = \"%s\": %s", cfg_opt_name(opt), text, why.text);
    return -1;
}

static int check_duration(cfg_t *cfg, cfg_opt_t *opt)
{
    int64_t ns;

    if (lbx_confvalue_duration(last_text(opt), &ns) == 0)
        return 0;
    cfg_error(cfg, "%s = \"%s\": write a time above 0 as 500ms, 10s, 5m, 6h, 30d or 2y",
              cfg_opt_name(opt), last_text(opt));
    return -1;
}

static int check_size(cfg_t *cfg, cfg_opt_t *opt)
{
    int64_t bytes;

    if (lbx_confvalue_size(last_text(opt), &bytes) == 0)
        return 0;
    cfg_error(cfg, "%s = \"%s\": write a size above 0 as 65536, 64K, 400M or 1G", cfg_opt_name(opt),
              last_text(opt));
    return -1;
}

/* backup, snapshot: where to, or off. */
static int check_path(cfg_t *cfg, cfg_opt_t *opt)
{
    const char *text = last_text(opt);

    if (strcmp(text, "off") == 0 || (text[0] == '/' && strlen(text) < LBX_CONF_PATH_MAX))
        return 0;
    cfg_error(cfg, "%s = \"%s\": write a full path of less than %d bytes, or off",
              cfg_opt_name(opt), text, LBX_CONF_PATH_MAX);
    return -1;
}

static int check_within(cfg_t *cfg, cfg_opt_t *opt)
{
    bool hour = strcmp(cfg_opt_name(opt), "backup_hour") == 0;
    long v = cfg_opt_getnint(opt, cfg_opt_size(opt) - 1);
    int least = hour ? 0 : 1, most = hour ? 23 : 366;

    if (v >= least && v <= most)
        return 0;
    cfg_error(cfg, "%s = %ld: write a number from %d to %d", cfg_opt_name(opt), v, least, most);
    return -1;
}

static int check_weight(cfg_t *cfg, cfg_opt_t *opt)
{
    double v = cfg_opt_getnfloat(opt, cfg_opt_size(opt) - 1);
    bool positive = strcmp(cfg_opt_name(opt), "scale") == 0;

    if (isfinite(v) && (positive ? v > 0 : v >= 0) && v <= 1e6)
        return 0;
    cfg_error(cfg, "%s = %g: write a number %s 0, up to 1000000", cfg_opt_name(opt), v,
              positive ? "above" : "of at least");
    return -1;
}

static int check_jitter(cfg_t *cfg, cfg_opt_t *opt)
{
    double v = cfg_opt_getnfloat(opt, cfg_opt_size(opt) - 1);

    if (v >= 0 && v <= 1)
        return 0;
    cfg_error(cfg, "%s = %g: write a ratio from 0 to 1", cfg_opt_name(opt), v);
    return -1;
}

static int check_mode(cfg_t *cfg, cfg_opt_t *opt)
{
    if (lbx_confvalue_mode(last_text(opt)) != LBX_MODE_UNSET)
        return 0;
    cfg_error(cfg, "%s = \"%s\": write opt-in or opt-out", cfg_opt_name(opt), last_text(opt));
    return -1;
}

static int check_placement(cfg_t *cfg, cfg_opt_t *opt)
{
    if (lbx_confvalue_placement(last_text(opt)) != LBX_PLACE_UNSET)
        return 0;
    cfg_error(cfg, "%s = \"%s\": write off, on or weights", cfg_opt_name(opt), last_text(opt));
    return -1;
}

static int check_list(cfg_t *cfg, cfg_opt_t *opt)
{
    size_t n = strlen(last_text(opt));

    if (cfg_opt_size(opt) <= LBX_CONF_LIST_MAX && n > 0 && n < LBX_CONF_NAME_MAX)
        return 0;
    cfg_error(cfg, "%s: up to %d entries of 1 to %d bytes", cfg_opt_name(opt), LBX_CONF_LIST_MAX,
              LBX_CONF_NAME_MAX - 1);
    return -1;
}

static int check_policy_name(cfg_t *cfg, cfg_opt_t *opt)
{
    return check_list(cfg, opt) < 0 ? -1 : check_policy(cfg, opt);
}

static int check_user(cfg_t *cfg, cfg_opt_t *opt)
{
    uid_t uid;

    if (check_list(cfg, opt) < 0)
        return -1;
    if (lbx_confvalue_user(last_text(opt), &uid) == 0)
        return 0;
    cfg_error(cfg, "%s: there is no user '%s'", cfg_opt_name(opt), last_text(opt));
    return -1;
}

static int check_title(cfg_t *cfg, cfg_opt_t *opt)
{
    size_t n = strlen(cfg_title(cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1)));

    if (n > 0 && n < LBX_CONF_NAME_MAX && cfg_opt_size(opt) <= LBX_CONF_RULES_MAX)
        return 0;
    cfg_error(cfg, "%s: up to %d sections, with names of 1 to %d bytes", cfg_opt_name(opt),
              LBX_CONF_RULES_MAX, LBX_CONF_NAME_MAX - 1);
    return -1;
}

static void set_checks(cfg_t *cfg)
{
    static const struct {
        const char *key;
        cfg_validate_callback_t check;
    } checks[] = {
        {"policy", check_policy},
        {"mode", check_mode},
        {"placement", check_placement},
        {"lbctl_users", check_user},
        {"partition", check_title},
        {"partition|policy", check_policy},
        {"partition|mode", check_mode},
        {"partition|placement", check_placement},
        {"account", check_title},
        {"account|policy", check_policy},
        {"account|mode", check_mode},
        {"account|placement", check_placement},
        {"limits|policies", check_policy_name},
        {"limits|least_period", check_duration},
        {"limits|least_chunk", check_duration},
        {"probe|load_interval", check_duration},
        {"probe|benchmark_interval", check_duration},
        {"probe|jitter", check_jitter},
        {"index|scale", check_weight},
        {"index|user", check_weight},
        {"index|terminal", check_weight},
        {"index|task", check_weight},
        {"retention|raw", check_duration},
        {"retention|five_minutes", check_duration},
        {"retention|hours", check_duration},
        {"retention|benchmarks", check_duration},
        {"retention|jobs", check_duration},
        {"retention|events", check_duration},
        {"retention|size", check_size},
        {"database|backup", check_path},
        {"database|backup_hour", check_within},
        {"database|backups", check_within},
        {"database|snapshot", check_path},
        {"database|snapshot_interval", check_duration},
    };

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        cfg_set_validate_func(cfg, checks[i].key, checks[i].check);
}

cfg_t *lbx_confgrammar_create(const char *path, int (*check)(const char *, struct lbx_error *),
                              struct lbx_error *err)
{
    static cfg_opt_t rule[] = {CFG_STR("policy", NULL, CFGF_NODEFAULT),
                               CFG_STR("mode", NULL, CFGF_NODEFAULT),
                               CFG_STR("placement", NULL, CFGF_NODEFAULT), CFG_END()};
    static cfg_opt_t limits[] = {CFG_STR_LIST("policies", NULL, CFGF_NODEFAULT),
                                 CFG_STR("least_period", NULL, CFGF_NODEFAULT),
                                 CFG_STR("least_chunk", NULL, CFGF_NODEFAULT),
                                 CFG_BOOL("trace", cfg_true, CFGF_NONE), CFG_END()};
    static cfg_opt_t probe[] = {CFG_STR("load_interval", NULL, CFGF_NODEFAULT),
                                CFG_STR("benchmark_interval", NULL, CFGF_NODEFAULT),
                                CFG_FLOAT("jitter", 0, CFGF_NODEFAULT), CFG_END()};
    static cfg_opt_t index[] = {
        CFG_FLOAT("scale", 0, CFGF_NODEFAULT), CFG_FLOAT("user", 0, CFGF_NODEFAULT),
        CFG_FLOAT("terminal", 0, CFGF_NODEFAULT), CFG_FLOAT("task", 0, CFGF_NODEFAULT), CFG_END()};
    static cfg_opt_t retention[] = {
        CFG_STR("raw", NULL, CFGF_NODEFAULT),   CFG_STR("five_minutes", NULL, CFGF_NODEFAULT),
        CFG_STR("hours", NULL, CFGF_NODEFAULT), CFG_STR("benchmarks", NULL, CFGF_NODEFAULT),
        CFG_STR("jobs", NULL, CFGF_NODEFAULT),  CFG_STR("events", NULL, CFGF_NODEFAULT),
        CFG_STR("size", NULL, CFGF_NODEFAULT),  CFG_END()};
    static cfg_opt_t database[] = {CFG_STR("backup", NULL, CFGF_NODEFAULT),
                                   CFG_INT("backup_hour", 0, CFGF_NODEFAULT),
                                   CFG_INT("backups", 0, CFGF_NODEFAULT),
                                   CFG_STR("snapshot", NULL, CFGF_NODEFAULT),
                                   CFG_STR("snapshot_interval", NULL, CFGF_NODEFAULT),
                                   CFG_END()};
    static cfg_opt_t controller[] = {CFG_BOOL("verify_address", cfg_true, CFGF_NONE), CFG_END()};
    static cfg_opt_t all[] = {
        CFG_STR("policy", NULL, CFGF_NODEFAULT),
        CFG_STR("mode", NULL, CFGF_NODEFAULT),
        CFG_STR("placement", NULL, CFGF_NODEFAULT),
        CFG_STR_LIST("lbctl_users", NULL, CFGF_NODEFAULT),
        CFG_SEC("partition", rule, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
        CFG_SEC("account", rule, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
        CFG_SEC("limits", limits, CFGF_NONE),
        CFG_SEC("probe", probe, CFGF_NONE),
        CFG_SEC("index", index, CFGF_NONE),
        CFG_SEC("retention", retention, CFGF_NONE),
        CFG_SEC("database", database, CFGF_NONE),
        CFG_SEC("controller", controller, CFGF_NONE),
        CFG_BOOL(LBX_CONFGRAMMAR_END, cfg_false, CFGF_NONE),
        CFG_END()};
    cfg_t *cfg = cfg_init(all, CFGF_NONE);

    reading.path = path;
    reading.check = check;
    reading.err = err;
    if (cfg) {
        cfg_set_error_function(cfg, on_error);
        set_checks(cfg);
    }
    return cfg;
}
