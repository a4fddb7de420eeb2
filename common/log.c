/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of the daemons. */
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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

/* The variable is inherited by what a service starts: it counts only if stderr is that stream. */
static bool to_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long dev, ino;
    struct stat st;

    return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
           fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

/* journald reads "<3>" in front; a person reads a time.  Returns bytes written. */
static size_t print_head(char *line, size_t size, enum lbx_log_level level)
{
    struct timespec now;
    struct tm tm;
    char when[32];
    int n;

    if (to_journal()) {
        n = snprintf(line, size, "<%d>", (int)level);
    } else {
        clock_gettime(CLOCK_REALTIME, &now);
        gmtime_r(&now.tv_sec, &tm);
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm);
        n = snprintf(line, size, "%s.%03ldZ %.64s[%d]: %s", when, now.tv_nsec / 1000000, log_ident,
                     (int)getpid(),
                     level <= LBX_LOG_ERROR     ? "error: "
                     : level == LBX_LOG_WARNING ? "warning: "
                                                : "");
    }
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* '?' for the control characters: ASCII's, and those above it (U+0080 to U+009F, in UTF-8 C2 80 to
 * C2 9F). */
static void defuse(unsigned char *line, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (line[i] < 0x20 || line[i] == 0x7f)
            line[i] = '?';
        else if (line[i] == 0xc2 && i + 1 < n && line[i + 1] >= 0x80 && line[i + 1] <= 0x9f)
            line[i] = line[i + 1] = '?';
    }
}

void lbx_log(enum lbx_log_level level, const char *fmt, ...)
{
    char line[LINE_MAX_BYTES];
    int saved = errno, n;
    size_t used, room;
    ssize_t ignored;
    va_list ap;

    if (level > log_most)
        return;
    used = print_head(line, sizeof(line), level);
    room = sizeof(line) - used - 1; /* a byte is kept for the line's end */
    va_start(ap, fmt);
    n = vsnprintf(line + used, room, fmt, ap);
    va_end(ap);
    used += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
    defuse((unsigned char *)line, used);
    line[used++] = '\n';
    ignored = write(STDERR_FILENO, line, used); /* a full disk must not stop a daemon */
    (void)ignored;
    errno = saved;
}
