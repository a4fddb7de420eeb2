/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the lbds of the cluster are, from Slurm's list of nodes, in the form of Prometheus' file and HTTP service discovery. */
#ifndef LBD_TARGETS_H
#define LBD_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "lbd/options.h"

/*
 * Ask Slurm (sinfo, scontrol) and make the JSON, to be freed: a target for each node, and one for this host when it has the
 * controller's role and is no node.  Where web.yml says TLS the label __scheme__ says https.
 * Returns 0 or a negative errno with err.  Blocking, until deadline_ns.
 */
int lbd_targets_make(const struct lbd_options *options, int64_t deadline_ns, char **ret_json,
                     struct lbx_error *err) __attribute__((warn_unused_result));

/*
 * The same from what Slurm has said.
 * nodes[in]   lines "NAME ADDRESS", in any order, a name perhaps several times
 * config[in]  what scontrol show config prints; of it ClusterName and SlurmctldHost[0]
 */
int lbd_targets_from(const char *nodes, const char *config, const struct lbd_options *options,
                     bool tls, char **ret_json, struct lbx_error *err)
    __attribute__((warn_unused_result));

#endif
