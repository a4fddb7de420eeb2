/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of job steps: JOBID.STEP begins with a line of JSON about the step, its head, and each further line is a number and
 * a JSON object.  A full file becomes JOBID.STEP.old, in place of the one before, and a new one begins; the step that was
 * heard of longest ago makes room for a new one.
 */
#ifndef LBD_STEPFILES_H
#define LBD_STEPFILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LBD_STEPFILES_PATH_BYTES 512
#define LBD_STEPFILES_HEAD_BYTES 8192
#define LBD_STEPFILES_FILE_BYTES \
    ((size_t)256 << 10) /* then it is put aside, in place of the one put aside before */
#define LBD_STEPFILES_STEPS_MAX 256
#define LBD_STEPFILES_STEPS_EACH 64 /* of one user */

struct lbd_stepfiles {
    char dir[LBD_STEPFILES_PATH_BYTES];
};

struct lbd_stepfile {
    uint32_t jobid, stepid;
};

/* Files below state/decisions.  Returns 0 or -ENAMETOOLONG. */
int lbd_stepfiles_init(struct lbd_stepfiles *files, const char *state)
    __attribute__((warn_unused_result));

/* The head of a step's file, to be released; NULL when there is none. */
json_t *lbd_stepfiles_head(const struct lbd_stepfiles *files, struct lbd_stepfile s);

/*
 * Have the step's file ready to be appended to: made, begun anew when `begun_s` or `uid` of its head differ from those of
 * this head (another start of the step), turned over when full, its head replaced when this one is the first with `final`.
 * Returns 0 or a negative errno.
 */
int lbd_stepfiles_prepare(const struct lbd_stepfiles *files, struct lbd_stepfile s,
                          const json_t *head) __attribute__((warn_unused_result));

/* Append the objects of a list, each by its number `seq`; what is no such object is passed over.  Returns 0 or a negative errno. */
int lbd_stepfiles_append(const struct lbd_stepfiles *files, struct lbd_stepfile s,
                         const json_t *list) __attribute__((warn_unused_result));

/*
 * The steps of a job that are kept and are uid's (or anybody's: all), as a new array of numbers, some 32 of them.
 * ret_last[out]  the one that began last; untouched when there is none
 */
json_t *lbd_stepfiles_list(const struct lbd_stepfiles *files, uint32_t jobid, uid_t uid, bool all,
                           struct lbd_stepfile *ret_last);

/* Some of a step's lines, without their numbers. */
struct lbd_stepfiles_page {
    char *text; /* objects, separated by commas; the caller's memory */
    size_t size, used;
    uint64_t from;  /* number of the first to be read */
    uint64_t least; /* what may follow: 0 at first */
    uint64_t next;  /* that of the first that found no room; 0: there is no more */
};

/* Fill the page from number `from` on, as far as there is room. */
void lbd_stepfiles_read(const struct lbd_stepfiles *files, struct lbd_stepfile s,
                        struct lbd_stepfiles_page *page);

#endif
