/* SPDX-License-Identifier: BSD-3-Clause */
/* What a value of policy.conf may be: limits, words, times, sizes and users. */
#ifndef LBX_CONFVALUE_H
#define LBX_CONFVALUE_H

#include <stdint.h>
#include <sys/types.h>

#define LBX_CONF_NAME_MAX 64    /* bytes with the NUL */
#define LBX_CONF_POLICY_MAX 256 /* bytes with the NUL */
#define LBX_CONF_PATH_MAX 512   /* bytes with the NUL */
#define LBX_CONF_LIST_MAX 64    /* entries of a list */
#define LBX_CONF_RULES_MAX 1024 /* partitions, and accounts */

enum lbx_conf_mode { LBX_MODE_UNSET = -1, LBX_MODE_OPT_IN, LBX_MODE_OPT_OUT };
enum lbx_conf_placement { LBX_PLACE_UNSET = -1, LBX_PLACE_OFF, LBX_PLACE_ON, LBX_PLACE_WEIGHTS };

/* "500ms", "10s", "5m", "6h", "30d", "2y" or seconds, > 0.  Returns 0 or -EINVAL. */
int lbx_confvalue_duration(const char *text, int64_t *ret_ns) __attribute__((warn_unused_result));

/* "400M", "1G", "65536" (bytes, powers of 1024), > 0.  Returns 0 or -EINVAL. */
int lbx_confvalue_size(const char *text, int64_t *ret_bytes) __attribute__((warn_unused_result));

/* UNSET for an unknown word. */
enum lbx_conf_mode lbx_confvalue_mode(const char *text);
enum lbx_conf_placement lbx_confvalue_placement(const char *text);

/* A user by name or number.  Returns 0 or -ENOENT. */
int lbx_confvalue_user(const char *text, uid_t *ret_uid) __attribute__((warn_unused_result));

#endif
