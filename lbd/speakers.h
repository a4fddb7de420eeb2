/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The balancers of this host's job steps, known by what they told while they lived.  On a busy host the last words of one
 * that was killed are read when it is gone and /proc no longer tells whose child it was; and when one dies without any,
 * what it told is all there will be.  All calls on the loop's thread.
 */
#ifndef LBD_SPEAKERS_H
#define LBD_SPEAKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LBD_SPEAKERS_MAX 1024

struct lbd_speaker {
    uint32_t jobid, stepid;
    uid_t uid;
    pid_t pid;
    uint64_t started; /* of that process, so that its number may be used again */
    bool gone;        /* at the last look */
};

struct lbd_speakers {
    size_t n, size;
    struct lbd_speaker *speaker; /* [n] */
};

void lbd_speakers_fini(struct lbd_speakers *s); /* NULL is fine */

/*
 * This process, which belongs to the step, has spoken for it.  A step has one speaker: the first, until it is gone.  Without
 * memory, and beyond LBD_SPEAKERS_MAX steps, it stays unknown.
 */
void lbd_speakers_know(struct lbd_speakers *s, uint32_t jobid, uint32_t stepid, uid_t uid,
                       pid_t pid);

/* Who this process of uid was, when it has spoken before and no other has its number now; NULL.  Borrowed until the next change. */
const struct lbd_speaker *lbd_speakers_find(const struct lbd_speakers *s, uid_t uid, pid_t pid);

/*
 * Forget those that were gone at the last look, too, by which all they said has been read.
 * over[in]  called for each with data; it may not call these functions
 */
void lbd_speakers_look(struct lbd_speakers *s,
                       void (*over)(void *data, const struct lbd_speaker *speaker), void *data);

#endif
