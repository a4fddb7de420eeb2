/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of a list of hosts, which messages of two protocols hold.  Within wire/ only, but for the check of names. */
#ifndef LBW_HOSTS_H
#define LBW_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/flat.h"
#include "wire/local.h"

/* Host names are printed, logged and put into labels: letters, digits, dot, dash, underscore. */
bool lbw_host_name_valid(const char *name);

size_t lbw_hosts_fields(const struct lbw_local_hosts *hosts);
bool lbw_hosts_valid(const struct lbw_local_hosts *hosts);
void lbw_hosts_write(struct lbw_writer *w, const struct lbw_local_hosts *hosts);
void lbw_hosts_read(struct lbw_reader *r, struct lbw_local_hosts *ret_hosts);

#endif
