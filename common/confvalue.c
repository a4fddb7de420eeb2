/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of policy.conf out of their text. */
#include "common/confvalue.h"

#include <errno.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_S 3.2e9 /* a century: still fits ns in an int64 */

static int parse_scaled(const char *text, const char *const *unit, const double *scale, double most,
                        double *ret)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || !isfinite(v) || v <= 0)
        return -EINVAL;
    for (size_t i = 0; unit[i]; i++)
        if (strcmp(end, unit[i]) == 0 && v * scale[i] <= most) {
            *ret = v * scale[i];
            return 0;
        }
    return -EINVAL;
}

int lbx_confvalue_duration(const char *text, int64_t *ret_ns)
{
    static const char *const unit[] = {"ms", "s", "", "m", "h", "d", "y", NULL};
    static const double scale[] = {1e-3, 1, 1, 60, 3600, 86400, 365 * 86400};
    double s;

    if (parse_scaled(text, unit, scale, LONGEST_S, &s) < 0 || s * 1e9 < 1)
        return -EINVAL;
    *ret_ns = (int64_t)(s * 1e9);
    return 0;
}

int lbx_confvalue_size(const char *text, int64_t *ret_bytes)
{
    static const char *const unit[] = {"", "K", "M", "G", "T", NULL};
    static const double scale[] = {1, 1024, 1048576, 1073741824, 1099511627776};
    double bytes;

    if (parse_scaled(text, unit, scale, 1e15, &bytes) < 0 || bytes < 1)
        return -EINVAL;
    *ret_bytes = (int64_t)bytes;
    return 0;
}

enum lbx_conf_mode lbx_confvalue_mode(const char *text)
{
    return strcmp(text, "opt-in") == 0    ? LBX_MODE_OPT_IN
           : strcmp(text, "opt-out") == 0 ? LBX_MODE_OPT_OUT
                                          : LBX_MODE_UNSET;
}

enum lbx_conf_placement lbx_confvalue_placement(const char *text)
{
    return strcmp(text, "off") == 0       ? LBX_PLACE_OFF
           : strcmp(text, "on") == 0      ? LBX_PLACE_ON
           : strcmp(text, "weights") == 0 ? LBX_PLACE_WEIGHTS
                                          : LBX_PLACE_UNSET;
}

int lbx_confvalue_user(const char *text, uid_t *ret_uid)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    struct passwd *pw;

    if (*text >= '0' && *text <= '9' && *end == '\0' && v < UINT32_MAX) {
        *ret_uid = (uid_t)v;
        return 0;
    }
    pw = getpwnam(text);
    if (!pw)
        return -ENOENT;
    *ret_uid = pw->pw_uid;
    return 0;
}
