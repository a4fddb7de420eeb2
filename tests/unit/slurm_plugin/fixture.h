/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of the plugin in slurmstepd: loading it with an lb-balancer that tells about itself, and calling its hooks. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

#define NOBODY 65534
#define PATIENCE_NS (20 * LBX_NS_PER_S)  /* until a test gives up; nothing is measured */
#define LIBC_SIGNALS (UINT64_C(3) << 31) /* 32 and 33 are libc's own, and it lets nobody set them */
#define ENDS_ON_TERM "trap 'rm -rf \"$dir\"; exit $status' TERM\n"
#define KILLED_ON_TERM "trap 'kill -9 $$' TERM\n"
#define IGNORES_TERM "trap '' TERM\n"

extern char folder[64], balancer[96], about[96];

/*
 * Load the plugin with an lb-balancer that writes its /proc files into `about` and then waits.
 * trap: what it does on SIGTERM; status: what it exits with then; option: of --lb, or NULL.
 */
void load(const char *trap, int status, const char *option);
bool exists(const char *path);

/* The balancer runs, its signals are set, and it has told about itself. */
void await_balancer(void);

/* Of what it has told: whether there is this line, how many begin so, and the number behind a name. */
bool tells(const char *line);
int count(const char *prefix);
uint64_t hexadecimal(const char *name);

void begin(void);
void end_tasks(void);
void end_step(void);
void assert_no_child(void);

/* Run the tests of s in a folder of their own, and remove it.  Returns main's status. */
int run_suite(Suite *s);

#endif
