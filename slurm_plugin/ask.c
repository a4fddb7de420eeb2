/* SPDX-License-Identifier: BSD-3-Clause */
/* What the plugin asks its host's lbd, and tells it. */
#include "slurm_plugin/ask.h"

#include <errno.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <string.h>

/* Too large for a stack that is not ours; hooks run in one thread. */
static struct lbw_local_msg request, answer;

static enum lbw_placement reason_of(const char *text)
{
    if (strcmp(text, LBW_LOCAL_NO_RANKING) == 0)
        return LBW_PLACE_NO_RANKING;
    if (strcmp(text, LBW_LOCAL_NO_IDLE) == 0)
        return LBW_PLACE_NO_IDLE_HOSTS;
    return strcmp(text, LBW_LOCAL_STALE_RANKING) == 0 ? LBW_PLACE_STALE_RANKING : LBW_PLACE_NO_LBD;
}

static int fail(struct lbs_lbd *lbd, int rc)
{
    slurm_verbose("lb: lbd does not answer at %s: %s", lbd->socket, strerror(-rc));
    lbd->silent = true;
    lbd->why = rc == -ETIMEDOUT ? LBW_PLACE_DEADLINE : LBW_PLACE_NO_LBD;
    return -ENODATA;
}

/* rc: of the call that got the answer. */
static int judge(struct lbs_lbd *lbd, int rc, enum lbw_local_type expected)
{
    if (rc < 0)
        return fail(lbd, rc);
    if (answer.type == expected)
        return 0;
    lbd->why = answer.type == LBW_L_ERROR ? reason_of(answer.u.text.text) : LBW_PLACE_NO_LBD;
    return -ENODATA;
}

static int ask(struct lbs_lbd *lbd, enum lbw_local_type expected, int64_t deadline_ns)
{
    if (lbd->silent)
        return -ENODATA;
    return judge(lbd, lbw_local_ask(lbd->socket, &request, deadline_ns, &answer), expected);
}

int lbs_ask_rule(struct lbs_lbd *lbd, const char *partition, const char *account,
                 int64_t deadline_ns, struct lbw_local_rule *ret_rule)
{
    struct lbw_local_scope *scope = &request.u.scope;

    memset(scope, 0, sizeof(*scope));
    request.type = LBW_L_SCOPE;
    if (partition && strlen(partition) < sizeof(scope->partition))
        strcpy(scope->partition, partition);
    if (account && strlen(account) < sizeof(scope->account))
        strcpy(scope->account, account);
    if (ask(lbd, LBW_L_RULE, deadline_ns) < 0)
        return -ENODATA;
    *ret_rule = answer.u.rule;
    return 0;
}

int lbs_ask_self(struct lbs_lbd *lbd, int64_t deadline_ns, struct lbw_local_host *ret_host)
{
    request.type = LBW_L_SELF;
    if (ask(lbd, LBW_L_HOSTS, deadline_ns) < 0 || answer.u.hosts.n != 1)
        return -ENODATA;
    *ret_host = answer.u.hosts.host[0];
    return 0;
}

const struct lbw_local_hosts *lbs_ask_hosts(struct lbs_lbd *lbd, const char *names,
                                            int64_t deadline_ns)
{
    size_t n = strlen(names);

    if (n >= sizeof(request.u.text.text)) {
        lbd->why = LBW_PLACE_TOO_LARGE;
        return NULL;
    }
    request.type = LBW_L_PLACE;
    memcpy(request.u.text.text, names, n + 1);
    return ask(lbd, LBW_L_HOSTS, deadline_ns) < 0 ? NULL : &answer.u.hosts;
}

int lbs_ask_idle_begin(struct lbs_lbd *lbd, const char *partition, int64_t wait_ns,
                       int64_t deadline_ns)
{
    struct lbw_local_idle_question *question = &request.u.idle_question;
    int fd;

    if (lbd->silent || (partition && strlen(partition) >= sizeof(question->partition)))
        return -1;
    request.type = LBW_L_IDLE;
    memset(question, 0, sizeof(*question));
    if (partition)
        strcpy(question->partition, partition);
    question->wait_ns = wait_ns;
    fd = lbw_local_begin(lbd->socket, &request, deadline_ns);
    if (fd >= 0)
        return fd;
    (void)fail(lbd, fd);
    return -1;
}

const struct lbw_local_idle *lbs_ask_idle_end(struct lbs_lbd *lbd, int fd, int64_t deadline_ns)
{
    int rc = lbw_local_end(fd, deadline_ns, &answer);

    return judge(lbd, rc, LBW_L_IDLE_HOSTS) < 0 ? NULL : &answer.u.idle;
}

int lbs_ask_claim(struct lbs_lbd *lbd, int64_t deadline_ns, struct lbw_local_claims *claims)
{
    request.type = LBW_L_CLAIM;
    request.u.claims = *claims;
    if (ask(lbd, LBW_L_CLAIMS, deadline_ns) == 0) {
        *claims = answer.u.claims;
        return 1;
    }
    return !lbd->silent && answer.type == LBW_L_OK ? 0 : -ENODATA;
}

static void tell(const struct lbs_lbd *lbd)
{
    int rc = lbw_local_tell(lbd->socket, &request);

    if (rc < 0)
        slurm_verbose("lb: lbd was not told at %s: %s", lbd->socket, strerror(-rc));
}

void lbs_tell_claim(const struct lbs_lbd *lbd, const struct lbw_local_claims *claims)
{
    request.type = LBW_L_CLAIM;
    request.u.claims = *claims;
    tell(lbd);
}

void lbs_tell_notice(const struct lbs_lbd *lbd, const struct lbw_local_notice *notice)
{
    request.type = LBW_L_NOTICE;
    request.u.notice = *notice;
    tell(lbd);
}
