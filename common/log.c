/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of the daemons. */
#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 1024

static const char *log_ident = "lb";
static enum lbx_log_level log_most = LBX_LOG_INFO;

void lbx_log_open(const char *ident, enum lbx_log_level most)
{
    log_ident = ident;
    log_most = most;
}

/* journald reads "<3>" in front; a person reads a time. */
static int print_head(char *line, size_t size, enum lbx_log_level level)
{
    struct timespec now;
    struct tm tm;
    char when[32];

    if (getenv("JOURNAL_STREAM"))
        return snprintf(line, size, "<%d>", (int)level);
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
    return snprintf(line, size, "%s.%03ldZ %s[%d]: %s", when, now.tv_nsec / 1000000, log_ident,
                    (int)getpid(),
                    level <= LBX_LOG_ERROR     ? "error: "
                    : level == LBX_LOG_WARNING ? "warning: "
                                               : "");
}

void lbx_log(enum lbx_log_level level, const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    size_t used;
    ssize_t ignored;
    int n;
    va_list ap;

    if (level > log_most)
        return;
    used = (size_t)print_head(line, sizeof(line), level);
    va_start(ap, fmt);
    n = vsnprintf(line + used, sizeof(line) - used - 1, fmt, ap);
    va_end(ap);
    used += n < 0 ? 0 : (size_t)n < sizeof(line) - used - 1 ? (size_t)n : sizeof(line) - used - 2;
    for (size_t i = 0; i < used; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
    line[used++] = '\n';
    ignored = write(STDERR_FILENO, line, used); /* a full disk must not stop a daemon */
    (void)ignored;
}
