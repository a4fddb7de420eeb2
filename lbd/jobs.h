/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The balanced jobs of this host, as their balancers tell (lbd/balancer/figures.h), on the page of metrics.  Which job a message
 * is of is never read from it: it is the step whose slurmstepd started the sender.  A job that has ended stays for three scrapes.
 */
#ifndef LBD_JOBS_H
#define LBD_JOBS_H

#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/error.h"
#include "lbd/metrics/metrics.h"
#include "wire/job.h"

#define LBD_JOBS_PER_USER_MAX 64
#define LBD_JOBS_HOSTS_MAX 256 /* of one job; what is told of more is left out */

/*
 * Series of a user's jobs on this host: one job of 252 hosts whole.  Beyond, hosts of its jobs are not shown one by one.
 */
#define LBD_JOBS_SERIES_PER_USER_MAX 1280

/*
 * So many jobs are shown in full, and so many of them of one user: with 64 jobs a page stays below 64 KiB.  The others are shown
 * in brief: whose they are, their hosts' number, how balanced they are and why work moved or stayed.
 */
#define LBD_JOBS_FULL_MAX 16
#define LBD_JOBS_FULL_PER_USER_MAX 12

/* Why a message, or a part of it, was not taken. */
enum lbd_jobs_refusal {
    LBD_JOBS_STRANGER, /* the sender belongs to no step of this host */
    LBD_JOBS_GARBAGE,
    LBD_JOBS_TOO_MANY, /* jobs of this user */
    LBD_JOBS_SERIES,   /* taken, but shown in brief or without some of its hosts */
    LBD_JOBS_RATE,
    LBD_JOBS_REFUSALS
};

struct lbd_jobs_stats {
    size_t jobs;
    uint64_t messages, refused[LBD_JOBS_REFUSALS];
};

struct lbd_jobs;

/* A job's newest figures, for the controller: while it runs and, exactly once, when it has ended.  job: borrowed. */
typedef void lbd_jobs_told(void *data, const struct lbw_job *job);

/* metrics: borrowed; NULL: nothing is shown.  told: may be NULL.  Returns 0 or -ENOMEM. */
int lbd_jobs_create(uv_loop_t *loop, struct lbd_metrics *metrics, lbd_jobs_told *told, void *data,
                    struct lbd_jobs **ret) __attribute__((warn_unused_result));
void lbd_jobs_destroy(struct lbd_jobs *j); /* after the loop has run out; NULL is fine */

/*
 * Take a message.  Everything in it is the user's word: numbers are checked, names are only ever values of labels.
 * Returns 0, -EINVAL (no such figures), -EDQUOT (too many jobs of this user), -EBUSY (too many messages), -ENOMEM, with a text.
 */
int lbd_jobs_take(struct lbd_jobs *j, uid_t uid, uint32_t jobid, uint32_t stepid, const char *json,
                  int64_t now_ns, struct lbx_error *err) __attribute__((warn_unused_result));

/* The step's balancer is gone: what was heard is all, unless it had said so itself. */
void lbd_jobs_end(struct lbd_jobs *j, uint32_t jobid, uint32_t stepid);

/* Forget what has ended or fallen silent.  scrapes[in]: pages given out so far. */
void lbd_jobs_expire(struct lbd_jobs *j, uint64_t scrapes, int64_t now_ns);

/* Count a refusal that was decided elsewhere. */
void lbd_jobs_refused(struct lbd_jobs *j, enum lbd_jobs_refusal why);

size_t lbd_jobs_count(const struct lbd_jobs *j);
void lbd_jobs_stats(const struct lbd_jobs *j, struct lbd_jobs_stats *ret);

#endif
