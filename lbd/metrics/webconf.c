/* SPDX-License-Identifier: BSD-3-Clause */
/* web.yml read. */
#include "lbd/metrics/webconf.h"

#include <crypt.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#define FILE_MOST ((size_t)256 << 10)

struct reader {
    const char *path;
    yaml_document_t doc;
    struct lbd_webconf *conf;
    struct lbx_error *err;
};

/* Where a key's value is put. */
struct key {
    const char *name;
    int (*take)(struct reader *r, const yaml_node_t *value);
};

static int fail(struct reader *r, const yaml_node_t *at, const char *what, const char *word)
{
    return lbx_error_set(r->err, -EINVAL, "%s:%zu: %s%s%s", r->path, at->start_mark.line + 1, what,
                         word ? " " : "", word ? word : "");
}

static const char *text_of(const yaml_node_t *n)
{
    const char *text = n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;

    return text && strlen(text) == n->data.scalar.length ? text : NULL; /* a NUL within is none */
}

/* Nothing after the colon is an empty section. */
static bool is_empty(const yaml_node_t *n)
{
    const char *text = text_of(n);

    return text && (!*text || strcmp(text, "null") == 0 || strcmp(text, "~") == 0);
}

typedef int each_pair(struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                      const void *data);

static int for_each(struct reader *r, const yaml_node_t *map, each_pair *f, const void *data)
{
    int rc = 0;

    if (is_empty(map))
        return 0;
    if (map->type != YAML_MAPPING_NODE)
        return fail(r, map, "here must be keys with values", NULL);
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start;
         rc == 0 && p < map->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = yaml_document_get_node(&r->doc, p->key);

        if (!text_of(key))
            return fail(r, key, "a key must be a word", NULL);
        for (yaml_node_pair_t *q = map->data.mapping.pairs.start; q < p; q++)
            if (strcmp(text_of(yaml_document_get_node(&r->doc, q->key)), text_of(key)) == 0)
                return fail(r, key, "is there twice:", text_of(key));
        rc = f(r, key, yaml_document_get_node(&r->doc, p->value), data);
    }
    return rc;
}

static int take_known(struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                      const void *data)
{
    char names[256] = "";

    for (const struct key *k = data; k->name; k++) {
        if (strcmp(k->name, text_of(key)) == 0)
            return k->take(r, value);
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", names[0] ? ", " : "",
                 k->name);
    }
    return lbx_error_set(r->err, -EINVAL, "%s:%zu: key %s is not known here; there are: %s",
                         r->path, key->start_mark.line + 1, text_of(key), names);
}

/* A whole file, NUL-terminated; relative to the folder of web.yml. */
static int read_file(const char *beside, const char *name, char **ret_text)
{
    const char *slash = strrchr(beside, '/');
    char path[4096], *text;
    FILE *f;
    size_t n;
    int rc = 0;

    if (name[0] == '/' || !slash)
        snprintf(path, sizeof(path), "%s", name);
    else
        snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - beside), beside, name);
    f = fopen(path, "re");
    if (!f)
        return -errno;
    text = malloc(FILE_MOST + 1);
    n = text ? fread(text, 1, FILE_MOST + 1, f) : 0;
    if (!text)
        rc = -ENOMEM;
    else if (ferror(f))
        rc = -EIO;
    else if (n > FILE_MOST)
        rc = -EFBIG;
    fclose(f);
    if (rc < 0) {
        free(text);
        return rc;
    }
    text[n] = '\0';
    *ret_text = text;
    return 0;
}

static int take_file(struct reader *r, const yaml_node_t *value, char **ret)
{
    const char *name = text_of(value);
    int rc;

    if (!name || !*name)
        return fail(r, value, "here must be the name of a file", NULL);
    rc = read_file(r->path, name, ret);
    return rc < 0 ? lbx_error_set(r->err, rc, "%s:%zu: %s: %s", r->path, value->start_mark.line + 1,
                                  name, strerror(-rc))
                  : 0;
}

static int take_cert(struct reader *r, const yaml_node_t *value)
{
    return take_file(r, value, &r->conf->cert);
}

static int take_key(struct reader *r, const yaml_node_t *value)
{
    return take_file(r, value, &r->conf->key);
}

static int take_client_ca(struct reader *r, const yaml_node_t *value)
{
    return take_file(r, value, &r->conf->client_ca);
}

static int take_client_auth(struct reader *r, const yaml_node_t *value)
{
    const char *text = text_of(value);

    r->conf->client_auth = text && strcmp(text, "RequireAndVerifyClientCert") == 0;
    if (r->conf->client_auth)
        return 0;
    if (text && (strcmp(text, "NoClientCert") == 0 || !*text))
        return 0;
    return fail(r, value,
                "client_auth_type: here are NoClientCert and RequireAndVerifyClientCert, not",
                text ? text : "this");
}

static int take_min_version(struct reader *r, const yaml_node_t *value)
{
    const char *text = text_of(value);

    if (text && strcmp(text, "TLS13") == 0)
        strcpy(r->conf->priorities, "NORMAL:-VERS-ALL:+VERS-TLS1.3");
    else if (!text || strcmp(text, "TLS12") != 0)
        return fail(r, value, "min_version: TLS12 or TLS13, not", text ? text : "this");
    return 0;
}

static int take_tls(struct reader *r, const yaml_node_t *value)
{
    static const struct key keys[] = {
        {"cert_file", take_cert},           {"key_file", take_key},
        {"client_ca_file", take_client_ca}, {"client_auth_type", take_client_auth},
        {"min_version", take_min_version},  {NULL, NULL}};
    struct lbd_webconf *c = r->conf;
    gnutls_certificate_credentials_t credentials;
    gnutls_datum_t cert, key;
    int rc = for_each(r, value, take_known, keys);

    if (rc < 0 || is_empty(value))
        return rc;
    if (!c->cert || !c->key)
        return fail(r, value, "tls_server_config needs cert_file and key_file", NULL);
    if (c->client_auth != (c->client_ca != NULL))
        return fail(r, value,
                    "client_ca_file and client_auth_type: RequireAndVerifyClientCert go together",
                    NULL);
    c->tls = true;
    cert = (gnutls_datum_t){(unsigned char *)c->cert, (unsigned)strlen(c->cert)};
    key = (gnutls_datum_t){(unsigned char *)c->key, (unsigned)strlen(c->key)};
    rc = gnutls_certificate_allocate_credentials(&credentials);
    if (rc < 0)
        return fail(r, value, gnutls_strerror(rc), NULL);
    rc = gnutls_certificate_set_x509_key_mem(credentials, &cert, &key, GNUTLS_X509_FMT_PEM);
    if (rc >= 0 && c->client_ca) {
        cert = (gnutls_datum_t){(unsigned char *)c->client_ca, (unsigned)strlen(c->client_ca)};
        rc = gnutls_certificate_set_x509_trust_mem(credentials, &cert, GNUTLS_X509_FMT_PEM);
        if (rc == 0)
            rc = GNUTLS_E_NO_CERTIFICATE_FOUND;
    }
    gnutls_certificate_free_credentials(credentials);
    return rc < 0 ? fail(r, value,
                         "certificate, key and client_ca_file do not do:", gnutls_strerror(rc))
                  : 0;
}

/* The toolkit's keys for both; we speak HTTP/1.1 alone. */
static int take_http2(struct reader *r, const yaml_node_t *value)
{
    const char *text = text_of(value);

    if (text && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        return 0;
    return fail(r, value, "http2: true or false", NULL);
}

static int take_header(struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                       const void *data)
{
    static const char *const known[] = {"Strict-Transport-Security", "X-Content-Type-Options",
                                        "X-Frame-Options",           "X-XSS-Protection",
                                        "Content-Security-Policy",   NULL};
    struct lbd_webconf *c = r->conf;

    (void)data;
    for (int i = 0; known[i]; i++) {
        if (strcasecmp(known[i], text_of(key)) != 0)
            continue;
        if (!text_of(value) || strpbrk(text_of(value), "\r\n"))
            return fail(r, value, "here must be one line of text", NULL);
        c->header[c->nheaders].name = known[i];
        c->header[c->nheaders].value = strdup(text_of(value));
        return c->header[c->nheaders++].value ? 0 : lbx_error_set(r->err, -ENOMEM, "out of memory");
    }
    return fail(r, key, "header is not one that may be set here:", text_of(key));
}

static int take_headers(struct reader *r, const yaml_node_t *value)
{
    return for_each(r, value, take_header, NULL);
}

static int take_http(struct reader *r, const yaml_node_t *value)
{
    static const struct key keys[] = {
        {"http2", take_http2}, {"headers", take_headers}, {NULL, NULL}};

    return for_each(r, value, take_known, keys);
}

static int take_user(struct reader *r, const yaml_node_t *key, const yaml_node_t *value,
                     const void *data)
{
    struct lbd_webconf *c = r->conf;
    const char *name = text_of(key), *hash = text_of(value);

    (void)data;
    if (!*name || strlen(name) >= LBD_WEB_NAME_MAX || strchr(name, ':'))
        return fail(r, key, "a user's name has 1 to 127 bytes and no colon", NULL);
    if (c->nusers == LBD_WEB_USERS_MAX)
        return fail(r, key, "more than 64 users", NULL);
    if (!hash || strlen(hash) != 60 ||
        (strncmp(hash, "$2y$", 4) != 0 && strncmp(hash, "$2b$", 4) != 0 &&
         strncmp(hash, "$2a$", 4) != 0) ||
        crypt_checksalt(hash) == CRYPT_SALT_INVALID)
        return fail(r, value,
                    "here must be a bcrypt hash (htpasswd -nBC 10 \"\") of the password of", name);
    if (atoi(hash + 4) > LBD_WEB_COST_MOST)
        return fail(r, value, "the cost of this hash is above 14, seconds for each question: user",
                    name);
    strcpy(c->user[c->nusers].name, name);
    strcpy(c->user[c->nusers++].hash, hash);
    return 0;
}

static int take_users(struct reader *r, const yaml_node_t *value)
{
    r->conf->user = calloc(LBD_WEB_USERS_MAX, sizeof(*r->conf->user));
    if (!r->conf->user)
        return lbx_error_set(r->err, -ENOMEM, "out of memory");
    return for_each(r, value, take_user, NULL);
}

static int read_document(struct reader *r, yaml_parser_t *parser)
{
    static const struct key keys[] = {{"tls_server_config", take_tls},
                                      {"http_server_config", take_http},
                                      {"basic_auth_users", take_users},
                                      {NULL, NULL}};
    const yaml_node_t *root;
    int rc = 0;

    if (!yaml_parser_load(parser, &r->doc))
        return lbx_error_set(r->err, -EINVAL, "%s:%zu: %s", r->path, parser->problem_mark.line + 1,
                             parser->problem ? parser->problem : "this is no YAML");
    root = yaml_document_get_root_node(&r->doc);
    if (root) /* an empty file asks for nothing */
        rc = for_each(r, root, take_known, keys);
    yaml_document_delete(&r->doc);
    return rc;
}

int lbd_webconf_read(const char *path, struct lbd_webconf *ret, struct lbx_error *err)
{
    struct lbd_webconf conf = {.priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
    struct reader r = {.path = path, .conf = &conf, .err = err};
    yaml_parser_t parser;
    char *text;
    int rc;

    if (!path) {
        *ret = conf;
        return 0;
    }
    rc = read_file("", path, &text);
    if (rc < 0)
        return lbx_error_set(err, rc, "%s: %s", path, strerror(-rc));
    if (!yaml_parser_initialize(&parser)) {
        free(text);
        return lbx_error_set(err, -ENOMEM, "out of memory");
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    rc = read_document(&r, &parser);
    yaml_parser_delete(&parser);
    free(text);
    if (rc < 0)
        lbd_webconf_fini(&conf);
    else
        *ret = conf;
    return rc;
}

static void free_secret(char *text)
{
    if (text)
        sodium_memzero(text, strlen(text));
    free(text);
}

void lbd_webconf_fini(struct lbd_webconf *c)
{
    if (!c)
        return;
    free(c->cert);
    free_secret(c->key);
    free(c->client_ca);
    free(c->user);
    for (size_t i = 0; i < c->nheaders; i++)
        free(c->header[i].value);
    memset(c, 0, sizeof(*c));
}
