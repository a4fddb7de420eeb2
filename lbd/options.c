/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of lbd. */
#include "lbd/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "wire/hosts.h"

static const char usage[] =
    "Usage: lbd [OPTION]...\n"
    "Measure this host, know its load, and rank the hosts of a Slurm cluster.\n\n"
    "  --role=ROLE[,ROLE]         node, controller (default: both)\n"
    "  --host=NAME                this host's node name (default: host name up to the first dot)\n"
    "  --controller=ADDRESS:PORT  where the controller is (default: this process)\n"
    "  --listen=ADDRESS:PORT      where the controller listens for nodes (default: all, port "
    "6825)\n"
    "  --socket=PATH              unix socket for jobs and lbctl (default: " LBW_LOCAL_SOCKET ")\n"
    "  --state=DIR                the controller's database (default: " LB_STATEDIR ")\n"
    "  --config=FILE              default: " LB_SYSCONFDIR "/policy.conf\n"
    "  --metrics=ADDRESS:PORT     where /metrics is served, or off (default: all, port 6826)\n"
    "  --web-config=FILE          TLS and users of /metrics, as web.yml of Prometheus' exporters\n"
    "  --print-sd                 print where the lbds are, for Prometheus' file discovery, and "
    "end\n"
    "  --slurm=PROGRAM            what it speaks to Slurm by (default: "
    "" LB_LIBEXECDIR "/lb-slurm)\n"
    "  --debug                    log more\n"
    "  --foreground               accepted; lbd never goes to the background\n"
    "  --help, --version\n\n"
    "SIGHUP reads the configuration again, SIGTERM ends it.  See lbd(8).\n";

int lbd_address_parse(const char *text, uint16_t default_port, struct lbd_address *ret,
                      struct lbx_error *err)
{
    const char *end = text + strlen(text), *colon = strrchr(text, ':');
    struct lbd_address a = {.port = default_port};
    char *rest;
    long port;

    if (text[0] == '[') {
        end = strchr(text++, ']');
        if (!end || (end[1] && end[1] != ':'))
            return lbx_error_set(err, -EINVAL, "address '%s': write [ADDRESS]:PORT", text - 1);
        colon = end[1] ? end + 1 : NULL;
    } else if (colon && strchr(text, ':') == colon) {
        end = colon;
    } else {
        colon = NULL; /* several: an IPv6 address without a port */
    }
    if ((size_t)(end - text) >= sizeof(a.host))
        return lbx_error_set(err, -EINVAL, "address too long");
    memcpy(a.host, text, (size_t)(end - text));
    if (colon) {
        errno = 0;
        port = strtol(colon + 1, &rest, 10);
        if (errno || rest == colon + 1 || *rest || port < 0 || port > 65535)
            return lbx_error_set(err, -EINVAL, "address '%s': the port must be 0 to 65535", text);
        a.port = (uint16_t)port;
    }
    *ret = a;
    return 0;
}

static int parse_roles(const char *text, struct lbd_options *o, struct lbx_error *err)
{
    char copy[64], *save = NULL;

    o->node = o->controller = false;
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        if (strcmp(w, "node") == 0)
            o->node = true;
        else if (strcmp(w, "controller") == 0)
            o->controller = true;
        else
            return lbx_error_set(err, -EINVAL, "role '%s' is unknown: node, controller", w);
    }
    if (!o->node && !o->controller)
        return lbx_error_set(err, -EINVAL, "no role given: node, controller");
    return 0;
}

static int set_host(const char *name, struct lbd_options *o, struct lbx_error *err)
{
    if (strlen(name) >= sizeof(o->host) || !lbw_host_name_valid(name))
        return lbx_error_set(err, -EINVAL,
                             "host name '%s': up to %zu letters, digits, '.', '-', '_'", name,
                             sizeof(o->host) - 1);
    snprintf(o->host, sizeof(o->host), "%s", name);
    return 0;
}

static int find_host(struct lbd_options *o, struct lbx_error *err)
{
    char name[256] = "";

    gethostname(name, sizeof(name) - 1);
    name[strcspn(name, ".")] = '\0';
    return set_host(name, o, err);
}

static int check(struct lbd_options *o, struct lbx_error *err)
{
    if (o->controller_at.host[0] && o->controller)
        return lbx_error_set(err, -EINVAL,
                             "--controller names another lbd: give --role=node with it");
    if (!o->controller_at.host[0] && !o->controller)
        return lbx_error_set(err, -EINVAL, "--role=node needs --controller=ADDRESS:PORT");
    return o->host[0] ? 0 : find_host(o, err);
}

static int take_option(int opt, const char *arg, struct lbd_options *o, struct lbx_error *err)
{
    switch (opt) {
    case 'r':
        return parse_roles(arg, o, err);
    case 'n':
        return set_host(arg, o, err);
    case 'c':
        o->config = arg;
        o->config_given = true;
        return 0;
    case 's':
        o->socket = arg;
        return 0;
    case 'S':
        o->state = arg;
        return 0;
    case 'C':
        return lbd_address_parse(arg, LBD_PORT_CONTROLLER, &o->controller_at, err);
    case 'l':
        return lbd_address_parse(arg, LBD_PORT_CONTROLLER, &o->listen, err);
    case 'm':
        o->metrics_on = strcmp(arg, "off") != 0;
        return o->metrics_on ? lbd_address_parse(arg, LBD_PORT_METRICS, &o->metrics, err) : 0;
    case 'w':
        o->web = arg;
        return 0;
    case 'p':
        o->print_sd = true;
        return 0;
    case 'L':
        o->slurm = arg;
        return 0;
    case 'd':
        o->debug = true;
        return 0;
    case 'f':
        return 0;
    case 'h':
        fputs(usage, stdout);
        return 1;
    case 'v':
        puts("lbd " PACKAGE_VERSION);
        return 1;
    default:
        return lbx_error_set(err, -EINVAL, "see lbd --help");
    }
}

int lbd_options_parse(int argc, char **argv, struct lbd_options *ret, struct lbx_error *err)
{
    static const struct option options[] = {
        {"role", required_argument, NULL, 'r'},       {"host", required_argument, NULL, 'n'},
        {"config", required_argument, NULL, 'c'},     {"socket", required_argument, NULL, 's'},
        {"state", required_argument, NULL, 'S'},      {"controller", required_argument, NULL, 'C'},
        {"listen", required_argument, NULL, 'l'},     {"metrics", required_argument, NULL, 'm'},
        {"web-config", required_argument, NULL, 'w'}, {"print-sd", no_argument, NULL, 'p'},
        {"slurm", required_argument, NULL, 'L'},      {"debug", no_argument, NULL, 'd'},
        {"foreground", no_argument, NULL, 'f'},       {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},          {NULL, 0, NULL, 0}};
    struct lbd_options o = {.node = true,
                            .controller = true,
                            .config = LB_SYSCONFDIR "/policy.conf",
                            .socket = LBW_LOCAL_SOCKET,
                            .state = LB_STATEDIR,
                            .slurm = LB_LIBEXECDIR "/lb-slurm",
                            .listen = {"", LBD_PORT_CONTROLLER},
                            .metrics = {"", LBD_PORT_METRICS},
                            .metrics_on = true};
    int opt, rc;

    optind = 1;
    while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
        rc = take_option(opt, optarg, &o, err);
        if (rc != 0)
            return rc;
    }
    if (optind < argc)
        return lbx_error_set(err, -EINVAL, "argument '%s' is not understood", argv[optind]);
    rc = check(&o, err);
    if (rc == 0)
        *ret = o;
    return rc;
}
