/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between a node's lbd and the controller's, over TCP.
 *   controller -> node: CHALLENGE              plain frame
 *   node -> controller: HELLO                  plain frame, a MUNGE credential over an lbw_node_proof
 *   both: the proof of common/auth.h with the session key, bound to the nonce
 *   node -> controller: REPORT, JOB ...        keyed frames from here on
 *   controller -> node: ACK ..., RANK ...
 *   either way: CLAIMS ...
 * Flat messages (wire/flat.h): first field the protocol version, then the type, then the fields in the order given here.
 */
#ifndef LBW_NODE_H
#define LBW_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/frame.h"
#include "wire/job.h"
#include "wire/local.h"

#define LBW_NODE_VERSION 3
#define LBW_NODE_NONCE_BYTES 32
#define LBW_NODE_CREDENTIAL_MAX 4096 /* bytes with the NUL */
#define LBW_NODE_BOOT_MAX 40         /* a boot id with the NUL */
#define LBW_NODE_MODEL_MAX 64
#define LBW_NODE_KERNELS 5 /* of the benchmark: integer, floating, memory, fma, triad */
#define LBW_NODE_PURPOSE "slurm-lb node session"

enum lbw_node_type {
    LBW_N_CHALLENGE = 1,
    LBW_N_HELLO,
    LBW_N_REPORT,
    LBW_N_JOB = 8,
    LBW_N_DECISIONS = 16,
    LBW_N_CLAIMS,
    LBW_N_ACK = 32,
    LBW_N_RANK,
};

/* What a host is and does; sent at start, after each benchmark and with each sample of its load. */
struct lbw_node_report {
    uint64_t seq;          /* 1, 2, ... since this lbd's start */
    int64_t age_ns;        /* since the sample was taken, by the node's monotonic clock, >= 0 */
    double cpus;           /* cores it has, > 0 */
    double hardware;       /* as in struct lbw_local_host, > 0 */
    double core_speed;     /* > 0 */
    double capacity;       /* > 0 */
    double hardware_s;     /* BEC's HI, > 0 */
    double workload_ratio; /* BEC's WI, >= 1 */
    double share_ratio;    /* CPU / elapsed time of the benchmark, 0 to 1 */
    int64_t bench_age_ns;  /* >= 0 */
    double kernel_ops_hz[LBW_NODE_KERNELS];     /* of one core, >= 0 */
    double kernel_all_hz[LBW_NODE_KERNELS];     /* of all cores at once, >= 0 */
    double kernel_dispersion[LBW_NODE_KERNELS]; /* range / median of the repetitions, >= 0 */
    double slow_ratio;    /* the slowest kernel against its own history; 1: as usual, > 0, <= 1 */
    uint32_t slow_kernel; /* which one, below LBW_NODE_KERNELS */
    uint32_t packages, cores, numa_nodes;        /* 0 unknown */
    double external_cpus, busy_cpus, steal_cpus; /* >= 0 */
    double pressure_ratio;                       /* 0 to 1 */
    double throttled_ratio;                      /* time stopped by a quota, 0 to 1 */
    uint64_t samples;   /* so many have seen what others use; the newest of them is others_cpus */
    double others_cpus; /* >= 0 */
    uint32_t running, users, terminals, tasks;
    double fresh_tasks;             /* of tasks: those whose load is not visible yet, >= 0 */
    double placed_cpus;             /* of busy_cpus: what our tasks use, >= 0 */
    char model[LBW_NODE_MODEL_MAX]; /* of the processor; anything printable */
};

/* What the balancer of a step decided, passed on as it came (lbd/decisions.h); lost when the connection is. */
struct lbw_node_decisions {
    uint32_t jobid, stepid, uid;
    char text[LBW_LOCAL_TEXT_MAX + 1];
};

/*
 * Where tasks have been sent that a load does not show yet: a node's lbd tells the controller's of its own sruns, and that passes it
 * on to the others.  claims.generation names it among those of its origin; without any host it has ended.  Lost when the
 * connection is.
 */
struct lbw_node_claims {
    char origin[LBW_LOCAL_HOST_MAX]; /* whose sruns; what a node says there does not count */
    uint32_t uid;
    struct lbw_local_claims claims;
};

struct lbw_node_msg {
    enum lbw_node_type type;
    union {
        uint8_t nonce[LBW_NODE_NONCE_BYTES];      /* CHALLENGE */
        char credential[LBW_NODE_CREDENTIAL_MAX]; /* HELLO */
        struct lbw_node_report report;            /* REPORT */
        struct lbw_job job;                       /* JOB */
        struct lbw_node_decisions decisions;      /* DECISIONS */
        struct lbw_node_claims claims;            /* CLAIMS */
        uint64_t acked_seq;                       /* ACK: all up to this one are on disk */
        struct lbw_local_hosts hosts;             /* RANK */
    } u;
};

/* As lbw_rank_encode and lbw_rank_decode. */
int lbw_node_encode(const struct lbw_node_msg *msg, struct lbx_buf *out)
    __attribute__((warn_unused_result));
int lbw_node_decode(const uint8_t *body, size_t n, struct lbw_node_msg *ret_msg)
    __attribute__((warn_unused_result));

/* What the MUNGE credential carries.  Secret: session_key. */
struct lbw_node_proof {
    uint8_t nonce[LBW_NODE_NONCE_BYTES]; /* the controller's */
    char host[LBW_LOCAL_HOST_MAX];
    char boot[LBW_NODE_BOOT_MAX];
    uint64_t instance; /* of this lbd, drawn at its start: its reports are numbered from 1 */
    uint8_t session_key[LBX_KEY_BYTES];
};

/* Likewise; the purpose is checked on decoding. */
int lbw_node_proof_encode(const struct lbw_node_proof *proof, struct lbx_buf *out)
    __attribute__((warn_unused_result));
int lbw_node_proof_decode(const uint8_t *body, size_t n, struct lbw_node_proof *ret_proof)
    __attribute__((warn_unused_result));

#endif
