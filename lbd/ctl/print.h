/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl's answers as text for people. */
#ifndef LBD_CTL_PRINT_H
#define LBD_CTL_PRINT_H

#include <jansson.h>
#include <stdio.h>

/*
 * The first character of a text from elsewhere that is not empty: a control character, ASCII's or one above it (U+0080 to U+009F),
 * becomes a question mark.  Returns its bytes.
 */
size_t lbd_print_character(FILE *f, const char *text);

/* Text from elsewhere, filled up to width: control characters become question marks. */
void lbd_print_text(FILE *f, const char *text, int width);
void lbd_print_rank(FILE *f, const json_t *answer);
void lbd_print_hosts(FILE *f, const json_t *answer);
/* The same of the answer's first host, with its benchmark and what it is made of. */
void lbd_print_one_host(FILE *f, const json_t *answer);
void lbd_print_forecast(FILE *f, const json_t *answer);
void lbd_print_status(FILE *f, const json_t *answer);
void lbd_print_weights(FILE *f, const json_t *answer);
/* Any object: a line a value, names joined by dots. */
void lbd_print_any(FILE *f, const json_t *answer);

#endif
