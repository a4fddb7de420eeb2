/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of lbd. */
#ifndef LBD_OPTIONS_H
#define LBD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "wire/local.h"

#define LBD_PORT_CONTROLLER 6825
#define LBD_PORT_METRICS 6826
#define LBD_ADDRESS_MAX 256

struct lbd_address {
    char host[LBD_ADDRESS_MAX]; /* name or number; "": all */
    uint16_t port;
};

struct lbd_options {
    bool node, controller;               /* roles */
    bool config_given;                   /* then the file must be there */
    const char *config, *socket, *state; /* borrowed from argv or static */
    const char *slurm;                   /* lb-slurm, likewise */
    struct lbd_address controller_at;    /* host "" : this process */
    struct lbd_address listen, metrics;
    bool metrics_on;
    const char *web; /* web.yml; NULL: neither TLS nor users */
    bool print_sd;   /* print where the lbds are, and end */
    bool debug;
    char host[LBW_LOCAL_HOST_MAX];
};

/* Returns 0 (go on), 1 (help or version was printed), or -EINVAL with err. */
int lbd_options_parse(int argc, char **argv, struct lbd_options *ret, struct lbx_error *err)
    __attribute__((warn_unused_result));

/* "HOST:PORT", "HOST", ":PORT", "[v6]:PORT".  Returns 0 or -EINVAL with err. */
int lbd_address_parse(const char *text, uint16_t default_port, struct lbd_address *ret,
                      struct lbx_error *err) __attribute__((warn_unused_result));

#endif
