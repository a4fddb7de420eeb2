/* SPDX-License-Identifier: BSD-3-Clause */
/* What policy.conf says for one step. */
#include "lbd/rules.h"

#include <stdio.h>
#include <string.h>

struct scope {
    const char *policy;
    enum lbx_conf_mode mode;
    enum lbx_conf_placement placement;
};

static void narrow(struct scope *s, const struct lbx_conf_rule *rule, size_t n, const char *name)
{
    for (size_t i = 0; i < n && name[0] != '\0'; i++) {
        if (strcmp(rule[i].name, name) != 0)
            continue;
        if (rule[i].policy[0] != '\0')
            s->policy = rule[i].policy;
        if (rule[i].mode != LBX_MODE_UNSET)
            s->mode = rule[i].mode;
        if (rule[i].placement != LBX_PLACE_UNSET)
            s->placement = rule[i].placement;
    }
}

/* Names that do not fit are left out: a list of more than 512 bytes has none that exists. */
static void join(const struct lbx_policyconf *c, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < c->npolicies && used < size; i++) {
        size_t n = strlen(c->allowed[i]);

        if (used + n + 2 > size)
            break;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", c->allowed[i]);
    }
}

void lbd_rules_for(const struct lbx_policyconf *c, const struct lbw_local_scope *scope,
                   struct lbw_local_rule *ret_rule)
{
    struct scope s = {c->policy, c->mode, c->placement};

    narrow(&s, c->partition, c->npartitions, scope->partition);
    narrow(&s, c->account, c->naccounts, scope->account);
    memset(ret_rule, 0, sizeof(*ret_rule));
    ret_rule->opt_out = s.mode == LBX_MODE_OPT_OUT;
    ret_rule->place = s.placement != LBX_PLACE_OFF;
    ret_rule->trace = c->trace;
    ret_rule->least_period_ns = c->least_period_ns;
    ret_rule->least_chunk_ns = c->least_chunk_ns;
    snprintf(ret_rule->policy, sizeof(ret_rule->policy), "%s", s.policy);
    join(c, ret_rule->allowed, sizeof(ret_rule->allowed));
}
