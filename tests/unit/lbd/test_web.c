/* SPDX-License-Identifier: BSD-3-Clause */
/* web.yml: what is taken, what is refused and where; passwords; and where the lbds are. */
#include "lbd/metrics/webconf.h"

#include <errno.h>

#include "common/clock.h"
#include "lbd/metrics/users.h"
#include "lbd/targets.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/* bcrypt of "secret", cost 4. */
#define HASH "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"

static char folder[64], path[128];

static int read_conf(const char *text, struct lbd_webconf *c, struct lbx_error *err)
{
    write_file(folder, "web.yml", text);
    snprintf(path, sizeof(path), "%s/web.yml", folder);
    err->text[0] = '\0';
    return lbd_webconf_read(path, c, err);
}

START_TEST(what_is_right)
{
    struct lbx_error err;
    struct lbd_webconf c;

    make_folder(folder);
    ck_assert_int_eq(lbd_webconf_read(NULL, &c, &err), 0);
    ck_assert(!c.tls && c.nusers == 0);
    ck_assert_int_eq(read_conf("", &c, &err), 0);
    ck_assert(!c.tls && c.nusers == 0);
    ck_assert_int_eq(read_conf("basic_auth_users:\n", &c, &err), 0);
    lbd_webconf_fini(&c);
    ck_assert_msg(
        read_conf("http_server_config:\n  http2: false\n  headers:\n    x-frame-options: deny\n"
                  "basic_auth_users:\n  ada: " HASH "\n  \"b c\": " HASH "\n",
                  &c, &err) == 0,
        "%s", err.text);
    ck_assert_uint_eq(c.nusers, 2);
    ck_assert_str_eq(c.user[1].name, "b c");
    ck_assert_uint_eq(c.nheaders, 1);
    ck_assert_str_eq(c.header[0].name, "X-Frame-Options");
    lbd_webconf_fini(&c);
    remove_folder(folder);
}
END_TEST

static const struct {
    const char *text, *said;
} wrong[] = {
    {"a: [\n", "web.yml:2: "},
    {"- a\n", "web.yml:1: here must be keys"},
    {"\nbasic_auth_user:\n  a: b\n",
     "web.yml:2: key basic_auth_user is not known here; there are: tls_server_config,"},
    {"http_server_config:\n  http2: yes please\n", "web.yml:2: http2"},
    {"http_server_config:\n  headers:\n    Set-Cookie: a\n", "web.yml:3: header"},
    {"http_server_config:\n  headers:\n    X-Frame-Options: \"a\\nb\"\n",
     "web.yml:3: here must be one line"},
    {"basic_auth_users:\n  a: secret\n", "web.yml:2: here must be a bcrypt hash"},
    {"basic_auth_users:\n  a: $2y$10$tooshort\n", "web.yml:2: here must be a bcrypt hash"},
    {"basic_auth_users:\n  a: $2b$31$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n",
     "web.yml:2: the cost"},
    {"basic_auth_users:\n  a: " HASH "\n  a: " HASH "\n", "web.yml:3: is there twice: a"},
    {"basic_auth_users:\n  \"a:b\": " HASH "\n", "web.yml:2: a user's name"},
    {"basic_auth_users:\n  \"\": " HASH "\n", "web.yml:2: a user's name"},
    {"basic_auth_users:\n  ? [a]\n  : " HASH "\n", "web.yml:2: a key must be a word"},
    {"tls_server_config:\n  cert_file: none.pem\n", "web.yml:2: none.pem: No such file"},
    {"tls_server_config:\n  cert_file:\n", "web.yml:2: here must be the name"},
    {"tls_server_config:\n  min_version: TLS10\n",
     "web.yml:2: min_version: TLS12 or TLS13, not TLS10"},
    {"tls_server_config:\n  client_auth_type: RequestClientCert\n", "web.yml:2: client_auth_type"},
    {"tls_server_config:\n  cipher_suites: [a]\n",
     "web.yml:2: key cipher_suites is not known here"},
    {"tls_server_config:\n  min_version: TLS13\n", "web.yml:2: tls_server_config needs cert_file"},
    {"tls_server_config:\n  cert_file: web.yml\n  key_file: web.yml\n",
     "web.yml:2: certificate, key"},
};

START_TEST(what_is_wrong_is_named)
{
    struct lbx_error err;
    struct lbd_webconf c = {.nusers = 77};

    make_folder(folder);
    ck_assert_int_eq(read_conf(wrong[_i].text, &c, &err) < 0, 1);
    ck_assert_msg(strstr(err.text, wrong[_i].said), "'%s' says '%s', not '%s'", wrong[_i].text,
                  err.text, wrong[_i].said);
    ck_assert_uint_eq(c.nusers, 77); /* untouched */
    remove_folder(folder);
}
END_TEST

START_TEST(no_file_is_an_error)
{
    struct lbx_error err;
    struct lbd_webconf c;

    ck_assert_int_eq(lbd_webconf_read("/nowhere/web.yml", &c, &err), -ENOENT);
    ck_assert_ptr_nonnull(strstr(err.text, "/nowhere/web.yml"));
}
END_TEST

START_TEST(passwords)
{
    struct lbd_web_user user = {"ada", HASH};
    struct lbd_webconf c = {.nusers = 1, .user = &user};
    struct lbd_users *u = lbd_users_create(&c);
    int64_t now_ns = lbx_clock_mono_ns();
    char name[16];
    int rc = 0;

    ck_assert_ptr_nonnull(u);
    ck_assert_int_eq(lbd_users_check(u, "ada", "secret", now_ns), 0);
    ck_assert_int_eq(lbd_users_check(u, "ada", "Secret", now_ns), -EACCES);
    ck_assert_int_eq(lbd_users_check(u, "ada", "", now_ns), -EACCES);
    ck_assert_int_eq(lbd_users_check(u, "bob", "secret", now_ns), -EACCES);
    ck_assert_int_eq(lbd_users_check(u, "", "secret", now_ns), -EACCES);
    /* guessing is slowed down; what is known to be right is not */
    for (int i = 0; i < 20 && rc != -EAGAIN; i++) {
        snprintf(name, sizeof(name), "guess%d", i);
        rc = lbd_users_check(u, "ada", name, now_ns);
        ck_assert_int_ne(rc, 0);
    }
    ck_assert_int_eq(rc, -EAGAIN);
    ck_assert_int_eq(lbd_users_check(u, "ada", "secret", now_ns), 0);
    ck_assert_int_eq(lbd_users_check(u, "bob", "secret", now_ns), -EACCES);
    ck_assert_int_eq(lbd_users_check(u, "ada", "new", now_ns), -EAGAIN);
    ck_assert_int_eq(lbd_users_check(u, "ada", "new", now_ns + 10 * LBX_NS_PER_S), -EACCES);
    lbd_users_destroy(u);
}
END_TEST

static const char config[] = "Configuration data as of now\nClusterName             = one\n"
                             "SlurmctldHost[0]        = head(10.0.0.1)\n";

START_TEST(targets)
{
    struct lbd_options o = {.host = "head", .controller = true, .metrics = {"", 6826}};
    struct lbx_error err = {0};
    char *json;

    ck_assert_int_eq(
        lbd_targets_from("n2 10.0.0.3\nn1 n1\nn2 10.0.0.3\nbad;name x\nn3\nn4 a\"b\nn5 fe80::1\n",
                         config, &o, false, &json, &err),
        0);
    ck_assert_str_eq(
        json,
        "[\n"
        " {\n  \"targets\": [\n   \"n1:6826\"\n  ],\n  \"labels\": {\n   \"cluster\": \"one\",\n"
        "   \"node\": \"n1\"\n  }\n },\n"
        " {\n  \"targets\": [\n   \"10.0.0.3:6826\"\n  ],\n  \"labels\": {\n   \"cluster\": "
        "\"one\",\n"
        "   \"node\": \"n2\"\n  }\n },\n"
        " {\n  \"targets\": [\n   \"[fe80::1]:6826\"\n  ],\n  \"labels\": {\n   \"cluster\": "
        "\"one\",\n"
        "   \"node\": \"n5\"\n  }\n },\n"
        " {\n  \"targets\": [\n   \"10.0.0.1:6826\"\n  ],\n  \"labels\": {\n   \"cluster\": "
        "\"one\",\n"
        "   \"node\": \"head\"\n  }\n }\n]");
    free(json);
    o.controller = false;
    ck_assert_int_eq(lbd_targets_from("n1 n1\n", config, &o, true, &json, &err), 0);
    ck_assert_ptr_nonnull(strstr(json, "\"__scheme__\": \"https\""));
    ck_assert_ptr_null(strstr(json, "head"));
    free(json);
    o = (struct lbd_options){.host = "n1", .controller = true, .metrics = {"", 1}};
    ck_assert_int_eq(lbd_targets_from("n1 n1\n", "", &o, false, &json, &err), 0);
    ck_assert_ptr_null(
        strstr(strstr(json, "n1:1") + 1, "n1:1")); /* once, though node and controller */
    free(json);
    ck_assert_int_eq(lbd_targets_from("", "", &o, false, &json, &err), 0);
    ck_assert_ptr_nonnull(strstr(json, "n1:1"));
    free(json);
}
END_TEST

int main(void)
{
    TCase *tc = suite_case("web");

    tcase_add_test(tc, what_is_right);
    tcase_add_loop_test(tc, what_is_wrong_is_named, 0, sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_test(tc, no_file_is_an_error);
    tcase_add_test(tc, passwords);
    tcase_add_test(tc, targets);
    return suite_run("lbd/web", tc);
}
