/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of lbd. */
#include "lbd/options.h"

#include <errno.h>
#include <stdio.h>

#include "tests/unit/suite.h"

static struct lbd_options o;
static struct lbx_error err;

static int parse(const char *a, const char *b, const char *c)
{
    char *argv[] = {(char[]){"lbd"}, NULL, NULL, NULL, NULL};
    const char *args[] = {a, b, c};
    char copy[3][128];
    int argc = 1;

    for (int i = 0; i < 3 && args[i]; i++) {
        snprintf(copy[i], sizeof(copy[i]), "%s", args[i]);
        argv[argc++] = copy[i];
    }
    memset(&err, 0, sizeof(err));
    return lbd_options_parse(argc, argv, &o, &err);
}

START_TEST(defaults)
{
    ck_assert_int_eq(parse("--host=n1", NULL, NULL), 0);
    ck_assert(o.node && o.controller && o.metrics_on && !o.config_given);
    ck_assert_str_eq(o.host, "n1");
    ck_assert_str_eq(o.socket, LBW_LOCAL_SOCKET);
    ck_assert_uint_eq(o.listen.port, LBD_PORT_CONTROLLER);
    ck_assert_uint_eq(o.metrics.port, LBD_PORT_METRICS);
    ck_assert_str_eq(o.metrics.host, "");
}
END_TEST

START_TEST(roles_and_addresses)
{
    ck_assert_int_eq(parse("--role=node", "--controller=head", "--metrics=[::1]:80"), 0);
    ck_assert(o.node && !o.controller);
    ck_assert_str_eq(o.controller_at.host, "head");
    ck_assert_uint_eq(o.controller_at.port, LBD_PORT_CONTROLLER);
    ck_assert_str_eq(o.metrics.host, "::1");
    ck_assert_uint_eq(o.metrics.port, 80);
    ck_assert_int_eq(parse("--role=controller", "--listen=:7000", "--metrics=off"), 0);
    ck_assert(!o.node && o.controller && !o.metrics_on);
    ck_assert_str_eq(o.listen.host, "");
    ck_assert_uint_eq(o.listen.port, 7000);
    ck_assert_int_eq(parse("--listen=fe80::1", NULL, NULL), 0);
    ck_assert_str_eq(o.listen.host, "fe80::1");
}
END_TEST

START_TEST(mistakes_are_told)
{
    static const struct {
        const char *a, *b, *reason;
    } t[] = {
        {"--role=nod", NULL, "nod"},
        {"--role=", NULL, "no role"},
        {"--role=node", NULL, "needs --controller"},
        {"--controller=head", NULL, "--role=node"},
        {"--listen=h:70000", NULL, "0 to 65535"},
        {"--listen=h:x", NULL, "0 to 65535"},
        {"--listen=[::1", NULL, "[ADDRESS]"},
        {"--host=a/b", NULL, "a/b"},
        {"--host=", NULL, "host name"},
        {"word", NULL, "word"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        ck_assert_msg(parse(t[i].a, t[i].b, NULL) == -EINVAL, "accepted: %s", t[i].a);
        ck_assert_msg(strstr(err.text, t[i].reason), "%s: %s", t[i].a, err.text);
    }
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("options");

    tcase_add_test(tc, defaults);
    tcase_add_test(tc, roles_and_addresses);
    tcase_add_test(tc, mistakes_are_told);
    return suite_run("lbd/options", tc);
}
