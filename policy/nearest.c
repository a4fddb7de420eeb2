/* SPDX-License-Identifier: BSD-3-Clause */
/* The valid name nearest to what a person wrote, for messages about mistakes. */
#include "policy/nearest.h"

#include <stdbool.h>
#include <string.h>

/* Not tolower(): its answer depends on the locale. */
static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int min2(int a, int b)
{
    return a < b ? a : b;
}

int lbp_nearest_distance(const char *a, const char *b)
{
    size_t full_a = strlen(a), full_b = strlen(b);
    int na = (int)(full_a < LBP_NEAREST_MAX ? full_a : LBP_NEAREST_MAX);
    int nb = (int)(full_b < LBP_NEAREST_MAX ? full_b : LBP_NEAREST_MAX);
    int d[LBP_NEAREST_MAX + 1][LBP_NEAREST_MAX + 1];
    int rest =
        min2((int)min2((int)(full_a - (size_t)na), 10000) + min2((int)(full_b - (size_t)nb), 10000),
             10000);

    for (int i = 0; i <= na; i++)
        d[i][0] = i;
    for (int j = 0; j <= nb; j++)
        d[0][j] = j;
    for (int i = 1; i <= na; i++)
        for (int j = 1; j <= nb; j++) {
            char x = small(a[i - 1]), y = small(b[j - 1]);

            d[i][j] = min2(min2(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (x == y ? 0 : 1));
            if (i > 1 && j > 1 && x == small(b[j - 2]) && small(a[i - 2]) == y)
                d[i][j] = min2(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[na][nb] + rest;
}

static bool begins_with(const char *name, const char *text)
{
    size_t i = 0;

    for (; text[i]; i++)
        if (small(text[i]) != small(name[i]))
            return false;
    return i > 0;
}

size_t lbp_nearest(const char *text, const char *const *name, size_t n)
{
    size_t best = 0;
    int least = 0;

    for (size_t i = 0; i < n; i++) {
        int distance = begins_with(name[i], text) ? 0 : lbp_nearest_distance(text, name[i]);

        if (i == 0 || distance < least) {
            best = i;
            least = distance;
        }
    }
    return best;
}
