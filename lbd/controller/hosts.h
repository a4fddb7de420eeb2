/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts as the controller knows them: what their lbds report of them and of their job steps, and what is recorded of that.
 * All calls on the loop's thread.
 */
#ifndef LBD_CONTROLLER_HOSTS_H
#define LBD_CONTROLLER_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lbd/controller/finished.h"
#include "lbd/controller/outlook.h"
#include "lbd/controller/running.h"
#include "lbd/controller/slurmnodes.h"
#include "lbd/controller/store.h"
#include "wire/node.h"

/* A host as the controller knows it. */
struct lbd_host {
    char name[LBW_LOCAL_HOST_MAX];
    char boot[LBW_NODE_BOOT_MAX];
    uint64_t instance;    /* of its lbd; 0: not heard since our start */
    uint64_t last_seq;    /* of its newest report */
    uint64_t last_ticket; /* the store's for it */
    bool reported;        /* report is valid */
    bool connected;
    enum lbd_slurm_state slurm; /* drained, down and absent ones are not ranked */
    struct lbw_node_report report;
    int64_t at_ns; /* when the report was taken, our monotonic clock */
    int64_t at_s;  /* the same since 1970, no two reports alike */
    double index;
    struct lbd_outlook *outlook;  /* owned; NULL before the first report */
    struct lbd_prospect prospect; /* what it was ranked by */
};

struct lbd_hosts {
    struct lbd_host *host; /* [n]; moves when one joins */
    size_t n, size;
    int64_t load_interval_ns;           /* between samples of a node */
    struct lbd_store *store;            /* borrowed; NULL: nothing is taken or recorded any more */
    const struct lbd_slurmnodes *slurm; /* borrowed, may be NULL */
    struct lbd_running running;
    struct lbd_finished finished;
    uint64_t reports;
    void (*on_change)(void *data); /* the ranking is no longer right */
    void *data;
};

void lbd_hosts_init(struct lbd_hosts *hosts, int64_t load_interval_ns,
                    void (*on_change)(void *data), void *data);
void lbd_hosts_fini(struct lbd_hosts *hosts); /* not the store */

/* A host of the database, at start. */
void lbd_hosts_stored(struct lbd_hosts *hosts, const struct lbd_db_host *host, int64_t at_s,
                      const struct lbw_node_report *report);

/* The store is there: it is told the hosts that it had, by their numbers. */
void lbd_hosts_record(struct lbd_hosts *hosts, struct lbd_store *store);

/* Slurm's nodes are asked from here. */
void lbd_hosts_slurm(struct lbd_hosts *hosts, const struct lbd_slurmnodes *nodes);

/* NULL: there is none of that name.  Borrowed until one joins.  O(n). */
struct lbd_host *lbd_hosts_find(const struct lbd_hosts *hosts, const char *name);

/* The number of a host that has proved its name, made when it is new; UINT32_MAX: out of memory, or too many. */
uint32_t lbd_hosts_join(struct lbd_hosts *hosts, const char *name, const char *boot,
                        uint64_t instance);
void lbd_hosts_leave(struct lbd_hosts *hosts, uint32_t index, const char *why);

/* A report of a joined host.  Returns the store's ticket; for one that was had already that of the newest. */
uint64_t lbd_hosts_report(struct lbd_hosts *hosts, uint32_t index,
                          const struct lbw_node_report *report);

/* Likewise the figures of a job step whose balancer is there. */
uint64_t lbd_hosts_job(struct lbd_hosts *hosts, uint32_t index, const struct lbw_job *job);

/* Rows were lost: what is told again is taken again. */
void lbd_hosts_forget_seqs(struct lbd_hosts *hosts);

#endif
