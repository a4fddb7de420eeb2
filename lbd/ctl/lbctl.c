/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl: asks the local lbd, and checks policy.conf. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "config.h"
#include "lbd/conf.h"
#include "lbd/ctl/explain.h"
#include "lbd/ctl/job.h"
#include "lbd/ctl/print.h"
#include "lbd/ctl/show.h"
#include "lbd/ctl/top.h"
#include "lbd/ctl/words.h"
#include "wire/local.h"

#define WAIT_NS (5 * LBX_NS_PER_S)
#define TOP_INTERVAL_S 2.

static const char usage[] =
    "Usage: lbctl [--json] [--socket=PATH] COMMAND\n\n"
    "  hosts [HOST]        what the controller knows of each host, and Slurm's state of it; of one "
    "also\n"
    "                      its benchmark and what it is made of\n"
    "  rank                the hosts, best first, as jobs are answered, and why\n"
    "  forecast HOST       what load is expected in the next minute, by whom, and how long it "
    "stays\n"
    "  history HOST        a picture of what a host reported: --since=2h --until=now "
    "--of=external_cpus\n"
    "                      (or busy_cpus, core_speed, capacity, pressure, tasks, ...) --width=N "
    "--ascii\n"
    "  probe [--interval=10s]        sample this host now; sample it so often from now on\n"
    "  weights [NAME=NUMBER ...]     the index's weights: scale, user, terminal, task; set them "
    "for now\n"
    "  status              how this host's lbd is\n"
    "  explain JOB[.STEP]  what a balancer decided and why; also for the job's own user\n"
    "  top [--once] [--interval=S]  hosts and jobs, live; --once: print them and end\n"
    "  job JOBID           a job's steps with their hosts, running or ended: --width=N\n"
    "  weights --nodes     Slurm's node weights; --restore: put the site's node weights back\n"
    "  policy check FILE   whether a policy.conf is right; asks no lbd\n"
    "  policy show         what is in force\n"
    "  policy show --effective [--partition=P] [--account=A]   what a step gets there\n\n"
    "  --json              the answer as JSON\n"
    "  --socket=PATH       default: $LBD_SOCKET, or " LBW_LOCAL_SOCKET "\n"
    "  --help, --version\n\n"
    "Exit: 0 done, 1 refused or wrong, 2 wrong use, 3 no lbd there.  See lbctl(1).\n";

static const struct command {
    const char *name[2]; /* words */
    const char *request; /* to lbd */
    void (*print)(FILE *f, const json_t *answer);
} commands[] = {
    {{"status", NULL}, "status", lbd_print_status},
    {{"policy", "show"}, "policy", lbd_print_any},
};

static int print_answer(const struct command *c, const char *text, bool json)
{
    json_error_t why;
    json_t *answer = json_loads(text, 0, &why);

    if (!json_is_object(answer)) {
        fprintf(stderr, "lbctl: lbd's answer is not understood: is it of another version?\n");
        json_decref(answer);
        return LBD_EXIT_REFUSED;
    }
    if (json)
        puts(text);
    else
        c->print(stdout, answer);
    json_decref(answer);
    return LBD_EXIT_OK;
}

static int ask(const struct command *c, const char *path, bool json)
{
    struct lbw_local_msg *msg = calloc(2, sizeof(*msg));
    int rc;

    if (!msg) {
        fprintf(stderr, "lbctl: out of memory\n");
        return LBD_EXIT_REFUSED;
    }
    msg[0].type = LBW_L_COMMAND;
    snprintf(msg[0].u.text.text, sizeof(msg[0].u.text.text), "%s", c->request);
    rc = lbw_local_ask(path, &msg[0], lbx_clock_mono_ns() + WAIT_NS, &msg[1]);
    if (rc < 0) {
        rc = lbd_show_nobody(path, rc);
    } else if (msg[1].type == LBW_L_TEXT) {
        rc = print_answer(c, msg[1].u.text.text, json);
    } else {
        fprintf(stderr, "lbctl: %s\n",
                msg[1].type == LBW_L_ERROR ? msg[1].u.text.text : "lbd's answer is not understood");
        rc = LBD_EXIT_REFUSED;
    }
    free(msg);
    return rc;
}

static int misuse(const char *what, const char *word)
{
    fprintf(stderr, "lbctl: %s%s%s; see lbctl --help\n", what, word ? " " : "", word ? word : "");
    return LBD_EXIT_USAGE;
}

/* JOBID[.STEP], in digits. */
static bool is_step(const char *word)
{
    size_t job = strspn(word, "0123456789"), step;

    if (job == 0 || word[job] != '.')
        return job > 0 && word[job] == '\0';
    step = strspn(word + job + 1, "0123456789");
    return step > 0 && word[job + 1 + step] == '\0';
}

static int explain(const char *path, const char *step, bool json)
{
    int rc;

    if (!is_step(step)) {
        fprintf(stderr, "lbctl: '%.64s' is no step: write JOBID or JOBID.STEP; see lbctl --help\n",
                step);
        return LBD_EXIT_USAGE;
    }
    rc = lbd_explain_ask(path, step, json, stdout);
    return rc < 0 ? lbd_show_nobody(path, rc) : rc == 0 ? LBD_EXIT_OK : LBD_EXIT_REFUSED;
}

static int show_job(const struct lbd_ctl *c, const char *word)
{
    size_t i, n, width = lbd_show_width(c);
    struct lbx_error err = {0};
    json_t *answer = NULL, *step;
    unsigned long jobid;
    char *end;
    int rc;

    errno = 0;
    jobid = strtoul(word, &end, 10);
    if (errno || end == word || *end || jobid == 0 || jobid > UINT32_MAX)
        return misuse("a job's number is needed, not", word);
    if (width == 0)
        return misuse("write --width=80, not", c->width);
    rc = lbd_job_ask(c->socket, (uint32_t)jobid, &answer, &err);
    if (rc == -EREMOTEIO || rc == -ENOMEM)
        fprintf(stderr, "lbctl: %s\n", err.text);
    if (rc < 0)
        return rc == -EREMOTEIO || rc == -ENOMEM ? LBD_EXIT_REFUSED
                                                 : lbd_show_nobody(c->socket, rc);
    n = json_array_size(json_object_get(answer, "jobs"));
    if (c->json) {
        json_dumpf(answer, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
        putchar('\n');
    } else if (n == 0) {
        fprintf(stderr, "lbctl: job %lu is not known: it was not balanced, or it was long ago\n",
                jobid);
    } else {
        json_array_foreach(json_object_get(answer, "jobs"), i, step)
            lbd_job_print(stdout, step, (int)width);
    }
    json_decref(answer);
    return n > 0 ? LBD_EXIT_OK : LBD_EXIT_REFUSED;
}

static int show_top(const struct lbd_ctl *c)
{
    double interval_s = TOP_INTERVAL_S;
    char *end;

    if (c->interval) {
        interval_s = strtod(c->interval, &end);
        if (end == c->interval || *end || !(interval_s >= .1 && interval_s <= 3600))
            return misuse("--interval: 0.1 to 3600 seconds, not", c->interval);
    }
    return c->once || c->json ? lbd_top_once(c->socket, c->json)
                              : lbd_top_run(c->socket, interval_s);
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
    return rc == 0 ? LBD_EXIT_OK : LBD_EXIT_REFUSED;
}

/* A host's name behind one of these words. */
static int show_host(int n, char **word, const struct lbd_ctl *c, bool *ret_known)
{
    *ret_known = true;
    if (strcmp(word[0], "forecast") == 0)
        return n == 2 ? lbd_show_forecast(c, word[1]) : misuse("write forecast HOST", NULL);
    if (strcmp(word[0], "history") == 0)
        return n == 2 ? lbd_show_history(c, word[1]) : misuse("write history HOST", NULL);
    if (strcmp(word[0], "weights") == 0 && (c->nodes || c->restore))
        return n == 1 ? lbd_show_node_weights(c) : misuse("too many words after", word[0]);
    if (strcmp(word[0], "weights") == 0)
        return lbd_show_weights(c, word + 1, (size_t)n - 1);
    if (strcmp(word[0], "hosts") == 0)
        return n <= 2 ? lbd_show_hosts(c, n == 2 ? word[1] : NULL)
                      : misuse("write hosts, or hosts HOST", NULL);
    if (strcmp(word[0], "rank") == 0)
        return n == 1 ? lbd_show_rank(c) : misuse("too many words after", word[0]);
    if (strcmp(word[0], "probe") == 0)
        return n == 1 ? lbd_show_probe(c) : misuse("too many words after", word[0]);
    *ret_known = false;
    return 0;
}

static int run(int n, char **word, const struct lbd_ctl *c)
{
    const char *path = c->socket, *surplus;
    bool json = c->json, known = false;
    int rc;

    surplus = n > 0 ? lbd_words_surplus(word[0], n > 1 ? word[1] : NULL, c->given) : NULL;
    if (surplus) {
        fprintf(stderr, "lbctl: %s has no option --%s; see lbctl --help\n", word[0], surplus);
        return LBD_EXIT_USAGE;
    }
    rc = n > 0 ? show_host(n, word, c, &known) : 0;
    if (known)
        return rc;
    if (n == 3 && strcmp(word[0], "policy") == 0 && strcmp(word[1], "check") == 0)
        return check_policy(word[2], json);
    if (n > 0 && strcmp(word[0], "job") == 0)
        return n == 2 ? show_job(c, word[1]) : misuse("write job JOBID", NULL);
    if (n > 0 && strcmp(word[0], "top") == 0)
        return n == 1 ? show_top(c) : misuse("too many words after", word[0]);
    if (n == 2 && (c->effective || c->partition || c->account) && strcmp(word[0], "policy") == 0 &&
        strcmp(word[1], "show") == 0)
        return lbd_show_effective(c);
    if (n > 0 && strcmp(word[0], "explain") == 0)
        return n == 2 ? explain(path, word[1], json) : misuse("write explain JOBID[.STEP]", NULL);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        const struct command *command = &commands[i];
        int words = command->name[1] ? 2 : 1;

        if (n >= words && strcmp(word[0], command->name[0]) == 0 &&
            (words == 1 || strcmp(word[1], command->name[1]) == 0))
            return n == words ? ask(command, path, json) : misuse("too many words after", word[0]);
    }
    if (n == 0)
        return misuse("a command is missing", NULL);
    if (n == 1 && strcmp(word[0], "help") == 0) {
        fputs(usage, stdout);
        return LBD_EXIT_OK;
    }
    if (strcmp(word[0], "policy") == 0)
        return misuse("write policy check FILE, policy show or policy show --effective", NULL);
    fprintf(stderr, "lbctl: unknown command '%.64s': the nearest is %s; see lbctl --help\n",
            word[0], lbd_words_nearest(word[0]));
    return LBD_EXIT_USAGE;
}

enum {
    OPT_JSON = 1,
    OPT_SOCKET,
    OPT_EFFECTIVE,
    OPT_ASCII,
    OPT_ONCE,
    OPT_NODES,
    OPT_RESTORE,
    OPT_SINCE,
    OPT_UNTIL,
    OPT_OF,
    OPT_WIDTH,
    OPT_PARTITION,
    OPT_ACCOUNT,
    OPT_INTERVAL,
    OPT_HELP,
    OPT_VERSION
};

static const struct option options[] = {{"json", no_argument, NULL, OPT_JSON},
                                        {"socket", required_argument, NULL, OPT_SOCKET},
                                        {"effective", no_argument, NULL, OPT_EFFECTIVE},
                                        {"ascii", no_argument, NULL, OPT_ASCII},
                                        {"once", no_argument, NULL, OPT_ONCE},
                                        {"nodes", no_argument, NULL, OPT_NODES},
                                        {"restore", no_argument, NULL, OPT_RESTORE},
                                        {"since", required_argument, NULL, OPT_SINCE},
                                        {"until", required_argument, NULL, OPT_UNTIL},
                                        {"of", required_argument, NULL, OPT_OF},
                                        {"width", required_argument, NULL, OPT_WIDTH},
                                        {"partition", required_argument, NULL, OPT_PARTITION},
                                        {"account", required_argument, NULL, OPT_ACCOUNT},
                                        {"interval", required_argument, NULL, OPT_INTERVAL},
                                        {"help", no_argument, NULL, OPT_HELP},
                                        {"version", no_argument, NULL, OPT_VERSION},
                                        {NULL, 0, NULL, 0}};

/* An option that is a flag or has a text. */
static void take(struct lbd_ctl *c, int opt, const char *text)
{
    static const unsigned word[] = {
        [OPT_EFFECTIVE] = LBD_W_EFFECTIVE, [OPT_ASCII] = LBD_W_ASCII,
        [OPT_ONCE] = LBD_W_ONCE,           [OPT_NODES] = LBD_W_NODES,
        [OPT_RESTORE] = LBD_W_RESTORE,     [OPT_SINCE] = LBD_W_SINCE,
        [OPT_UNTIL] = LBD_W_UNTIL,         [OPT_OF] = LBD_W_OF,
        [OPT_WIDTH] = LBD_W_WIDTH,         [OPT_PARTITION] = LBD_W_PARTITION,
        [OPT_ACCOUNT] = LBD_W_ACCOUNT,     [OPT_INTERVAL] = LBD_W_INTERVAL};
    const char **const value[] = {
        [OPT_SOCKET] = &c->socket,   [OPT_SINCE] = &c->since,      [OPT_UNTIL] = &c->until,
        [OPT_OF] = &c->of,           [OPT_WIDTH] = &c->width,      [OPT_PARTITION] = &c->partition,
        [OPT_ACCOUNT] = &c->account, [OPT_INTERVAL] = &c->interval};

    c->given |= word[opt];
    if (opt == OPT_JSON)
        c->json = true;
    else if (opt == OPT_EFFECTIVE)
        c->effective = true;
    else if (opt == OPT_ASCII)
        c->ascii = true;
    else if (opt == OPT_ONCE)
        c->once = true;
    else if (opt == OPT_NODES)
        c->nodes = true;
    else if (opt == OPT_RESTORE)
        c->restore = true;
    else
        *value[opt] = text;
}

int main(int argc, char **argv)
{
    struct lbd_ctl c = {.socket = getenv("LBD_SOCKET")};
    int opt;

    setlocale(LC_CTYPE, "");
    if (!c.socket || !*c.socket)
        c.socket = LBW_LOCAL_SOCKET;
    while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (opt == OPT_HELP) {
            fputs(usage, stdout);
            return LBD_EXIT_OK;
        }
        if (opt == OPT_VERSION) {
            puts("lbctl " PACKAGE_VERSION);
            return LBD_EXIT_OK;
        }
        if (opt < OPT_JSON || opt >= OPT_HELP) { /* getopt has said what is wrong */
            fputs("lbctl: see lbctl --help\n", stderr);
            return LBD_EXIT_USAGE;
        }
        take(&c, opt, optarg);
    }
    if (!*c.socket)
        return misuse("write --socket=PATH", NULL);
    return run(argc - optind, argv + optind, &c);
}
