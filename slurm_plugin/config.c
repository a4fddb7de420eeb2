/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of the plugin's line in plugstack.conf. */
#include "slurm_plugin/config.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "wire/local.h"

#define DEADLINE_MS_MAX 100 /* the guarantee to users: a site may only tighten it */
#define DEADLINE_MS 60      /* leaves room in the guarantee for what Slurm adds on a busy host */
#define UNASKED_MS 20       /* whoever asks for nothing hardly waits, whatever lbd does */
#define KNOWN "policy=, socket=, balancer=, killswitch=, deadline_ms= and disable"

static int set_path(char (*ret_path)[LBS_PATH_MAX], const char *value, size_t most, const char *arg,
                    struct lbx_error *err)
{
    size_t n = strlen(value);

    if (value[0] != '/')
        return lbx_error_set(err, -EINVAL, "argument '%s': an absolute path is needed", arg);
    if (n >= most)
        return lbx_error_set(err, -EINVAL, "argument '%.40s...': the path is longer than %zu bytes",
                             arg, most - 1);
    memcpy(*ret_path, value, n + 1);
    return 0;
}

static int set_policy(struct lbs_config *c, const char *value, const char *arg,
                      struct lbx_error *err)
{
    struct lbs_choice choice;
    int rc;

    if (strlen(value) >= sizeof(c->policy))
        return lbx_error_set(err, -EINVAL, "argument '%.40s...': longer than %zu bytes", arg,
                             sizeof(c->policy) - 1);
    rc = lbs_choice_parse(value, &choice, err);
    if (rc < 0) {
        lbx_error_prefix(err, "argument '%.100s'", arg);
        return rc;
    }
    memcpy(c->policy, value, strlen(value) + 1);
    return 0;
}

static int set_deadline(struct lbs_config *c, const char *value, const char *arg,
                        struct lbx_error *err)
{
    char *end;
    long ms;

    errno = 0;
    ms = strtol(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || ms < 1 || ms > DEADLINE_MS_MAX)
        return lbx_error_set(err, -EINVAL,
                             "argument '%.100s': a whole number from 1 to %d is needed", arg,
                             DEADLINE_MS_MAX);
    c->deadline_ns = ms * LBX_NS_PER_MS;
    return 0;
}

/* What follows key= in arg, or NULL when arg is another one. */
static const char *value_of(const char *arg, const char *key)
{
    size_t n = strlen(key);

    return strncmp(arg, key, n) == 0 && arg[n] == '=' ? arg + n + 1 : NULL;
}

static int set_one(struct lbs_config *c, const char *arg, struct lbx_error *err)
{
    const char *value;

    if (strcmp(arg, "disable") == 0) {
        c->disable = true;
        return 0;
    }
    if ((value = value_of(arg, "policy")))
        return set_policy(c, value, arg, err);
    if ((value = value_of(arg, "socket")))
        return set_path(&c->socket, value, sizeof(((struct sockaddr_un *)0)->sun_path), arg, err);
    if ((value = value_of(arg, "balancer")))
        return set_path(&c->balancer, value, sizeof(c->balancer), arg, err);
    if ((value = value_of(arg, "killswitch")))
        return set_path(&c->killswitch, value, sizeof(c->killswitch), arg, err);
    if ((value = value_of(arg, "deadline_ms")))
        return set_deadline(c, value, arg, err);
    return lbx_error_set(err, -EINVAL, "argument '%.100s' is unknown; there are " KNOWN, arg);
}

int lbs_config_parse(int argc, char **argv, struct lbs_config *ret_config, struct lbx_error *err)
{
    struct lbs_config c = {
        .socket = LBW_LOCAL_SOCKET,
        .balancer = LB_LIBEXECDIR "/lb-balancer",
        .killswitch = LB_SYSCONFDIR "/disabled",
        .deadline_ns = DEADLINE_MS * LBX_NS_PER_MS,
        .unasked_ns = UNASKED_MS * LBX_NS_PER_MS,
    };
    int rc;

    for (int i = 0; i < argc; i++) {
        rc = set_one(&c, argv[i], err);
        if (rc < 0)
            return rc;
    }
    *ret_config = c;
    return 0;
}

bool lbs_config_is_off(const struct lbs_config *config)
{
    return config->disable || access(config->killswitch, F_OK) == 0;
}
