/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of lbctl's command line: which commands there are, and which options each of them has. */
#ifndef LBD_CTL_WORDS_H
#define LBD_CTL_WORDS_H

/* Bits of the options that only some commands have. */
enum lbd_ctl_word {
    LBD_W_EFFECTIVE = 1 << 0,
    LBD_W_ASCII = 1 << 1,
    LBD_W_ONCE = 1 << 2,
    LBD_W_NODES = 1 << 3,
    LBD_W_RESTORE = 1 << 4,
    LBD_W_SINCE = 1 << 5,
    LBD_W_UNTIL = 1 << 6,
    LBD_W_OF = 1 << 7,
    LBD_W_WIDTH = 1 << 8,
    LBD_W_PARTITION = 1 << 9,
    LBD_W_ACCOUNT = 1 << 10,
    LBD_W_INTERVAL = 1 << 11,
};

/*
 * Which of the options that were given the command does not have: the first one, without dashes; NULL: it has all of them, or is no
 * command of ours.  second: the word behind it, or NULL.
 */
const char *lbd_words_surplus(const char *command, const char *second, unsigned given);

/* The command that is most like the word. */
const char *lbd_words_nearest(const char *word);

#endif
