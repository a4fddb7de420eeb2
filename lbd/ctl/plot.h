/* SPDX-License-Identifier: BSD-3-Clause */
/* A row of values as a picture in a terminal. */
#ifndef LBD_CTL_PLOT_H
#define LBD_CTL_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LBD_PLOT_LABEL 9 /* columns left of the picture */

/* Dots side by side in one column: values that a picture of so many columns shows. */
size_t lbd_plot_dots(size_t columns, bool braille);

/*
 * v[in]  [lbd_plot_dots(columns, braille)], oldest first, >= 0; NAN: a gap
 * columns, lines >= 1: of the picture alone;  braille: two by four dots a character, else one
 * The scale goes from 0 to a round number above the largest.
 */
void lbd_plot(FILE *f, const double *v, size_t columns, size_t lines, bool braille);

/* The smallest of 1, 2 and 5 times a power of ten that is not below v; 1 for 0. */
double lbd_plot_round_up(double v);

#endif
