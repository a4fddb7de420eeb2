/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * denoise.c - take the noise out of a photograph by non-local means.  One iteration is a row of the
 * picture.
 *
 * Each pixel becomes the mean of the pixels round it, weighted by how alike the patches round them
 * are (Buades, Coll and Morel 2005).  The noisy picture is on every rank; the rows of the result
 * travel with their iterations.  Sums are of integers, so the result is the same to the last bit
 * wherever a row is computed.
 */
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/aid.h"
#include "examples/picture.h"

#define PHOTO "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg"

static int64_t width = 512, height = -1, radius = 2, search = 7, seed = 1;
static double noise = 25, strength = 0.8;
static int serial, check, report, estimate;
static const char *input = PHOTO, *output, *before, *both, *progress = "none";

static const struct ex_option options[] = {
    {"input", EX_TEXT, &input, 0, 0, "a JPEG or PNG"},
    {"width", EX_INT, &width, 1, 20000, "scale it to this many pixels"},
    {"height", EX_INT, &height, -1, 20000, "rows to keep of its middle; -1: all"},
    {"radius", EX_INT, &radius, 0, 10, "of a patch, pixels"},
    {"search", EX_INT, &search, 0, 100, "how far to look for similar patches, pixels"},
    {"noise", EX_REAL, &noise, 0, 0, "standard deviation of the noise that is added, of 255"},
    {"strength", EX_REAL, &strength, 0, 0, "of the filter, in units of the noise"},
    {"seed", EX_INT, &seed, 0, INT64_MAX, "of the noise"},
    {"output", EX_TEXT, &output, 0, 0, "write the result here, PNG"},
    {"before", EX_TEXT, &before, 0, 0, "write the noisy picture here, PNG"},
    {"both", EX_TEXT, &both, 0, 0, "write both here, side by side, PNG"},
    {"serial", EX_FLAG, &serial, 0, 0, "the plain program: no MPI, no balancing"},
    {"estimate", EX_FLAG, &estimate, 0, 0, "compute some rows and say how long all would take"},
    {"check", EX_FLAG, &check, 0, 0, "compare with the plain program"},
    {"report", EX_FLAG, &report, 0, 0, "print what each rank had"},
    {"progress", EX_TEXT, &progress, 0, 0, "none, live, lines"},
    {0},
};

enum { WEIGHT_STEPS = 4096 };
static int32_t
    weight_of[WEIGHT_STEPS]; /* by mean squared difference of two patches, WEIGHT_STEPS to 65536 */

/* The picture with its edges mirrored outwards, so that no pixel needs a check. */
static struct {
    int width, height, margin, stride; /* pixels; stride counts both margins */
    unsigned char *rgb;
} noisy;

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Nearly normal: twelve even ones added up. */
static void add_noise(struct ex_picture *p)
{
    uint64_t state = (uint64_t)seed;

    for (size_t i = 0; i < (size_t)p->width * (size_t)p->height * 3; i++) {
        double sum = -6, v;

        for (int k = 0; k < 12; k++)
            sum += (double)(next_random(&state) >> 11) * 0x1p-53;
        v = p->rgb[i] + noise * sum + 0.5;
        p->rgb[i] = (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
}

static int mirrored(int v, int size)
{
    int period = 2 * size;

    v = ((v % period) + period) % period;
    return v < size ? v : period - 1 - v;
}

static int add_margins(const struct ex_picture *p)
{
    int margin = (int)(radius + search);

    noisy.width = p->width;
    noisy.height = p->height;
    noisy.margin = margin;
    noisy.stride = p->width + 2 * margin;
    noisy.rgb = malloc((size_t)noisy.stride * (size_t)(p->height + 2 * margin) * 3);
    if (!noisy.rgb)
        return -1;
    for (int y = -margin; y < p->height + margin; y++)
        for (int x = -margin; x < p->width + margin; x++)
            memcpy(noisy.rgb +
                       ((size_t)(y + margin) * (size_t)noisy.stride + (size_t)(x + margin)) * 3,
                   p->rgb + ((size_t)mirrored(y, p->height) * (size_t)p->width +
                             (size_t)mirrored(x, p->width)) *
                                3,
                   3);
    return 0;
}

/* How alike two patches look once the noise, which differs in both, is taken off: 65536 for the
 * same. */
static void make_weights(void)
{
    double sigma2 = noise * noise, h2 = strength * strength * sigma2;

    for (int i = 0; i < WEIGHT_STEPS; i++) {
        double difference2 = i * 65536.0 / WEIGHT_STEPS - 2 * sigma2;

        weight_of[i] = difference2 <= 0 ? 65536
                       : h2 > 0         ? (int32_t)(65536 * exp(-difference2 / h2))
                                        : 0;
    }
}

static int64_t patch_difference(const unsigned char *a, const unsigned char *b)
{
    const int row = (int)(2 * radius + 1) * 3;
    int64_t sum = 0;

    for (int64_t k = 0; k <= 2 * radius; k++) {
        int32_t part = 0;

        for (int i = 0; i < row; i++) {
            int d = a[i] - b[i];

            part += d * d;
        }
        sum += part;
        a += (size_t)noisy.stride * 3;
        b += (size_t)noisy.stride * 3;
    }
    return sum;
}

static void denoise_row(unsigned char *row, int64_t y)
{
    const int64_t stride = (int64_t)noisy.stride * 3, side = 2 * radius + 1;
    const int64_t centre = radius * stride + radius * 3,
                  per_step = side * side * 3 * (65536 / WEIGHT_STEPS);

    for (int x = 0; x < noisy.width; x++) {
        /* upper left corner of the patch round this pixel */
        const unsigned char *here = noisy.rgb + (y + search) * stride + (x + search) * 3;
        int64_t sum[3] = {0, 0, 0}, weights = 0;

        for (int64_t dy = -search; dy <= search; dy++)
            for (int64_t dx = -search; dx <= search; dx++) {
                const unsigned char *there = here + dy * stride + dx * 3;
                int64_t w = weight_of[patch_difference(here, there) / per_step];

                weights += w;
                for (int c = 0; c < 3; c++)
                    sum[c] += w * there[centre + c];
            }
        /* a pixel is always like itself, so weights is above 0 unless the noise is 0 */
        for (int c = 0; c < 3; c++)
            row[3 * x + c] =
                (unsigned char)(weights ? (sum[c] + weights / 2) / weights : here[centre + c]);
    }
}

static int make_noisy(struct ex_picture *ret_picture)
{
    struct ex_picture p;

    if (ex_picture_read(input, (int)width,
                        height < 0    ? 0
                        : height == 0 ? 1
                                      : (int)height,
                        &p) != 0) {
        if (strcmp(input, PHOTO) == 0)
            fprintf(stderr, "denoise: the photograph is in Debian's package "
                            "python-matplotlib-data; --input takes another\n");
        return -1;
    }
    add_noise(&p);
    if (before && ex_picture_write(before, p.rgb, p.width, p.height) != 0) {
        free(p.rgb);
        return -1;
    }
    *ret_picture = p;
    return 0;
}

static int64_t rows(void)
{
    return height == 0 ? 0 : noisy.height;
}

/* The noisy picture and the result, side by side. */
static int write_both(const unsigned char *result)
{
    const size_t row_bytes = (size_t)noisy.width * 3;
    unsigned char *rgb = malloc((size_t)noisy.height * row_bytes * 2);
    int rc;

    if (!rgb)
        return -1;
    for (int y = 0; y < noisy.height; y++) {
        const size_t at = (size_t)(y + noisy.margin) * (size_t)noisy.stride + (size_t)noisy.margin;

        memcpy(rgb + (size_t)y * row_bytes * 2, noisy.rgb + at * 3, row_bytes);
        memcpy(rgb + (size_t)y * row_bytes * 2 + row_bytes, result + (size_t)y * row_bytes,
               row_bytes);
    }
    rc = ex_picture_write(both, rgb, 2 * noisy.width, noisy.height);
    free(rgb);
    return rc;
}

/* Write the pictures that are wanted; the checksum of the result. */
static uint64_t finish(const unsigned char *result)
{
    if (rows() > 0 && output && ex_picture_write(output, result, noisy.width, noisy.height) != 0)
        exit(1);
    if (rows() > 0 && both && write_both(result) != 0)
        exit(1);
    return ex_checksum(EX_CHECKSUM_INIT, result, (size_t)rows() * (size_t)noisy.width * 3);
}

static uint64_t run_serial(void)
{
    const size_t row_bytes = (size_t)noisy.width * 3;
    struct ex_progress *p =
        serial ? ex_progress_begin(ex_progress_mode_of(progress), "denoise", rows()) : NULL;
    unsigned char *result = malloc((size_t)noisy.height * row_bytes);
    uint64_t sum;

    if (!result) {
        fprintf(stderr, "denoise: out of memory\n");
        exit(1);
    }
    for (int64_t y = 0; y < rows(); y++) {
        denoise_row(result + (size_t)y * row_bytes, y);
        ex_progress_tick(p, 1);
    }
    ex_progress_end(p);
    if (serial)
        sum = finish(result);
    else /* to compare with: the pictures are written */
        sum = ex_checksum(EX_CHECKSUM_INIT, result, (size_t)rows() * row_bytes);
    free(result);
    return sum;
}

static void run_estimate(void)
{
    unsigned char *row = malloc((size_t)noisy.width * 3);
    double began_s = ex_thread_cpu_s();
    int64_t done = 0;

    if (!row)
        exit(1);
    for (int64_t y = 0; y < rows() && ex_thread_cpu_s() - began_s < 1.0;
         y += 1 + rows() / 16, done++)
        denoise_row(row, y);
    free(row);
    printf("estimate cpu_s=%.3f\n",
           done ? (ex_thread_cpu_s() - began_s) / (double)done * (double)rows() : 0.0);
}

static uint64_t run_balanced(lb_ctx *ctx)
{
    const size_t row_bytes = (size_t)noisy.width * 3;
    unsigned char *result = lb_array_alloc(ctx, rows(), row_bytes);
    struct ex_progress *p;
    uint64_t sum = 0;
    double began_s;
    int64_t first, last;

    if (rows() > 0 && !result) {
        fprintf(stderr, "denoise: out of address space\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    p = ex_progress_begin(ex_progress_mode_of(progress), "denoise", rows());
    MPI_Barrier(MPI_COMM_WORLD);
    began_s = ex_now_s();

    lb_loop *l = lb_loop_open(ctx, "rows", rows());
    lb_loop_array(l, result, row_bytes);
    while (lb_loop_next(l, &first, &last))
        for (int64_t y = first; y < last; y++) {
            denoise_row(result + (size_t)y * row_bytes, y);
            ex_progress_tick(p, 1);
        }

    if (report)
        ex_report(l, began_s, ex_now_s());
    ex_progress_end(p);
    ex_collect(l, result, "denoise");
    if (lb_rank(ctx) == 0)
        sum = finish(result);
    lb_loop_close(l);
    lb_array_free(ctx, result);
    return sum;
}

/* Rank 0 reads the photograph and gives it to the others. */
static void spread_noisy(lb_ctx *ctx, struct ex_picture *p)
{
    int shape[2] = {0, 0};

    if (lb_rank(ctx) == 0 && make_noisy(p) == 0) {
        shape[0] = p->width;
        shape[1] = p->height;
    }
    MPI_Bcast(shape, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (shape[0] == 0) { /* rank 0 has said why */
        lb_finalize(ctx);
        MPI_Finalize();
        exit(1);
    }
    if (lb_rank(ctx) != 0)
        *p = (struct ex_picture){shape[0], shape[1],
                                 malloc((size_t)shape[0] * (size_t)shape[1] * 3)};
    if (!p->rgb)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(p->rgb, shape[0] * shape[1] * 3, MPI_BYTE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct ex_picture p = {0, 0, NULL};
    lb_ctx *ctx = NULL;
    uint64_t sum;
    int status = 0, plain;

    ex_options(argc, argv, "non-local-means denoising of a photograph, balanced over the ranks",
               options);
    ex_progress_mode_of(progress);
    plain = serial || estimate;
    if (plain) {
        if (make_noisy(&p) != 0)
            return 1;
    } else {
        MPI_Init(&argc, &argv);
        ctx = lb_init();
        spread_noisy(ctx, &p);
    }
    make_weights();
    if (add_margins(&p) != 0) {
        fprintf(stderr, "denoise: out of memory\n");
        return 1;
    }
    free(p.rgb);
    if (estimate) {
        run_estimate();
    } else {
        sum = plain ? run_serial() : run_balanced(ctx);
        status = ex_result(ctx, sum, check && !plain, run_serial);
    }
    free(noisy.rgb);
    if (!plain) {
        lb_finalize(ctx);
        MPI_Finalize();
    }
    return status;
}
