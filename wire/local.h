/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages on lbd's unix socket: from the Slurm plugin, lb-balancer and lbctl on the same host.
 * msgpack arrays in plain frames (common/frame.h without keys): the kernel's peer credentials say
 * who asks.  First element: protocol version; second: type; then the fields in the order given
 * here.  One request, one answer, in order.
 */
#ifndef LBW_LOCAL_H
#define LBW_LOCAL_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "wire/claims.h"
#include "wire/hosts.h"
#include "wire/idle.h"

#define LBW_LOCAL_VERSION 1
#define LBW_LOCAL_NAME_MAX 64     /* of a partition or an account, with the NUL */
#define LBW_LOCAL_POLICY_MAX 256  /* text of a policy, with the NUL */
#define LBW_LOCAL_ALLOWED_MAX 512 /* a list of policies, with the NUL */
#define LBW_LOCAL_TEXT_MAX 60000  /* bytes of a command's argument or answer */

/* Where lbd listens when nothing else is configured; the environment's LBD_SOCKET overrides it for
 * lbctl and tests only. */
#define LBW_LOCAL_SOCKET "/run/slurm-lb/lbd.sock"

enum lbw_local_type {
    LBW_L_SELF = 1, /* what is this host worth?          -> LBW_L_HOSTS with one host */
    LBW_L_RANK,     /* rank the hosts, best first        -> LBW_L_HOSTS, perhaps several */
    LBW_L_NOTICE,   /* tasks of a step begin or end here -> LBW_L_OK */
    LBW_L_COMMAND,  /* lbctl                             -> LBW_L_TEXT or LBW_L_ERROR */
    LBW_L_JOB,      /* lb-balancer's figures (JSON text) -> LBW_L_OK */
    LBW_L_SCOPE,    /* what has the site decided for one? -> LBW_L_RULE */
    LBW_L_PLACE,    /* rank these hosts, best first       -> LBW_L_HOSTS or LBW_L_ERROR */
    LBW_L_CLAIM,    /* these tasks are going there  -> LBW_L_OK, LBW_L_CLAIMS or LBW_L_ERROR */
    LBW_L_IDLE,     /* which hosts can a new job have?    -> LBW_L_IDLE_HOSTS or LBW_L_ERROR */
    LBW_L_DECISIONS = 16, /* what lb-balancer decided (JSON)  -> LBW_L_OK */
    LBW_L_EXPLAIN,        /* "JOBID[.STEP] [FROM]", its user  -> LBW_L_TEXT or LBW_L_ERROR */
    LBW_L_HOSTS = 32,
    LBW_L_OK,
    LBW_L_TEXT,  /* JSON */
    LBW_L_ERROR, /* a text for people */
    LBW_L_RULE,
    LBW_L_CLAIMS, /* not taken: this is what others have claimed meanwhile */
    LBW_L_IDLE_HOSTS,
};

/* Errors that the plugin tells apart; the others are for people alone. */
#define LBW_LOCAL_NO_RANKING "no ranking has come yet"
#define LBW_LOCAL_STALE_RANKING "the ranking is older than 300 s"
#define LBW_LOCAL_NO_IDLE "Slurm's idle hosts are not known"

struct lbw_local_notice {
    uint32_t begin; /* 1 begins, 0 ended */
    uint32_t jobid, stepid;
    uint32_t ntasks; /* on this host */
};

struct lbw_local_text {
    char text[LBW_LOCAL_TEXT_MAX + 1]; /* NUL-terminated; no NUL within */
};

struct lbw_local_scope { /* "" where it is not known */
    char partition[LBW_LOCAL_NAME_MAX];
    char account[LBW_LOCAL_NAME_MAX];
};

/* policy.conf, as it is for one scope. */
struct lbw_local_rule {
    uint32_t opt_out;                        /* 1: also what does not ask is balanced */
    uint32_t place;                          /* 1: shares, tasks and hosts follow the ranking */
    uint32_t trace;                          /* 1: trace=FILE is allowed */
    int64_t least_period_ns, least_chunk_ns; /* 0: no limit */
    char policy[LBW_LOCAL_POLICY_MAX];       /* of steps that name none */
    char allowed[LBW_LOCAL_ALLOWED_MAX];     /* policies behind commas; "": all */
};

struct lbw_local_idle_question {
    char partition[LBW_LOCAL_NAME_MAX]; /* "": the default one */
    int64_t wait_ns; /* >= 0: Slurm is waited for so long, then what was known before has to do */
};

struct lbw_local_msg {
    enum lbw_local_type type;
    union {
        struct lbw_local_hosts hosts;
        struct lbw_local_notice notice;
        struct lbw_local_text
            text; /* COMMAND, JOB, DECISIONS, EXPLAIN, PLACE (hosts behind commas), TEXT, ERROR */
        struct lbw_local_scope scope;
        struct lbw_local_rule rule;
        struct lbw_local_claims claims;
        struct lbw_local_idle_question idle_question; /* IDLE */
        struct lbw_local_idle idle;                   /* IDLE_HOSTS */
    } u;
};

/* As lbw_rank_encode and lbw_rank_decode. */
int lbw_local_encode(const struct lbw_local_msg *msg, struct lbx_buf *out)
    __attribute__((warn_unused_result));
int lbw_local_decode(const uint8_t *body, size_t n, struct lbw_local_msg *ret_msg)
    __attribute__((warn_unused_result));

/*
 * Ask lbd at path, and wait for the (first) answer until deadline_ns of lbx_clock_mono_ns at most:
 * connecting, sending and reading together.  Leaves no descriptor, thread or signal state behind;
 * never raises SIGPIPE. Returns 0, -ETIMEDOUT, -ECONNREFUSED or -ENOENT (nobody there), -EPROTO
 * (garbage), or another negative errno.
 */
int lbw_local_ask(const char *path, const struct lbw_local_msg *request, int64_t deadline_ns,
                  struct lbw_local_msg *ret_answer) __attribute__((warn_unused_result));

/*
 * The same in two halves, for who has something else to do meanwhile.  begin returns a descriptor once the question is sent; end
 * closes it; who does not want the answer any more closes it itself.
 */
int lbw_local_begin(const char *path, const struct lbw_local_msg *request, int64_t deadline_ns)
    __attribute__((warn_unused_result));
int lbw_local_end(int fd, int64_t deadline_ns, struct lbw_local_msg *ret_answer)
    __attribute__((warn_unused_result));

/*
 * Likewise, but wait neither for lbd nor for an answer: what the socket does not take at once is not told.  An lbd that is
 * stopped costs nothing, and hears of it when it goes on.
 */
int lbw_local_tell(const char *path, const struct lbw_local_msg *request)
    __attribute__((warn_unused_result));

#endif
