/* SPDX-License-Identifier: BSD-3-Clause */
/* lbctl top: the terminal, its keys, and the one that prints once. */
#include "lbd/ctl/top.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

#define ONCE_WIDTH 120
#define KEY_ESCAPE 27
#define LINES_ABOVE 3 /* summary, an empty line, heading */

enum { EXIT_FINE, EXIT_REFUSED, EXIT_USAGE, EXIT_NOBODY };

static volatile sig_atomic_t ended;

static int exit_of(int rc)
{
    return rc == 0 ? EXIT_FINE : rc == -EREMOTEIO || rc == -ENOMEM ? EXIT_REFUSED : EXIT_NOBODY;
}

static void print_view(struct lbd_top *t, enum lbd_top_view view, const char *none)
{
    t->view = view;
    lbd_top_sort(t);
    if (lbd_top_rows(t) == 0) {
        printf("\n%s\n", none);
        return;
    }
    putchar('\n');
    lbd_top_heading(stdout, t, ONCE_WIDTH);
    putchar('\n');
    for (size_t i = 0; i < lbd_top_rows(t); i++) {
        lbd_top_row(stdout, t, i, ONCE_WIDTH);
        putchar('\n');
    }
}

int lbd_top_once(const char *socket, bool json)
{
    struct lbd_top t = {.view = LBD_TOP_HOSTS};
    int rc = lbd_top_ask(&t, socket);
    json_t *o;

    if (rc < 0) {
        fprintf(stderr, "lbctl: %s\n", t.said);
    } else if (json) {
        o = json_pack("{sO sO}", "hosts", t.hosts, "jobs", t.jobs);
        json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
        putchar('\n');
        json_decref(o);
    } else {
        lbd_top_summary(stdout, &t, ONCE_WIDTH);
        putchar('\n');
        print_view(&t, LBD_TOP_HOSTS, "No host is known.");
        print_view(&t, LBD_TOP_JOBS, "No balanced job runs.");
    }
    lbd_top_fini(&t);
    return exit_of(rc);
}

static void put_line(int y, int attributes, const struct lbd_top *t,
                     void (*write)(FILE *f, const struct lbd_top *t, int width))
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    if (!f)
        return;
    write(f, t, COLS - 1);
    fclose(f);
    attron(attributes);
    mvaddstr(y, 0, text);
    attroff(attributes);
    free(text);
}

static void put_row(int y, const struct lbd_top *t, size_t i)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    bool chosen = i == t->at && (t->view == LBD_TOP_HOSTS || t->view == LBD_TOP_JOBS);
    int attributes = (int)COLOR_PAIR(lbd_top_mood(t, i)) | (chosen ? (int)A_REVERSE : 0);

    if (!f)
        return;
    lbd_top_row(f, t, i, COLS - 1);
    fclose(f);
    attron(attributes);
    mvaddstr(y, 0, text);
    attroff(attributes);
    free(text);
}

/* Keep the chosen line among those that are shown, however large the terminal is now. */
static void scroll_into_view(struct lbd_top *t, size_t room)
{
    size_t n = lbd_top_rows(t);

    if (t->at >= n)
        t->at = n > 0 ? n - 1 : 0;
    if (t->first > t->at)
        t->first = t->at;
    if (room > 0 && t->at >= t->first + room)
        t->first = t->at - room + 1;
}

static void draw(struct lbd_top *t)
{
    static const char keys[] = "h hosts  j jobs  Enter job  s sort  ? help  q end";
    size_t room = LINES > LINES_ABOVE + 1 ? (size_t)(LINES - LINES_ABOVE - 1) : 0;

    erase();
    scroll_into_view(t, room);
    put_line(0, A_BOLD, t, lbd_top_summary);
    if (LINES > 2)
        put_line(2, A_UNDERLINE, t, lbd_top_heading);
    for (size_t i = 0; i < room && t->first + i < lbd_top_rows(t); i++)
        put_row(LINES_ABOVE + (int)i, t, t->first + i);
    if (room > 0 && lbd_top_rows(t) == 0)
        mvaddnstr(LINES_ABOVE, 0,
                  t->view == LBD_TOP_JOBS ? "No balanced job runs." : "No host is known.",
                  COLS - 1);
    if (LINES > 3)
        mvaddnstr(LINES - 1, 0, keys, COLS - 1);
    refresh();
}

static void go(struct lbd_top *t, enum lbd_top_view view)
{
    t->view = view;
    t->at = t->first = 0;
    if (view != LBD_TOP_JOB && view != LBD_TOP_HELP)
        t->jobid = 0;
    lbd_top_sort(t);
}

static void open_job(struct lbd_top *t, const char *socket)
{
    const json_t *job = t->view == LBD_TOP_JOBS ? json_array_get(t->jobs, t->at) : NULL;

    if (!job)
        return;
    t->jobid = (uint32_t)json_integer_value(json_object_get(job, "jobid"));
    go(t, LBD_TOP_JOB);
    (void)lbd_top_ask(t, socket); /* what goes wrong is shown */
}

static void move_by(struct lbd_top *t, long by)
{
    size_t n = lbd_top_rows(t);
    long at = (long)t->at + by;

    t->at = at < 0 || n == 0 ? 0 : (size_t)at >= n ? n - 1 : (size_t)at;
}

static void sort_next(struct lbd_top *t)
{
    int *by = t->view == LBD_TOP_HOSTS ? &t->sort[0] : &t->sort[1];

    if (t->view == LBD_TOP_HOSTS || t->view == LBD_TOP_JOBS)
        *by = (*by + 1) % lbd_top_columns(t->view);
    lbd_top_sort(t);
}

/* Returns false at the end. */
static bool take_key(struct lbd_top *t, int key, const char *socket)
{
    long page = LINES > LINES_ABOVE + 2 ? LINES - LINES_ABOVE - 2 : 1;

    if (key == 'q')
        return false;
    if (key == 'h' || key == '1')
        go(t, LBD_TOP_HOSTS);
    else if (key == 'j' || key == '2' ||
             (t->view == LBD_TOP_JOB && (key == 'b' || key == KEY_ESCAPE)))
        go(t, LBD_TOP_JOBS);
    else if (key == 'b' || key == KEY_ESCAPE)
        go(t, LBD_TOP_HOSTS);
    else if (key == '\t')
        go(t, t->view == LBD_TOP_HOSTS ? LBD_TOP_JOBS : LBD_TOP_HOSTS);
    else if (key == '?')
        go(t, LBD_TOP_HELP);
    else if (key == '\n' || key == '\r' || key == KEY_ENTER)
        open_job(t, socket);
    else if (key == 's')
        sort_next(t);
    else if (key == ' ')
        (void)lbd_top_ask(t, socket);
    else if (key == KEY_DOWN || key == KEY_UP)
        move_by(t, key == KEY_DOWN ? 1 : -1);
    else if (key == KEY_NPAGE || key == KEY_PPAGE)
        move_by(t, key == KEY_NPAGE ? page : -page);
    else if (key == KEY_HOME || key == KEY_END)
        move_by(t, key == KEY_END ? (long)lbd_top_rows(t) : -(long)lbd_top_rows(t));
    return true;
}

static void on_signal(int signum)
{
    (void)signum;
    ended = 1;
}

static void loop(struct lbd_top *t, const char *socket, int64_t interval_ns)
{
    int64_t next_ns = lbx_clock_mono_ns() + interval_ns, now_ns;
    int key;

    while (!ended) {
        draw(t);
        now_ns = lbx_clock_mono_ns();
        timeout(next_ns > now_ns ? (int)((next_ns - now_ns) / LBX_NS_PER_MS) + 1 : 0);
        errno = 0;
        key = getch(); /* a new size comes as a key, too: the next drawing fits it */
        if (key == ERR && errno == EIO)
            return; /* the terminal is gone */
        if (key != ERR && key != KEY_RESIZE && !take_key(t, key, socket))
            return;
        if (lbx_clock_mono_ns() >= next_ns) {
            (void)lbd_top_ask(t, socket);
            next_ns = lbx_clock_mono_ns() + interval_ns;
        }
    }
}

/* One pair for each mood; without them (a terminal of one colour, NO_COLOR) all pairs look alike. */
static void make_colours(void)
{
    const char *none = getenv("NO_COLOR");

    if ((none && none[0] != '\0') || !has_colors() || start_color() == ERR)
        return;
    use_default_colors();
    init_pair(LBD_TOP_WARN, COLOR_YELLOW, -1);
    init_pair(LBD_TOP_BAD, COLOR_RED, -1);
}

int lbd_top_run(const char *socket, double interval_s)
{
    struct lbd_top t = {.view = LBD_TOP_HOSTS};
    struct sigaction end = {.sa_handler = on_signal};
    SCREEN *screen;
    int rc = lbd_top_ask(&t, socket);

    if (rc < 0) { /* before the screen is another: so that it can be read */
        fprintf(stderr, "lbctl: %s\n", t.said);
        lbd_top_fini(&t);
        return exit_of(rc);
    }
    setlocale(LC_CTYPE, "");
    screen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? newterm(NULL, stdout, stdin) : NULL;
    if (!screen) {
        fprintf(stderr, "lbctl: top needs a terminal (TERM, now '%s'); top --once needs none\n",
                getenv("TERM") ? getenv("TERM") : "");
        lbd_top_fini(&t);
        return EXIT_USAGE;
    }
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGHUP, &end, NULL);
    make_colours();
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    loop(&t, socket, (int64_t)(interval_s * (double)LBX_NS_PER_S));
    endwin();
    delscreen(screen);
    lbd_top_fini(&t);
    return EXIT_FINE;
}
