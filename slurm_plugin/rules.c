/* SPDX-License-Identifier: BSD-3-Clause */
/* What a step runs with, of what was asked for and what the site has decided. */
#include "slurm_plugin/rules.h"

#include <errno.h>
#include <string.h>

/* Whether the text names the policy that it asks for: a text of keys alone gives the same on top of any policy. */
static bool names_policy(const char *text, enum lbp_policy policy)
{
    size_t n;
    const char *name = lbp_policy_table(&n)[policy].name;

    n = strlen(name);
    return strncmp(text, name, n) == 0 && (text[n] == '\0' || text[n] == ',');
}

static bool is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);

    while (*list) {
        size_t m = strcspn(list, ",");

        if (m == n && memcmp(list, name, n) == 0)
            return true;
        list += m + (list[m] == ',');
    }
    return false;
}

static int check_duration(const char *key, int64_t asked_ns, int64_t least_ns,
                          struct lbx_error *err)
{
    if (asked_ns < 0 || asked_ns >= least_ns)
        return 0;
    return lbx_error_set(err, -EINVAL, "%s=%gs is below the site's limit: at least %gs", key,
                         (double)asked_ns / 1e9, (double)least_ns / 1e9);
}

/* asked: what the person gave, everything else automatic. */
static int check_limits(const struct lbw_local_rule *rule, const struct lbs_choice *choice,
                        const struct lbp_params *asked, struct lbx_error *err)
{
    size_t n;
    const char *name = lbp_policy_table(&n)[asked->policy].name;
    int rc;

    if (rule->allowed[0] != '\0' && names_policy(choice->text, asked->policy) &&
        !is_listed(rule->allowed, name))
        return lbx_error_set(err, -EINVAL, "policy \"%s\" is not allowed here: there are %.300s",
                             name, rule->allowed);
    rc = check_duration("period", asked->period_ns, rule->least_period_ns, err);
    if (rc == 0)
        rc = check_duration("chunk", asked->chunk_ns, rule->least_chunk_ns, err);
    if (rc == 0 && asked->trace[0] != '\0' && !rule->trace)
        rc = lbx_error_set(err, -EINVAL, "trace= is not allowed here");
    return rc;
}

int lbs_rules_apply(const struct lbw_local_rule *rule, struct lbs_choice *choice,
                    struct lbx_error *err)
{
    struct lbp_params params, asked;
    struct lbx_error ignored;
    int rc = 0;

    if (choice->wish == LBS_OFF || (choice->wish == LBS_UNSET && !rule->opt_out))
        return 0;
    lbp_params_init(&params);
    if (lbp_params_parse(&params, rule->policy, &ignored) < 0)
        lbp_params_init(&params); /* of an lbd that knows more policies than we do */
    if (choice->wish == LBS_ON) {
        rc = lbp_params_parse(&asked, choice->text, err);
        if (rc == 0)
            rc = check_limits(rule, choice, &asked, err);
        if (rc == 0)
            rc = lbp_params_overlay(&params, choice->text, err);
    }
    if (rc < 0)
        return rc;
    choice->wish = LBS_ON;
    choice->params = params;
    return 0;
}
