/* SPDX-License-Identifier: BSD-3-Clause */
/* Which core is idle. */
#include "lbd/node/idle.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

#define BETTER .2 /* of the time: so much longer another one must have been idle */
#define TEXT_MOST ((size_t)1 << 20)

/* A line "cpuN user nice system idle iowait ..."; false: none. */
static bool parse_line(const char *line, int *ret_cpu, int64_t *ret_ticks)
{
    uint64_t idle, iowait;

    if (strncmp(line, "cpu", 3) != 0 || line[3] == ' ') /* the sum of all */
        return false;
    if (sscanf(line, "cpu%d %*u %*u %*u %" SCNu64 " %" SCNu64, ret_cpu, &idle, &iowait) != 3)
        return false;
    *ret_ticks = (int64_t)(idle + iowait);
    return true;
}

static void look(const char *stat, const int *cpu, size_t n, int64_t *ret_idle_ns)
{
    int64_t tick_ns = LBX_NS_PER_S / sysconf(_SC_CLK_TCK), ticks;
    int number;

    for (size_t i = 0; i < n; i++)
        ret_idle_ns[i] = -1;
    for (const char *line = stat; line && *line;
         line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (parse_line(line, &number, &ticks))
            for (size_t i = 0; i < n; i++)
                if (cpu[i] == number)
                    ret_idle_ns[i] = ticks * tick_ns;
}

size_t lbd_idle_pick(struct lbd_idle *idle, const char *stat, int64_t now_ns, const int *cpu,
                     size_t n, size_t own, int64_t own_ns)
{
    int64_t span_ns = now_ns - idle->at_ns, now[LBD_TOPOLOGY_CPUS_MAX];
    bool first = idle->at_ns == 0;
    size_t best = own;
    double most = 0;

    look(stat, cpu, n, now);
    for (size_t i = 0; i < n && !first && span_ns > 0; i++) {
        double ratio;

        if (now[i] < 0 || idle->idle_ns[i] < 0)
            continue;
        ratio = (double)(now[i] - idle->idle_ns[i] + (i == own ? own_ns : 0)) / (double)span_ns;
        if (i == own)
            ratio += BETTER;
        if (ratio > most) {
            most = ratio;
            best = i;
        }
    }
    idle->at_ns = now_ns;
    memcpy(idle->idle_ns, now, n * sizeof(now[0]));
    return best;
}

size_t lbd_idle_pick_now(struct lbd_idle *idle, const int *cpu, size_t n, size_t own,
                         int64_t own_ns)
{
    char *text = malloc(TEXT_MOST);
    FILE *f = fopen("/proc/stat", "re");
    size_t bytes = f && text ? fread(text, 1, TEXT_MOST - 1, f) : 0;

    if (f)
        fclose(f);
    if (bytes > 0) {
        text[bytes] = '\0';
        own = lbd_idle_pick(idle, text, lbx_clock_mono_ns(), cpu, n, own, own_ns);
    }
    free(text);
    return own;
}
