/* SPDX-License-Identifier: BSD-3-Clause */
/* A row of values as a picture in a terminal. */
#include "lbd/ctl/plot.h"

#include <math.h>
#include <stdint.h>

#define DOTS_ACROSS 2
#define DOTS_DOWN 4

size_t lbd_plot_dots(size_t columns, bool braille)
{
    return braille ? DOTS_ACROSS * columns : columns;
}

double lbd_plot_round_up(double v)
{
    static const double step[] = {1, 2, 5, 10};
    double base;

    if (!(v > 0))
        return 1;
    base = pow(10, floor(log10(v)));
    for (int i = 0; i < 4; i++)
        if (v <= step[i] * base * (1 + 1e-9))
            return step[i] * base;
    return 10 * base;
}

/* The dots of one character, bottom first, that a value of so many dots fills. */
static unsigned fill(double dots, size_t below)
{
    unsigned n = 0;

    while (n < DOTS_DOWN && dots >= (double)(below + n) + .5)
        n++;
    return n;
}

static void put_braille(FILE *f, unsigned left, unsigned right)
{
    /* bits of the dots, bottom first */
    static const uint8_t bit[DOTS_ACROSS][DOTS_DOWN] = {{0x40, 0x04, 0x02, 0x01},
                                                        {0x80, 0x20, 0x10, 0x08}};
    unsigned dots = 0;

    for (unsigned i = 0; i < left; i++)
        dots |= bit[0][i];
    for (unsigned i = 0; i < right; i++)
        dots |= bit[1][i];
    fprintf(f, "\xe2%c%c", 0xa0 + (int)(dots >> 6), 0x80 + (int)(dots & 0x3f)); /* U+2800 and on */
}

/* What is no gap shows, be it nothing. */
static double dots_of(double v, double top, size_t height)
{
    return isnan(v) ? 0 : fmax(v / top * (double)height, .5);
}

void lbd_plot(FILE *f, const double *v, size_t columns, size_t lines, bool braille)
{
    size_t n = lbd_plot_dots(columns, braille), down = braille ? DOTS_DOWN : 1;
    double largest = 0, top;

    for (size_t i = 0; i < n; i++)
        largest = v[i] > largest ? v[i] : largest;
    top = lbd_plot_round_up(largest);
    for (size_t line = lines; line > 0; line--) {
        size_t below = (line - 1) * down;

        if (line == lines || line == (lines + 1) / 2)
            fprintf(f, "%*.4g ", LBD_PLOT_LABEL - 2,
                    top * (double)(line == lines ? lines : line) / (double)lines);
        else
            fprintf(f, "%*s ", LBD_PLOT_LABEL - 2, line == 1 ? "0" : "");
        fputs(braille ? "\xe2\x94\x82" : "|", f);
        for (size_t c = 0; c < columns; c++) {
            if (braille)
                put_braille(f, fill(dots_of(v[2 * c], top, lines * down), below),
                            fill(dots_of(v[2 * c + 1], top, lines * down), below));
            else
                fputc(dots_of(v[c], top, lines) >= (double)below + .5 ? '#' : ' ', f);
        }
        fputc('\n', f);
    }
}
