/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of hosts and what they are worth, which messages of two protocols hold. */
#ifndef LBW_HOSTS_H
#define LBW_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbw_reader;
struct lbw_writer;

#define LBW_LOCAL_HOST_MAX 64
#define LBW_LOCAL_HOSTS_MAX 512 /* in one answer; more come in further ones (see more) */

struct lbw_local_host {
    char host[LBW_LOCAL_HOST_MAX];
    double core_speed; /* what one task gets now, relative to a reference core, > 0 */
    double capacity;   /* what the whole host gives to one job, in reference cores, > 0 */
    double hardware;   /* speed of a core when it is had alone, relative, > 0 */
    double index;      /* BEC's performance index, lower is better */
    int64_t stable_ns; /* the load is expected to stay as it is so long, >= 0; 0 unknown */
    int64_t age_ns;    /* since it was measured, >= 0 */
};

struct lbw_local_hosts {
    uint32_t more; /* 1: another LBW_L_HOSTS follows */
    size_t n;
    struct lbw_local_host host[LBW_LOCAL_HOSTS_MAX];
};

/* Host names are printed, logged and put into labels: letters, digits, dot, dash, underscore. */
bool lbw_host_name_valid(const char *name);

/* Its fields in a message; within wire/ only.  What is wrong on reading sets bad. */
size_t lbw_hosts_fields(const struct lbw_local_hosts *hosts);
bool lbw_hosts_valid(const struct lbw_local_hosts *hosts);
void lbw_hosts_write(struct lbw_writer *w, const struct lbw_local_hosts *hosts);
void lbw_hosts_read(struct lbw_reader *r, struct lbw_local_hosts *ret_hosts);

#endif
