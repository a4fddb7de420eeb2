/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl: asks the local lbd, and checks policy.conf. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "config.h"
#include "lbd/conf.h"
#include "lbd/ctl/explain.h"
#include "lbd/ctl/job.h"
#include "lbd/ctl/print.h"
#include "lbd/ctl/top.h"
#include "wire/local.h"

#define WAIT_NS (5 * LBX_NS_PER_S)

#define WIDTH 100 /* columns of a job */

struct top_options {
    bool once;
    double interval_s;
};

enum { EXIT_OK, EXIT_REFUSED, EXIT_USAGE, EXIT_NOBODY };

static const char usage[] =
    "Usage: lbctl [--json] [--socket=PATH] COMMAND\n\n"
    "  hosts               what the controller knows of each host\n"
    "  rank                the hosts, best first, as jobs are answered\n"
    "  status              how this host's lbd is\n"
    "  explain JOB[.STEP]  what a balancer decided and why; also for the job's own user\n"
    "  top [--once] [--interval=S]  hosts and jobs, live; --once: print them and end\n"
    "  job JOBID           a job's steps with their hosts, running or ended\n"
    "  weights             of the performance index; --nodes: Slurm's node weights,\n"
    "                      --restore: put the site's node weights back\n"
    "  policy check FILE   whether a policy.conf is right; asks no lbd\n"
    "  policy show         what is in force\n\n"
    "  --json              the answer as JSON\n"
    "  --socket=PATH       default: $LBD_SOCKET, or " LBW_LOCAL_SOCKET "\n"
    "  --help, --version\n\n"
    "Exit: 0 done, 1 refused or wrong, 2 wrong use, 3 no lbd there.  See lbctl(1).\n";

static const struct command {
    const char *name[2]; /* words */
    const char *request; /* to lbd */
    void (*print)(FILE *f, const json_t *answer);
} commands[] = {
    {{"hosts", NULL}, "hosts", lbd_print_hosts},
    {{"rank", NULL}, "rank", lbd_print_rank},
    {{"status", NULL}, "status", lbd_print_status},
    {{"policy", "show"}, "policy", lbd_print_any},
    {{"weights", "nodes"}, "weights nodes", lbd_print_weights},
    {{"weights", "restore"}, "weights restore", lbd_print_any},
    {{"weights", NULL}, "weights", lbd_print_any},
};

static int fail_to_ask(const char *path, int rc)
{
    if (rc == -ENOENT || rc == -ECONNREFUSED)
        fprintf(stderr, "lbctl: no lbd listens at %s: is lbd running? (systemctl status lbd)\n",
                path);
    else if (rc == -ETIMEDOUT)
        fprintf(stderr, "lbctl: lbd at %s does not answer within 5 s\n", path);
    else
        fprintf(stderr, "lbctl: %s: %s\n", path, strerror(-rc));
    return EXIT_NOBODY;
}

static int print_answer(const struct command *c, const char *text, bool json)
{
    json_error_t why;
    json_t *answer = json_loads(text, 0, &why);

    if (!json_is_object(answer)) {
        fprintf(stderr, "lbctl: lbd's answer is not understood: is it of another version?\n");
        json_decref(answer);
        return EXIT_REFUSED;
    }
    if (json)
        puts(text);
    else
        c->print(stdout, answer);
    json_decref(answer);
    return EXIT_OK;
}

static int ask(const struct command *c, const char *path, bool json)
{
    struct lbw_local_msg *msg = calloc(2, sizeof(*msg));
    int rc;

    if (!msg) {
        fprintf(stderr, "lbctl: out of memory\n");
        return EXIT_REFUSED;
    }
    msg[0].type = LBW_L_COMMAND;
    snprintf(msg[0].u.text.text, sizeof(msg[0].u.text.text), "%s", c->request);
    rc = lbw_local_ask(path, &msg[0], lbx_clock_mono_ns() + WAIT_NS, &msg[1]);
    if (rc < 0) {
        rc = fail_to_ask(path, rc);
    } else if (msg[1].type == LBW_L_TEXT) {
        rc = print_answer(c, msg[1].u.text.text, json);
    } else {
        fprintf(stderr, "lbctl: %s\n",
                msg[1].type == LBW_L_ERROR ? msg[1].u.text.text : "lbd's answer is not understood");
        rc = EXIT_REFUSED;
    }
    free(msg);
    return rc;
}

static int explain(const char *path, const char *step, bool json)
{
    int rc = lbd_explain_ask(path, step, json, stdout);

    return rc < 0 ? fail_to_ask(path, rc) : rc == 0 ? EXIT_OK : EXIT_REFUSED;
}

static int misuse(const char *what, const char *word)
{
    fprintf(stderr, "lbctl: %s%s%s; see lbctl --help\n", what, word ? " " : "", word ? word : "");
    return EXIT_USAGE;
}

static int show_job(const char *path, const char *word, bool json)
{
    struct lbx_error err = {0};
    json_t *answer = NULL, *step;
    unsigned long jobid;
    char *end;
    size_t i, n;
    int rc;

    errno = 0;
    jobid = strtoul(word, &end, 10);
    if (errno || end == word || *end || jobid == 0 || jobid > UINT32_MAX)
        return misuse("a job's number is needed, not", word);
    rc = lbd_job_ask(path, (uint32_t)jobid, &answer, &err);
    if (rc == -EREMOTEIO || rc == -ENOMEM)
        fprintf(stderr, "lbctl: %s\n", err.text);
    if (rc < 0)
        return rc == -EREMOTEIO || rc == -ENOMEM ? EXIT_REFUSED : fail_to_ask(path, rc);
    n = json_array_size(json_object_get(answer, "jobs"));
    if (json) {
        json_dumpf(answer, stdout, JSON_COMPACT);
        putchar('\n');
    } else if (n == 0) {
        fprintf(stderr, "lbctl: job %lu is not known: it was not balanced, or it was long ago\n",
                jobid);
    } else {
        json_array_foreach(json_object_get(answer, "jobs"), i, step)
            lbd_job_print(stdout, step, WIDTH);
    }
    json_decref(answer);
    return n > 0 ? EXIT_OK : EXIT_REFUSED;
}

static int check_policy(const char *path, bool json)
{
    struct lbx_policyconf conf;
    struct lbx_error err = {0};
    int rc = lbd_conf_read(path, &conf, &err);
    json_t *o;

    if (rc == 0)
        lbx_policyconf_fini(&conf);
    if (json) {
        o = json_pack("{sb ss}", "valid", rc == 0, "reason", err.text);
        json_dumpf(o, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(o);
    } else if (rc == 0) {
        printf("%s is right.\n", path);
    } else {
        fprintf(stderr, "lbctl: %s\n", err.text);
    }
    return rc == 0 ? EXIT_OK : EXIT_REFUSED;
}

static int run(int n, char **word, const char *path, bool json, const struct top_options *top)
{
    if (n == 3 && strcmp(word[0], "policy") == 0 && strcmp(word[1], "check") == 0)
        return check_policy(word[2], json);
    if (n > 0 && strcmp(word[0], "job") == 0)
        return n == 2 ? show_job(path, word[1], json) : misuse("write job JOBID", NULL);
    if (n == 1 && strcmp(word[0], "top") == 0)
        return top->once || json ? lbd_top_once(path, json) : lbd_top_run(path, top->interval_s);
    if (n > 0 && strcmp(word[0], "explain") == 0)
        return n == 2 ? explain(path, word[1], json) : misuse("write explain JOBID[.STEP]", NULL);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        const struct command *c = &commands[i];
        int words = c->name[1] ? 2 : 1;

        if (n >= words && strcmp(word[0], c->name[0]) == 0 &&
            (words == 1 || strcmp(word[1], c->name[1]) == 0))
            return n == words ? ask(c, path, json) : misuse("too many words after", word[0]);
    }
    if (n == 0)
        return misuse("a command is missing", NULL);
    if (strcmp(word[0], "policy") == 0)
        return misuse("write policy check FILE or policy show", NULL);
    return misuse("unknown command", word[0]);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"socket", required_argument, NULL, 's'},
                                            {"once", no_argument, NULL, 'o'},
                                            {"interval", required_argument, NULL, 'i'},
                                            {"nodes", no_argument, NULL, 'n'},
                                            {"restore", no_argument, NULL, 'r'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    const char *path = getenv("LBD_SOCKET");
    struct top_options top = {.interval_s = 2};
    static char nodes[] = "nodes", restore[] = "restore";
    char *word[3] = {NULL}; /* weights --nodes is weights nodes */
    bool json = false;
    char *end;
    int opt;

    if (!path || !*path)
        path = LBW_LOCAL_SOCKET;
    while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (opt) {
        case 'j':
            json = true;
            break;
        case 's':
            path = optarg;
            break;
        case 'o':
            top.once = true;
            break;
        case 'i':
            top.interval_s = strtod(optarg, &end);
            if (end == optarg || *end || !(top.interval_s >= .1 && top.interval_s <= 3600))
                return misuse("--interval: 0.1 to 3600 seconds, not", optarg);
            break;
        case 'n':
        case 'r':
            word[1] = opt == 'n' ? nodes : restore;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_OK;
        case 'v':
            puts("lbctl " PACKAGE_VERSION);
            return EXIT_OK;
        default:
            return EXIT_USAGE;
        }
    }
    if (word[1]) {
        word[0] = argv[optind];
        if (argc - optind != 1 || strcmp(word[0], "weights") != 0)
            return misuse("--nodes and --restore belong to weights", NULL);
        return run(2, word, path, json, &top);
    }
    return run(argc - optind, argv + optind, path, json, &top);
}
