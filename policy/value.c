/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of keys: durations, ratios, numbers and paths out of a person's text, or what is wrong with them. */
#include "policy/value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct lbp_shown lbp_piece_show(struct lbp_piece p)
{
    struct lbp_shown s;
    size_t n = p.n < LBP_SHOWN_MAX ? p.n : LBP_SHOWN_MAX;

    for (size_t i = 0; i < n; i++)
        s.text[i] = p.at[i] >= ' ' && p.at[i] <= '~' ? p.at[i] : '?';
    strcpy(s.text + n, p.n > LBP_SHOWN_MAX ? "..." : "");
    return s;
}

bool lbp_piece_is(struct lbp_piece p, const char *name)
{
    return strlen(name) == p.n && memcmp(p.at, name, p.n) == 0;
}

/* A decimal number, digits[.digits], as a multiple of 1 / scale; not strtod(), which obeys the
 * locale. */
static int parse_decimal(struct lbp_piece *p, int64_t scale, int64_t max, int64_t *ret)
{
    int64_t value = 0, place = scale;
    size_t i = 0, digits = 0;

    for (; i < p->n && p->at[i] >= '0' && p->at[i] <= '9'; i++, digits++) {
        if (value > max / 10)
            return -ERANGE;
        value = value * 10 + (p->at[i] - '0') * scale;
        if (value > max)
            return -ERANGE;
    }
    if (i < p->n && p->at[i] == '.')
        for (i++; i < p->n && p->at[i] >= '0' && p->at[i] <= '9'; i++, digits++) {
            place /= 10; /* digits below 1 / scale count for nothing */
            value += (p->at[i] - '0') * place;
        }
    if (digits == 0)
        return -EINVAL;
    p->at += i;
    p->n -= i;
    *ret = value;
    return 0;
}

static int parse_duration(struct lbp_piece p, int64_t *ret_ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } unit[] = {
        {"", LBP_NS_PER_S}, {"s", LBP_NS_PER_S},      {"ms", 1000000},           {"us", 1000},
        {"ns", 1},          {"m", 60 * LBP_NS_PER_S}, {"h", 3600 * LBP_NS_PER_S}};

    size_t digits = 0;

    while (digits < p.n && strchr("0123456789.", p.at[digits]) && p.at[digits])
        digits++;
    /* The unit first: what is too much in seconds may be little in nanoseconds. */
    for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
        struct lbp_piece rest = {p.at + digits, p.n - digits};
        int ret;

        if (!lbp_piece_is(rest, unit[i].name))
            continue;
        rest = p;
        ret = parse_decimal(&rest, unit[i].ns, INT64_MAX / 16, ret_ns);
        return ret < 0 || lbp_piece_is(rest, unit[i].name) ? ret : -EINVAL;
    }
    return -EINVAL;
}

struct lbp_shown lbp_duration_show(int64_t ns)
{
    struct lbp_shown shown;

    if (ns % LBP_NS_PER_S == 0)
        snprintf(shown.text, sizeof(shown.text), "%" PRId64 "s", ns / LBP_NS_PER_S);
    else if (ns % 1000000 == 0)
        snprintf(shown.text, sizeof(shown.text), "%" PRId64 "ms", ns / 1000000);
    else if (ns % 1000 == 0)
        snprintf(shown.text, sizeof(shown.text), "%" PRId64 "us", ns / 1000);
    else
        snprintf(shown.text, sizeof(shown.text), "%" PRId64 "ns", ns);
    return shown;
}

int lbp_value_duration(struct lbp_piece value, const char *key, int64_t min_ns, int64_t max_ns,
                       int64_t *ret_ns, struct lbx_error *err)
{
    int64_t ns = 0;
    int ret = parse_duration(value, &ns);

    if (ret == -EINVAL)
        return lbx_error_set(err, -EINVAL,
                             "%s=%s is no duration: write it as 50ms, 0.5s, 5m, 1h or 2 (seconds)",
                             key, lbp_piece_show(value).text);
    if (ret < 0 || ns < min_ns || ns > max_ns)
        return lbx_error_set(err, -EINVAL, "%s=%s is out of range: %s to %s", key,
                             lbp_piece_show(value).text, lbp_duration_show(min_ns).text,
                             lbp_duration_show(max_ns).text);
    *ret_ns = ns;
    return 0;
}

int lbp_value_ratio(struct lbp_piece value, const char *key, int64_t max_micro, double *ret_ratio,
                    struct lbx_error *err)
{
    struct lbp_piece rest = value;
    int64_t micro = 0;
    int ret = parse_decimal(&rest, LBP_MICRO, INT64_MAX / 16, &micro);

    if (ret == -EINVAL || rest.n > 0)
        return lbx_error_set(err, -EINVAL, "%s=%s is no ratio: write it as 0.1", key,
                             lbp_piece_show(value).text);
    if (ret < 0 || micro > max_micro)
        return lbx_error_set(err, -EINVAL, "%s=%s is out of range: 0 to %g", key,
                             lbp_piece_show(value).text, (double)max_micro / LBP_MICRO);
    *ret_ratio = (double)micro / LBP_MICRO;
    return 0;
}

int lbp_value_number(struct lbp_piece value, const char *key, int64_t max, int64_t *ret,
                     struct lbx_error *err)
{
    struct lbp_piece rest = value;
    int64_t number = 0;
    int rc = value.n > 0 && memchr(value.at, '.', value.n) ? -EINVAL
                                                           : parse_decimal(&rest, 1, max, &number);

    if (rc == -EINVAL || (rc == 0 && rest.n > 0))
        return lbx_error_set(err, -EINVAL, "%s=%s is no whole number: write it as 64", key,
                             lbp_piece_show(value).text);
    if (rc < 0 || number < 1)
        return lbx_error_set(err, -EINVAL, "%s=%s is out of range: 1 to %" PRId64, key,
                             lbp_piece_show(value).text, max);
    *ret = number;
    return 0;
}

int lbp_value_choice(struct lbp_piece value, const char *key, bool *ret, struct lbx_error *err)
{
    if (!lbp_piece_is(value, "yes") && !lbp_piece_is(value, "no"))
        return lbx_error_set(err, -EINVAL, "%s=%s is neither yes nor no", key,
                             lbp_piece_show(value).text);
    *ret = lbp_piece_is(value, "yes");
    return 0;
}

int lbp_value_path(struct lbp_piece value, const char *key, size_t size, char *ret_path,
                   struct lbx_error *err)
{
    if (value.n == 0)
        return lbx_error_set(err, -EINVAL, "%s= needs the name of a file", key);
    if (value.n >= size)
        return lbx_error_set(err, -EINVAL, "%s=%s is too long: at most %zu bytes", key,
                             lbp_piece_show(value).text, size - 1);
    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.at[i] < ' ' || value.at[i] == 127)
            return lbx_error_set(err, -EINVAL, "%s=%s has a control character in its name", key,
                                 lbp_piece_show(value).text);
    memcpy(ret_path, value.at, value.n);
    ret_path[value.n] = '\0';
    return 0;
}
