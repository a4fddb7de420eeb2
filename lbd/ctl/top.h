/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl top: the hosts and the jobs of the cluster, live in a terminal, or once as text. */
#ifndef LBD_CTL_TOP_H
#define LBD_CTL_TOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum lbd_top_view { LBD_TOP_HOSTS, LBD_TOP_JOBS, LBD_TOP_JOB, LBD_TOP_HELP };

/* What a line is shown in: hosts that are away and unbalanced jobs stand out. */
enum lbd_top_mood { LBD_TOP_FINE, LBD_TOP_WARN, LBD_TOP_BAD };

struct lbd_top {
    enum lbd_top_view view;
    json_t *hosts, *jobs, *job; /* arrays; NULL: not had yet.  job: the steps of `jobid` */
    char said[512];             /* what went wrong last; "": nothing */
    bool is_old;                /* then what is shown is from before */
    int sort[2];                /* column by which hosts, jobs are sorted */
    size_t at, first;           /* the line that is chosen, and the first that is shown */
    uint32_t jobid;
};

/* How many lines can be chosen in the present view. */
size_t lbd_top_rows(const struct lbd_top *t);

/* Sort what is there by the view's column. */
void lbd_top_sort(struct lbd_top *t);
int lbd_top_columns(enum lbd_top_view view);

/* Bad: a host is away, a job's load balance is below 0.7.  Warn: a host is slower than it was, a balance below 0.85. */
enum lbd_top_mood lbd_top_mood(const struct lbd_top *t, size_t i);

/* The line of the whole cluster; the heading; row i of the view.  None is longer than width columns. */
void lbd_top_summary(FILE *f, const struct lbd_top *t, int width);
void lbd_top_heading(FILE *f, const struct lbd_top *t, int width);
void lbd_top_row(FILE *f, const struct lbd_top *t, size_t i, int width);

/* Ask lbd for what the view needs; what goes wrong is in t->said.  Returns 0 or a negative errno. */
int lbd_top_ask(struct lbd_top *t, const char *socket);
void lbd_top_fini(struct lbd_top *t);

/* Both print what is wrong themselves, and return an exit status of lbctl. */
int lbd_top_once(const char *socket, bool json);
int lbd_top_run(const char *socket, double interval_s);

#endif
