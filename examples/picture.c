/* SPDX-License-Identifier: BSD-3-Clause */
/* Photographs in, PNG out. */
#include "examples/picture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
/* jpeglib.h uses FILE without including stdio.h */
#include <jpeglib.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SIDE = 20000 };

struct jpeg_trouble {
    struct jpeg_error_mgr base;
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
};

static void jpeg_fails(j_common_ptr cinfo)
{
    struct jpeg_trouble *t = (struct jpeg_trouble *)cinfo->err;

    cinfo->err->format_message(cinfo, t->text);
    longjmp(t->back, 1);
}

static int read_jpeg(FILE *f, const char *file, struct ex_picture *ret_picture)
{
    struct jpeg_decompress_struct d;
    struct jpeg_trouble trouble;
    unsigned char *volatile rgb = NULL;

    memset(&d, 0, sizeof d);
    d.err = jpeg_std_error(&trouble.base);
    trouble.base.error_exit = jpeg_fails;
    if (setjmp(trouble.back)) {
        fprintf(stderr, "%s: %s\n", file, trouble.text);
        jpeg_destroy_decompress(&d);
        free(rgb);
        return -1;
    }
    jpeg_create_decompress(&d);
    jpeg_stdio_src(&d, f);
    jpeg_read_header(&d, TRUE);
    d.out_color_space = JCS_RGB;
    if (d.image_width > MAX_SIDE || d.image_height > MAX_SIDE) {
        snprintf(trouble.text, sizeof trouble.text, "larger than %d x %d", MAX_SIDE, MAX_SIDE);
        longjmp(trouble.back, 1);
    }
    jpeg_start_decompress(&d);
    rgb = malloc((size_t)d.output_width * d.output_height * 3);
    if (!rgb) {
        snprintf(trouble.text, sizeof trouble.text, "out of memory");
        longjmp(trouble.back, 1);
    }
    while (d.output_scanline < d.output_height) {
        JSAMPROW row = rgb + (size_t)d.output_scanline * d.output_width * 3;

        jpeg_read_scanlines(&d, &row, 1);
    }
    *ret_picture = (struct ex_picture){(int)d.output_width, (int)d.output_height, rgb};
    jpeg_finish_decompress(&d);
    jpeg_destroy_decompress(&d);
    return 0;
}

static int read_png(FILE *f, const char *file, struct ex_picture *ret_picture)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    const png_color black = {0, 0, 0}; /* behind what is transparent */
    unsigned char *rgb = NULL;

    if (!png_image_begin_read_from_stdio(&image, f))
        goto fail;
    if (image.width > MAX_SIDE || image.height > MAX_SIDE) {
        snprintf(image.message, sizeof image.message, "larger than %d x %d", MAX_SIDE, MAX_SIDE);
        goto fail;
    }
    image.format = PNG_FORMAT_RGB;
    rgb = malloc(PNG_IMAGE_SIZE(image));
    if (!rgb) {
        snprintf(image.message, sizeof image.message, "out of memory");
        goto fail;
    }
    if (!png_image_finish_read(&image, &black, rgb, 0, NULL))
        goto fail;
    *ret_picture = (struct ex_picture){(int)image.width, (int)image.height, rgb};
    return 0;
fail:
    fprintf(stderr, "%s: %s\n", file, image.message);
    png_image_free(&image);
    free(rgb);
    return -1;
}

/* Each new pixel is the mean of the old ones under it (at least one). */
static void mean_under(const struct ex_picture *from, int64_t x, int64_t y, int64_t width,
                       int64_t height, unsigned char *ret_pixel)
{
    int64_t x0 = x * from->width / width, x1 = (x + 1) * from->width / width;
    int64_t y0 = y * from->height / height, y1 = (y + 1) * from->height / height;
    int64_t sum[3] = {0, 0, 0}, count;

    if (x1 <= x0)
        x1 = x0 + 1;
    if (y1 <= y0)
        y1 = y0 + 1;
    count = (x1 - x0) * (y1 - y0);
    for (int64_t j = y0; j < y1; j++)
        for (int64_t i = x0; i < x1; i++)
            for (int c = 0; c < 3; c++)
                sum[c] += from->rgb[(j * from->width + i) * 3 + c];
    for (int c = 0; c < 3; c++)
        ret_pixel[c] = (unsigned char)((sum[c] + count / 2) / count);
}

static int scale(const struct ex_picture *from, int width, int height,
                 struct ex_picture *ret_picture)
{
    int full_width = width > 0 ? width : from->width, full_height, top;
    unsigned char *rgb;

    full_height = (int)((int64_t)from->height * full_width / from->width);
    if (full_height < 1)
        full_height = 1;
    if (height <= 0 || height > full_height)
        height = full_height;
    top = (full_height - height) / 2;
    rgb = malloc((size_t)full_width * (size_t)height * 3);
    if (!rgb)
        return -1;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < full_width; x++)
            mean_under(from, x, top + y, full_width, full_height,
                       rgb + ((size_t)y * (size_t)full_width + (size_t)x) * 3);
    *ret_picture = (struct ex_picture){full_width, height, rgb};
    return 0;
}

int ex_picture_read(const char *file, int width, int height, struct ex_picture *ret_picture)
{
    FILE *f = fopen(file, "rb");
    struct ex_picture full;
    int c, rc;

    if (!f) {
        fprintf(stderr, "%s: %s\n", file, strerror(errno));
        return -1;
    }
    c = fgetc(f);
    rewind(f);
    if (c == 0xff)
        rc = read_jpeg(f, file, &full);
    else if (c == 0x89)
        rc = read_png(f, file, &full);
    else {
        fprintf(stderr, "%s: neither a JPEG nor a PNG\n", file);
        rc = -1;
    }
    fclose(f);
    if (rc != 0)
        return -1;
    rc = scale(&full, width, height, ret_picture);
    free(full.rgb);
    if (rc != 0)
        fprintf(stderr, "%s: out of memory at width %d\n", file, width);
    return rc;
}

int ex_picture_write(const char *file, const unsigned char *rgb, int width, int height)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    size_t len = strlen(file);
    char *part = malloc(len + 6);
    int ok;

    if (!part)
        return -1;
    memcpy(part, file, len);
    memcpy(part + len, ".part", 6);
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    ok = png_image_write_to_file(&image, part, 0, rgb, 0, NULL);
    if (!ok)
        fprintf(stderr, "%s: %s\n", part, image.message);
    else if (rename(part, file) != 0) {
        fprintf(stderr, "%s: %s\n", file, strerror(errno));
        ok = 0;
    }
    if (!ok)
        unlink(part);
    free(part);
    return ok ? 0 : -1;
}
