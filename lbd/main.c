/* SPDX-License-Identifier: BSD-3-Clause */
/* lbd: the daemon of every host and of the controller. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/auth.h"
#include "common/clock.h"
#include "common/log.h"
#include "lbd/daemon.h"
#include "lbd/targets.h"

#define ASK_SLURM_NS (10 * LBX_NS_PER_S)

static int print_sd(const struct lbd_options *o)
{
    struct lbx_error err = {0};
    char *json;

    if (lbd_targets_make(o, lbx_clock_mono_ns() + ASK_SLURM_NS, &json, &err) < 0) {
        fprintf(stderr, "lbd: %s\n", err.text);
        return 1;
    }
    puts(json);
    free(json);
    return 0;
}

int main(int argc, char **argv)
{
    struct lbd_options options;
    struct lbx_error err = {0};
    int rc = lbd_options_parse(argc, argv, &options, &err);

    if (rc > 0)
        return 0;
    if (rc < 0) {
        fprintf(stderr, "lbd: %s\n", err.text);
        return 2;
    }
    if (options.print_sd)
        return print_sd(&options);
    umask(027); /* the database is not for everybody; the socket sets its own mode */
    lbx_log_open("lbd", options.debug ? LBX_LOG_DEBUG : LBX_LOG_INFO);
    if (lbx_auth_setup() < 0) {
        fprintf(stderr, "lbd: the system gives no random numbers\n");
        return 1;
    }
    if (lbd_daemon_run(&options, &err) < 0) {
        lbx_log(LBX_LOG_ERROR, "%s", err.text);
        return 1;
    }
    return 0;
}
