/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU control group that we run in. */
#include "common/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"

#define LINE_BYTES 4096
#define FNV_BASE UINT64_C(14695981039346656037)
#define FNV_PRIME UINT64_C(1099511628211)

/* A small file as text.  Returns its length or a negative errno. */
static ssize_t read_file(const char *folder, const char *name, char *text, size_t size)
{
    char path[LBX_CGROUP_PATH_MAX + 64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    n = read(fd, text, size - 1);
    if (n < 0)
        n = -errno;
    else
        text[n] = '\0';
    close(fd);
    return n;
}

int lbx_cgroup_read_number(const char *folder, const char *name, int64_t *ret)
{
    char text[128], *end;
    ssize_t n = read_file(folder, name, text, sizeof(text));
    long long v;

    if (n < 0)
        return (int)n;
    errno = 0;
    v = strtoll(text, &end, 10);
    if (end == text || errno)
        return -EINVAL;
    *ret = v;
    return 0;
}

/* Whether word is in the comma-separated list. */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; p; p = strchr(p, ','), p = p ? p + 1 : NULL)
        if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

static FILE *open_proc(const char *proc, const char *name)
{
    char path[LBX_CGROUP_PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", proc, name);
    return fopen(path, "re");
}

/* Our path in the hierarchy of the version: lines "ID:controllers:path". */
static int find_own_path(const char *proc, int version, char *ret_path, size_t size)
{
    char line[LINE_BYTES], *controllers, *path;
    FILE *f = open_proc(proc, "cgroup");
    int rc = -ENOENT;

    if (!f)
        return -errno;
    while (rc < 0 && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        controllers = strchr(line, ':');
        path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *controllers++ = *path++ = '\0';
        if (version == 2 ? *controllers == '\0' : has_word(controllers, "cpu")) {
            snprintf(ret_path, size, "%s", path);
            rc = 0;
        }
    }
    fclose(f);
    return rc;
}

/* One line of mountinfo: ID parent major:minor root mountpoint options [...] - type source options. */
static bool parse_mount(char *line, int version, const char **ret_root, const char **ret_point)
{
    char *sep = strstr(line, " - "), *save = NULL, *word = NULL, *type, *options;

    if (!sep)
        return false;
    *sep = '\0';
    word = strtok_r(line, " ", &save);
    for (int i = 0; word && i < 3; i++)
        word = strtok_r(NULL, " ", &save);
    *ret_root = word;
    *ret_point = word ? strtok_r(NULL, " ", &save) : NULL;
    type = strtok_r(sep + 3, " ", &save);
    strtok_r(NULL, " ", &save);
    options = strtok_r(NULL, " \n", &save);
    if (!*ret_point || !type)
        return false;
    if (version == 2)
        return strcmp(type, "cgroup2") == 0;
    return strcmp(type, "cgroup") == 0 && options && has_word(options, "cpu");
}

static int find_mount(const char *proc, int version, const char *own, struct lbx_cgroup *g)
{
    char line[LINE_BYTES];
    const char *root, *point;
    FILE *f = open_proc(proc, "mountinfo");
    int rc = -ENOENT;

    if (!f)
        return -errno;
    while (rc < 0 && fgets(line, sizeof(line), f)) {
        size_t n;

        if (!parse_mount(line, version, &root, &point))
            continue;
        n = strcmp(root, "/") == 0 ? 0 : strlen(root);
        if (strncmp(own, root, n) != 0 || strlen(point) + strlen(own + n) >= sizeof(g->path))
            continue;
        snprintf(g->mount, sizeof(g->mount), "%s", point);
        snprintf(g->path, sizeof(g->path), "%s%s", point, strcmp(own + n, "/") == 0 ? "" : own + n);
        rc = 0;
    }
    fclose(f);
    return rc;
}

/* What the quota of one folder allows, INFINITY without one; *ret_period_ns only with one. */
static double read_quota(int version, const char *folder, int64_t *ret_period_ns)
{
    char text[128];
    int64_t quota_us, period_us;

    if (version == 2) {
        if (read_file(folder, "cpu.max", text, sizeof(text)) <= 0 ||
            sscanf(text, "%" SCNd64 " %" SCNd64, &quota_us, &period_us) != 2)
            return INFINITY;
    } else if (lbx_cgroup_read_number(folder, "cpu.cfs_quota_us", &quota_us) < 0 ||
               lbx_cgroup_read_number(folder, "cpu.cfs_period_us", &period_us) < 0) {
        return INFINITY;
    }
    if (quota_us <= 0 || period_us <= 0 || period_us > LBX_NS_PER_S)
        return INFINITY;
    *ret_period_ns = period_us * LBX_NS_PER_US;
    return (double)quota_us / (double)period_us;
}

void lbx_cgroup_refresh(struct lbx_cgroup *g)
{
    char folder[LBX_CGROUP_PATH_MAX];
    size_t least = strlen(g->mount);

    g->quota_cpus = INFINITY;
    g->period_ns = 0;
    g->limited[0] = '\0';
    if (g->version == 0)
        return;
    memcpy(folder, g->path, sizeof(folder));
    for (;;) { /* upwards: any folder above may be the tightest */
        int64_t period_ns = 0;
        double cpus = read_quota(g->version, folder, &period_ns);
        char *slash;

        if (cpus < g->quota_cpus) {
            g->quota_cpus = cpus;
            g->period_ns = period_ns;
            memcpy(g->limited, folder, sizeof(folder));
        }
        slash = strrchr(folder, '/');
        if (strlen(folder) <= least || !slash)
            return;
        *slash = '\0';
    }
}

int lbx_cgroup_find(const char *proc, struct lbx_cgroup *ret)
{
    char own[LBX_CGROUP_PATH_MAX];
    int rc = -ENOENT;

    memset(ret, 0, sizeof(*ret));
    ret->quota_cpus = INFINITY;
    for (int version = 1; version <= 2 && rc < 0; version++) {
        rc = find_own_path(proc, version, own, sizeof(own));
        if (rc == 0)
            rc = find_mount(proc, version, own, ret);
        if (rc == 0)
            ret->version = version;
    }
    lbx_cgroup_refresh(ret);
    return rc;
}

int lbx_cgroup_usage(const struct lbx_cgroup *g, int64_t *ret_ns)
{
    char text[512], *line;
    int64_t us;

    if (!g->limited[0])
        return -ENOENT;
    if (g->version == 1)
        return lbx_cgroup_read_number(g->limited, "cpuacct.usage", ret_ns);
    if (read_file(g->limited, "cpu.stat", text, sizeof(text)) <= 0)
        return -ENOENT;
    line = strstr(text, "usage_usec ");
    if (!line || sscanf(line, "usage_usec %" SCNd64, &us) != 1)
        return -ENOENT;
    *ret_ns = us * LBX_NS_PER_US;
    return 0;
}

int lbx_cgroup_throttled(const struct lbx_cgroup *g, int64_t *ret_ns)
{
    const char *key = g->version == 1 ? "throttled_time " : "throttled_usec ";
    char text[1024], *line;
    int64_t v;

    if (!g->limited[0] || read_file(g->limited, "cpu.stat", text, sizeof(text)) <= 0)
        return -ENOENT;
    line = strstr(text, key);
    if (!line || sscanf(line + strlen(key), "%" SCNd64, &v) != 1 || v < 0)
        return -ENOENT;
    *ret_ns = g->version == 1 ? v : v * LBX_NS_PER_US;
    return 0;
}

static uint64_t hash(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * FNV_PRIME;
    return h;
}

uint64_t lbx_cgroup_identity(const struct lbx_cgroup *g)
{
    uint64_t h = FNV_BASE;
    char boot[64];
    struct stat st;
    ssize_t n;

    if (!g->limited[0] || stat(g->limited, &st) < 0)
        return 0;
    /* containers may all see their group as "/", and may have their host's name or not: the kernel's own numbers do */
    n = read_file("/proc/sys/kernel/random", "boot_id", boot, sizeof(boot));
    if (n > 0)
        h = hash(h, boot, (size_t)n);
    h = hash(h, &st.st_dev, sizeof(st.st_dev));
    h = hash(h, &st.st_ino, sizeof(st.st_ino));
    return h ? h : 1;
}
