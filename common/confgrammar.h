/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of policy.conf: keys, sections, and what each value may be.  Only for policyconf.c. */
#ifndef LBX_CONFGRAMMAR_H
#define LBX_CONFGRAMMAR_H

#include <confuse.h>

#include "common/error.h"

/* Put "KEY = true" behind the text: libconfuse takes the end of the file for that of any section. */
#define LBX_CONFGRAMMAR_END "end_of_policy_conf"

/*
 * A parser; all arguments are borrowed until the next one is made.  err gets the first mistake, with file and line.
 * NULL: out of memory.  Free with cfg_free.
 */
cfg_t *lbx_confgrammar_create(const char *path,
                              int (*check)(const char *text, struct lbx_error *err),
                              struct lbx_error *err);

#endif
