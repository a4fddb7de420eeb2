/* SPDX-License-Identifier: BSD-3-Clause */
/* The balancers of this host's job steps. */
#include "lbd/speakers.h"

#include <stdlib.h>
#include <string.h>

#include "lbd/node/steps.h"

void lbd_speakers_fini(struct lbd_speakers *s)
{
    if (!s)
        return;
    free(s->speaker);
    memset(s, 0, sizeof(*s));
}

static bool is_gone(const struct lbd_speaker *k)
{
    return lbd_steps_started(k->pid) != k->started;
}

static struct lbd_speaker *place_for(struct lbd_speakers *s, uint32_t jobid, uint32_t stepid)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->speaker[i].jobid == jobid && s->speaker[i].stepid == stepid)
            return is_gone(&s->speaker[i]) ? &s->speaker[i] : NULL;
    if (s->n == LBD_SPEAKERS_MAX)
        return NULL;
    if (s->n == s->size) {
        size_t size = s->size ? 2 * s->size : 8;
        struct lbd_speaker *grown = realloc(s->speaker, size * sizeof(*grown));

        if (!grown)
            return NULL;
        s->speaker = grown;
        s->size = size;
    }
    return &s->speaker[s->n++];
}

void lbd_speakers_know(struct lbd_speakers *s, uint32_t jobid, uint32_t stepid, uid_t uid,
                       pid_t pid)
{
    uint64_t started = lbd_steps_started(pid);
    struct lbd_speaker *k = started ? place_for(s, jobid, stepid) : NULL;

    if (k)
        *k = (struct lbd_speaker){jobid, stepid, uid, pid, started, false};
}

const struct lbd_speaker *lbd_speakers_find(const struct lbd_speakers *s, uid_t uid, pid_t pid)
{
    uint64_t started = lbd_steps_started(pid);

    for (size_t i = 0; i < s->n; i++)
        if (s->speaker[i].pid == pid && s->speaker[i].uid == uid &&
            (started == 0 || started == s->speaker[i].started))
            return &s->speaker[i];
    return NULL;
}

void lbd_speakers_look(struct lbd_speakers *s,
                       void (*over)(void *data, const struct lbd_speaker *speaker), void *data)
{
    for (size_t i = s->n; i > 0; i--) {
        struct lbd_speaker k = s->speaker[i - 1];
        bool was_gone = k.gone;

        s->speaker[i - 1].gone = is_gone(&k);
        if (!was_gone || !s->speaker[i - 1].gone)
            continue;
        s->speaker[i - 1] = s->speaker[--s->n];
        over(data, &k);
    }
}
