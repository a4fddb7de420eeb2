/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl's commands about hosts and their weights: ask, and show as text or JSON. */
#ifndef LBD_CTL_SHOW_H
#define LBD_CTL_SHOW_H

#include <stdbool.h>
#include <stddef.h>

enum lbd_ctl_exit { LBD_EXIT_OK, LBD_EXIT_REFUSED, LBD_EXIT_USAGE, LBD_EXIT_NOBODY };

/* Options of all commands; NULL and false: not given. */
struct lbd_ctl {
    const char *socket;
    bool json, effective, ascii, once, nodes, restore;
    unsigned given;                         /* bits of lbd/ctl/words.h */
    const char *since, *until, *of, *width; /* history; the last one also of job */
    const char *partition, *account;        /* policy show --effective */
    const char *interval;                   /* probe, top */
};

/* All print what is wrong themselves and return an lbd_ctl_exit. */
/* host: that one alone, with its benchmark; NULL: all */
int lbd_show_hosts(const struct lbd_ctl *c, const char *host);
int lbd_show_rank(const struct lbd_ctl *c);
int lbd_show_forecast(const struct lbd_ctl *c, const char *host);
int lbd_show_history(const struct lbd_ctl *c, const char *host);
int lbd_show_probe(const struct lbd_ctl *c);
int lbd_show_weights(const struct lbd_ctl *c, char **set, size_t n);
int lbd_show_node_weights(const struct lbd_ctl *c); /* of Slurm: shown, or put back */
int lbd_show_effective(const struct lbd_ctl *c);

/* Columns of the terminal, or those that were asked for; 0: what was given is no width. */
size_t lbd_show_width(const struct lbd_ctl *c);

/* What went wrong with asking, for a person. */
int lbd_show_nobody(const char *socket, int rc);

#endif
