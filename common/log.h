/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of the daemons: one line an event on stderr, with the priority prefix that journald
 * reads.  Not for libraries. */
#ifndef LBX_LOG_H
#define LBX_LOG_H

enum lbx_log_level { LBX_LOG_ERROR = 3, LBX_LOG_WARNING = 4, LBX_LOG_INFO = 6, LBX_LOG_DEBUG = 7 };

/* ident is borrowed for good.  Lines above `most` are dropped; the default is LBX_LOG_INFO. */
void lbx_log_open(const char *ident, enum lbx_log_level most);

/* Control characters of the arguments are written as '?', so that nobody forges a line; what is
 * longer than 1 KiB is cut.  Keeps errno.  Thread-safe. */
void lbx_log(enum lbx_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
