/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl's words. */
#include "lbd/ctl/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "policy/nearest.h"

static const char *const option_name[] = {"effective", "ascii",     "once",    "nodes",
                                          "restore",   "since",     "until",   "of",
                                          "width",     "partition", "account", "interval"};

/* In the order of the usage. */
static const char *const command_name[] = {"hosts", "rank",    "forecast", "history",
                                           "probe", "weights", "status",   "explain",
                                           "top",   "job",     "policy"};

#define COMMANDS (sizeof(command_name) / sizeof(command_name[0]))

static unsigned options_of(const char *command, const char *second)
{
    if (strcmp(command, "history") == 0)
        return LBD_W_SINCE | LBD_W_UNTIL | LBD_W_OF | LBD_W_WIDTH | LBD_W_ASCII;
    if (strcmp(command, "probe") == 0)
        return LBD_W_INTERVAL;
    if (strcmp(command, "top") == 0)
        return LBD_W_ONCE | LBD_W_INTERVAL;
    if (strcmp(command, "job") == 0)
        return LBD_W_WIDTH;
    if (strcmp(command, "weights") == 0)
        return LBD_W_NODES | LBD_W_RESTORE;
    if (strcmp(command, "policy") == 0 && second && strcmp(second, "show") == 0)
        return LBD_W_EFFECTIVE | LBD_W_PARTITION | LBD_W_ACCOUNT;
    return 0;
}

const char *lbd_words_surplus(const char *command, const char *second, unsigned given)
{
    bool known = false;

    for (size_t i = 0; i < COMMANDS; i++)
        known = known || strcmp(command, command_name[i]) == 0;
    given &= known ? ~options_of(command, second) : 0;
    for (size_t i = 0; i < sizeof(option_name) / sizeof(option_name[0]); i++)
        if (given & 1U << i)
            return option_name[i];
    return NULL;
}

const char *lbd_words_nearest(const char *word)
{
    return command_name[lbp_nearest(word, command_name, COMMANDS)];
}
