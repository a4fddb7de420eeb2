/* SPDX-License-Identifier: BSD-3-Clause */
/* What lbsim is asked for. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

#define SIM_POLICIES_MAX 8
#define SIM_SPEEDS_MAX 1024
#define SIM_PATH_BYTES 1024

enum sim_kind { SIM_DOALL, SIM_STEPPED, SIM_DOACROSS };
enum sim_shape { SIM_EVEN, SIM_FRONT, SIM_RISE, SIM_RANDOM };
enum sim_output { SIM_TEXT, SIM_CSV, SIM_JSON };

struct sim_options {
    uint32_t ranks;
    double speed[SIM_SPEEDS_MAX]; /* cores of the hosts, repeated as often as needed */
    uint32_t nspeeds;             /* 0: drawn between speed_from and 1 */
    double speed_from;
    int64_t load_period_ns;         /* 0: no load, or a constant one */
    double load_share;              /* of a loaded host that is left to the program; 1: no load */
    char load_file[SIM_PATH_BYTES]; /* recorded load; "": none */
    double load_scale;              /* so many times what was recorded */
    double load_interval_s;         /* that a recorded sample lasts; 0: as recorded */
    double loaded;                  /* share of the hosts that carry the load, 0 to 1 */
    int64_t latency_ns;
    double bytes_per_s;
    double link; /* a move from or to the first host takes so many times as long, >= 1 */
    int64_t row_bytes;
    enum sim_kind kind;
    int64_t n, steps;
    int64_t legs;                 /* of a pass of a DOACROSS loop; 0: chosen */
    int64_t grain;                /* of a DOACROSS loop, elements of a block; 0: chosen */
    uint32_t balancers;           /* the ranks are divided among so many */
    int64_t balancer_ns, beat_ns; /* CPU time of a message and of a beat at the balancer */
    double seconds;               /* ideal time of the whole run */
    enum sim_shape shape;
    int64_t quota_ns; /* the cores are a quota of periods so long; 0: they are not */
    bool weights, untold;
    const char *policy[SIM_POLICIES_MAX]; /* [npolicies] borrowed from argv */
    int npolicies;
    unsigned seed;
    enum sim_output output;
    const char *replay; /* NULL: none; borrowed */
    bool help, version;
};

void sim_options_init(struct sim_options *o);

/*
 * argv[1..]: "--key=value" and flags.  Texts of argv are borrowed.
 * Returns 0, or -EINVAL with a text that says what is wrong and what would be right; *o is then half filled.
 */
int sim_options_parse(struct sim_options *o, int argc, char **argv, struct lbx_error *err)
    __attribute__((warn_unused_result));

extern const char sim_options_help[];

#endif
