/* SPDX-License-Identifier: BSD-3-Clause */
/* picture.h - read a photograph (JPEG or PNG) at the size wanted, write a PNG.  For the examples
 * only. */
#ifndef LB_EXAMPLES_PICTURE_H
#define LB_EXAMPLES_PICTURE_H

#include <stdint.h>

struct ex_picture {
    int width, height;
    unsigned char *rgb; /* height rows of width x 3 bytes; free() it */
};

/*
 * Read file, scaled to width (its shape kept) and cropped to the middle height rows; 0 for either
 * keeps what there is. Returns 0, or -1 after saying on stderr what is wrong; *ret_picture is
 * untouched then.
 */
int ex_picture_read(const char *file, int width, int height, struct ex_picture *ret_picture);

/* Write rgb as a PNG, by a temporary file and a rename.  Returns 0, or -1 after saying on stderr
 * what is wrong. */
int ex_picture_write(const char *file, const unsigned char *rgb, int width, int height);

#endif
