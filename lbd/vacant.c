/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's idle hosts. */
#include "lbd/vacant.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "lbd/helper.h"

#define SHARED_NS (5 * LBX_NS_PER_MS) /* who asks so soon after another has its answer, too */
#define TURN_MS 250                   /* while one has asked in the last JUST_NS */
#define SLOW_TURN_MS 1000
#define JUST_NS (10 * LBX_NS_PER_S)
#define LATELY_NS (60 * LBX_NS_PER_S)
#define HANGS_NS (3 * LBX_NS_PER_S)
#define KEPT_NS (3600 * LBX_NS_PER_S) /* then the helper is ended: it costs memory */
#define RESTART_NS (2 * LBX_NS_PER_S) /* one that dies is not started more often */
#define HOSTS_MAX ((size_t)65536)

struct list {
    struct lbd_vacant_host *host; /* [n] */
    size_t n, size;
    char **text; /* [n], of the partitions; neighbours are mostly in the same ones, and share it */
    size_t ntext, text_size;
    int64_t at_ns; /* when Slurm was asked for it */
};

struct lbd_vacant {
    const char *path;
    void (*on_answer)(void *data);
    void *data;
    uv_timer_t timer;
    struct lbd_helper helper;
    struct list now, next;                    /* in force; coming */
    int64_t wanted_ns, failed_ns, started_ns; /* last; 0: never */
    int64_t asked_ns;                         /* what is under way; 0: nothing */
    bool again, told, stopped;
};

static void clear(struct list *l)
{
    for (size_t i = 0; i < l->ntext; i++)
        free(l->text[i]);
    l->n = l->ntext = 0;
}

static void *grow(void *items, size_t n, size_t *size, size_t each)
{
    size_t more = *size ? 2 * *size : 64;
    void *bigger;

    if (n < *size)
        return items;
    bigger = realloc(items, more * each);
    if (bigger)
        *size = more;
    return bigger;
}

static const char *keep_text(struct list *l, const char *text)
{
    char **bigger;

    if (l->ntext > 0 && strcmp(l->text[l->ntext - 1], text) == 0)
        return l->text[l->ntext - 1];
    bigger = grow(l->text, l->ntext, &l->text_size, sizeof(*bigger));
    if (!bigger)
        return NULL;
    l->text = bigger;
    l->text[l->ntext] = strdup(text);
    return l->text[l->ntext] ? l->text[l->ntext++] : NULL;
}

/* NAME CPUS PARTITION[,...] */
static void take_host(struct list *l, const char *line)
{
    struct lbd_vacant_host h, *bigger;
    int end = 0;

    if (sscanf(line, "%63s %u %n", h.name, &h.cpus, &end) != 2 || end == 0 || line[end] == '\0' ||
        h.cpus == 0 || h.cpus > LBW_LOCAL_CLAIM_MOST || l->n == HOSTS_MAX)
        return;
    bigger = grow(l->host, l->n, &l->size, sizeof(*bigger));
    if (!bigger)
        return;
    l->host = bigger;
    h.partitions = keep_text(l, line + end);
    if (h.partitions)
        l->host[l->n++] = h;
}

static void poll_slurm(struct lbd_vacant *v);

static void finish(struct lbd_vacant *v, const char *failure)
{
    if (failure) {
        v->failed_ns = v->asked_ns;
        if (!v->told)
            lbx_log(LBX_LOG_WARNING, "Slurm's idle hosts are not known: %s", failure);
    } else {
        struct list old = v->now;

        v->now = v->next;
        v->now.at_ns = v->asked_ns;
        v->next = old;
    }
    v->told = failure != NULL;
    v->asked_ns = 0;
    v->on_answer(v->data);
    if (v->again && !v->stopped)
        poll_slurm(v);
}

static void on_line(void *data, char *line)
{
    struct lbd_vacant *v = data;

    if (v->asked_ns == 0 || v->stopped)
        return;
    if (strcmp(line, ".") == 0)
        finish(v, NULL);
    else if (line[0] == '!')
        finish(v, line + 1);
    else
        take_host(&v->next, line);
}

static void on_end(void *data)
{
    struct lbd_vacant *v = data;

    v->again = false; /* the next one who asks starts it again */
    if (v->asked_ns != 0 && !v->stopped)
        finish(v, "lb-slurm has ended");
}

static void poll_slurm(struct lbd_vacant *v)
{
    int64_t now_ns = lbx_clock_mono_ns();
    int rc = 0;

    v->again = false;
    v->asked_ns = now_ns;
    clear(&v->next);
    if (!v->helper.running) {
        if (v->started_ns != 0 && now_ns - v->started_ns < RESTART_NS)
            rc = -EAGAIN;
        else
            rc = lbd_helper_start(&v->helper, v->path);
        if (rc == 0)
            v->started_ns = now_ns;
    }
    if (rc == 0)
        rc = lbd_helper_send(&v->helper, "idle\n");
    if (rc < 0)
        finish(v, strerror(-rc));
}

/* age_ns: since somebody wanted to know */
static uint64_t turn_ms(int64_t age_ns)
{
    if (age_ns < JUST_NS)
        return TURN_MS;
    return age_ns < LATELY_NS ? SLOW_TURN_MS : (uint64_t)(KEPT_NS / LBX_NS_PER_MS);
}

static void on_timer(uv_timer_t *timer)
{
    struct lbd_vacant *v = timer->data;
    int64_t now_ns = lbx_clock_mono_ns();

    if (v->asked_ns != 0) {
        if (now_ns - v->asked_ns > HANGS_NS)
            lbd_helper_drop(&v->helper, true);
    } else if (now_ns - v->wanted_ns < LATELY_NS) {
        poll_slurm(v);
    } else if (now_ns - v->wanted_ns > KEPT_NS) {
        lbd_helper_finish(&v->helper);
        return;
    }
    uv_timer_start(timer, on_timer, turn_ms(now_ns - v->wanted_ns), 0);
}

int lbd_vacant_create(uv_loop_t *loop, const char *helper, void (*on_answer)(void *data),
                      void *data, struct lbd_vacant **ret_vacant)
{
    struct lbd_vacant *v = calloc(1, sizeof(*v));

    if (!v)
        return -ENOMEM;
    v->path = helper;
    v->on_answer = on_answer;
    v->data = data;
    lbd_helper_init(&v->helper, loop);
    v->helper.on_line = on_line;
    v->helper.on_end = on_end;
    v->helper.data = v;
    uv_timer_init(loop, &v->timer);
    v->timer.data = v;
    *ret_vacant = v;
    return 0;
}

void lbd_vacant_stop(struct lbd_vacant *v)
{
    if (!v || v->stopped)
        return;
    v->stopped = true;
    uv_close((uv_handle_t *)&v->timer, NULL);
    lbd_helper_drop(&v->helper, true);
}

void lbd_vacant_destroy(struct lbd_vacant *v)
{
    if (!v)
        return;
    lbd_helper_fini(&v->helper);
    clear(&v->now);
    clear(&v->next);
    free(v->now.host);
    free(v->now.text);
    free(v->next.host);
    free(v->next.text);
    free(v);
}

int64_t lbd_vacant_want(struct lbd_vacant *v, int64_t now_ns)
{
    int64_t since_ns = now_ns - SHARED_NS;

    if (v->stopped)
        return since_ns;
    v->wanted_ns = now_ns;
    if (!uv_is_active((uv_handle_t *)&v->timer) || uv_timer_get_due_in(&v->timer) > TURN_MS)
        uv_timer_start(&v->timer, on_timer, TURN_MS, 0);
    if (lbd_vacant_has_answered(v, since_ns))
        return since_ns;
    if (v->asked_ns == 0)
        poll_slurm(v);
    else if (v->asked_ns < since_ns)
        v->again = true;
    return since_ns;
}

bool lbd_vacant_has_answered(const struct lbd_vacant *v, int64_t since_ns)
{
    return v->stopped || (v->now.at_ns != 0 && v->now.at_ns >= since_ns) ||
           (v->failed_ns != 0 && v->failed_ns >= since_ns);
}

int64_t lbd_vacant_at_ns(const struct lbd_vacant *v)
{
    return v->now.at_ns;
}

const struct lbd_vacant_host *lbd_vacant_list(const struct lbd_vacant *v, size_t *ret_n)
{
    *ret_n = v->now.n;
    return v->now.host;
}

bool lbd_vacant_is_in(const struct lbd_vacant_host *h, const char *partition)
{
    size_t n = strlen(partition), len;

    for (const char *at = h->partitions; *at; at += len + (at[len] == ',')) {
        bool is_default = *at == '*';

        at += is_default;
        len = strcspn(at, ",");
        if (n == 0 ? is_default : len == n && memcmp(at, partition, n) == 0)
            return true;
    }
    return false;
}
