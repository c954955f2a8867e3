/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One gnuplot driver: folder, data file, script, run. */
#define _POSIX_C_SOURCE 200809L /* fseeko */
#include "plots/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/text.h"
#include "core/floorplan/floorplan.h"
#include "run/load/data.h"
#include "study/table_out.h"

const char *const tmx_plot_sizes[] = {"small", "default", "large", NULL};

enum { MAX_TEXT = 400, TAIL = 64 };

static const char *const formats[] = {"svg", "png", "pdf"};
enum { N_FORMAT = sizeof formats / sizeof formats[0] };

enum tmx_status tmx_plot_begin(struct tmx_plot *p, struct tmx_err *err)
{
    static const char *const find[] = {"/bin/sh", "-c", "command -v gnuplot", NULL};
    int code = 0;
    p->err = err;
    if (tmx_names_find(p->format, formats, N_FORMAT) == N_FORMAT) {
        tmx_error(err, TMX_ECONFIG, "unknown format \"%s\"; known: svg, png, pdf", p->format);
    }
    if (!err->code && !tmx_os_run(find, "/dev/null", &code, err) && code != 0) {
        tmx_error(err, TMX_EPROGRAM, "gnuplot is not installed (Debian, Ubuntu: apt install gnuplot-nox)");
    }
    return err->code;
}

void tmx_plot_folder(struct tmx_plot *p)
{
    char path[TMX_PATH_SIZE];
    tmx_path_join(path, p->dir, "data", p->err);
    (void)(tmx_os_mkdirs(path, p->err) || tmx_folder_open(p->dir, TMX_FOLDER_FIGURES, p->err));
}

bool tmx_plot_read(struct tmx_plot *p, const char *folder, const char *file, bool must, struct tmx_csv *csv)
{
    char path[TMX_PATH_SIZE];
    *csv = (struct tmx_csv){0};
    tmx_path_join(path, folder, file, p->err);
    return (must || tmx_os_exists(path)) && !tmx_csv_read(csv, path, p->err);
}

static void data_path(const struct tmx_plot *p, const char *name, const char *part, char path[TMX_PATH_SIZE])
{
    snprintf(path, TMX_PATH_SIZE, "%s/data/%s%s.csv", p->dir, name, part);
}

/* The name that was asked for in place of this one. */
static const char *renamed(const struct tmx_plot *p, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < p->n_rename; i++) {
        const char *pair = p->rename[i];
        if (strncmp(pair, text, n) == 0 && pair[n] == '=') {
            p->found[i] = true;
            return pair + n + 1;
        }
    }
    return text;
}

void tmx_plot_order(const struct tmx_plot *p, const char **names, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < p->n_order; i++) {
        for (size_t k = at; k < n; k++) {
            if (strcmp(names[k], p->order[i]) == 0) {
                p->found[p->n_rename + i] = true;
                const char *name = names[k];
                memmove(names + at + 1, names + at, (k - at) * sizeof *names);
                names[at++] = name;
            }
        }
    }
}

/* A text that gnuplot's CSV reader leaves whole: without control characters, and with letters that look like
 * the comma, the quote and the backslash. Cut where it does not fit. */
static const char *tame(const char *text, char *buf, size_t size)
{
    static const char *const alike[][2] = {{",", "\u201a"}, {"\"", "\u201d"}, {"\\", "\u2216"}};
    size_t n = 0;
    for (; *text && n + 5 < size; text++) {
        const char *put = NULL;
        for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++) {
            put = *text == alike[i][0][0] ? alike[i][1] : put;
        }
        if (put) {
            n += (size_t)snprintf(buf + n, size - n, "%s", put);
        } else {
            buf[n++] = (unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text;
        }
    }
    while (*text && n > 0 && ((unsigned char)buf[n - 1] & 0xc0) == 0x80) {
        n--; /* not in the middle of a character */
    }
    n -= *text && n > 0 && (unsigned char)buf[n - 1] >= 0xc0;
    buf[n] = '\0';
    return buf;
}

static void keep_part(struct tmx_plot *p, const char *part)
{
    tmx_assert(p->n_part < TMX_PLOT_PARTS && strlen(part) < TMX_PLOT_PART);
    snprintf(p->part[p->n_part++], TMX_PLOT_PART, "%s", part);
}

static struct tmx_table *tame_table(const struct tmx_plot *p, const struct tmx_table *t)
{
    const size_t n = tmx_table_columns(t);
    char text[MAX_TEXT];
    struct tmx_table *out = tmx_table_of("");
    for (size_t c = 0; c < n; c++) {
        const struct tmx_column *of = tmx_table_column(t, c);
        tmx_table_extend(out, tame(of->name, text, sizeof text), of->type, of->decimals);
    }
    for (size_t i = 0; i < n * tmx_table_rows(t); i++) {
        const struct tmx_cell *cell = tmx_table_cell(t, i / n, i % n);
        if (cell->type == TMX_COLUMN_TEXT && !cell->empty) {
            tmx_table_text(out, tame(renamed(p, cell->text), text, sizeof text));
        } else {
            tmx_table_copy(out, cell);
        }
    }
    return out;
}

void tmx_plot_data(struct tmx_plot *p, const char *name, const char *part, struct tmx_table *t)
{
    char path[TMX_PATH_SIZE];
    if (tmx_plot_wants(p, name) && !tmx_table_check(t, p->err)) {
        struct tmx_table *tamed = tame_table(p, t);
        data_path(p, name, part, path);
        tmx_table_check(tamed, p->err);
        tmx_table_save(tamed, TMX_FORMAT_CSV, path, p->err);
        tmx_table_destroy(tamed);
        keep_part(p, part);
    }
    tmx_table_destroy(t);
}

void tmx_plot_label(struct tmx_plot *p, const char *key, const char *text)
{
    char tamed[MAX_TEXT];
    const struct {
        const char *key, *text;
        bool *said;
    } own[] = {
        {"title", p->title, &p->said_title}, {"x", p->x_label, &p->said_x}, {"y", p->y_label, &p->said_y}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcmp(key, own[i].key) == 0) {
            *own[i].said = true;
            text = own[i].text ? own[i].text : text;
        }
    }
    if (strcmp(key, "name") == 0 && renamed(p, text) != text) {
        char was[MAX_TEXT];
        snprintf(was, sizeof was, "was_%.200s", renamed(p, text));
        tmx_plot_label(p, was, text);
        text = renamed(p, text);
    }
    const size_t room = p->n_label < TMX_PLOT_LABELS ? TMX_PLOT_LABELS - p->n_label : 0;
    p->n_label += (size_t)snprintf(room ? p->labels + p->n_label : NULL, room, "%s,\"%s\"\n", key,
                                   tame(text, tamed, sizeof tamed));
}

void tmx_plot_number(struct tmx_plot *p, const char *key, double v)
{
    char text[40];
    snprintf(text, sizeof text, isnan(v) ? "NaN" : "%.17g", v);
    tmx_plot_label(p, key, text);
}

void tmx_plot_numbers(struct tmx_plot *p, const char *keys, const double *v)
{
    struct tmx_span rest = {keys, keys + strlen(keys)}, key;
    char name[32];
    for (; tmx_span_field(&rest, &key); v++) {
        tmx_assert(tmx_span_copy(key, name, sizeof name));
        tmx_plot_number(p, name, *v);
    }
}

void tmx_plot_words(struct tmx_plot *p, const char *title, const char *x, const char *y)
{
    const char *const keys[] = {"title", "x", "y"}, *const words[] = {title, x, y};
    for (size_t i = 0; i < 3; i++) {
        if (words[i]) {
            tmx_plot_label(p, keys[i], words[i]);
        }
    }
}

void tmx_plot_names(struct tmx_plot *p, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tmx_plot_label(p, "name", names[i]);
    }
}

void tmx_plot_labels(struct tmx_plot *p, const char *name, const char *part)
{
    char path[TMX_PATH_SIZE], of[TMX_PLOT_PART];
    struct tmx_output o;
    const size_t n = p->n_label;
    p->n_label = 0;
    if (p->err->code || !tmx_plot_wants(p, name)) {
        return;
    }
    snprintf(of, sizeof of, "%s_labels", part);
    data_path(p, name, of, path);
    if (n >= TMX_PLOT_LABELS) {
        tmx_error_at(p->err, TMX_EIO, path, 0, "too many names for a figure");
    }
    if (!tmx_output_open(&o, path, p->err)) {
        fprintf(o.file, "key,text\n");
        fwrite(p->labels, 1, n, o.file);
        tmx_output_end(&o, p->err);
        keep_part(p, of);
    }
}

/* Does a file of this kind end so? gnuplot and ffmpeg may stop in the middle without a word. */
static bool ends_whole(const char *kind, const char *tail, size_t n)
{
    static const struct {
        const char *kind, *end;
        size_t most; /* bytes behind it */
    } ends[] = {{".svg", "</svg>", 2}, {".png", "IEND", 4}, {".pdf", "%%EOF", 2}, {".gif", ";", 0}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t m = strlen(ends[i].end);
        for (size_t k = 0; strcmp(kind, ends[i].kind) == 0 && k <= ends[i].most && m + k <= n; k++) {
            if (memcmp(tail + n - k - m, ends[i].end, m) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* An MP4 file is boxes, each its size and its kind. Whole: they fill the file, and the pictures (mdat) have
 * their index (moov), which ffmpeg writes last. */
static bool boxes_whole(FILE *f)
{
    static const char *const want[] = {"ftyp", "moov", "mdat"};
    unsigned seen = 0;
    unsigned char head[16];
    off_t at = 0, end = fseeko(f, 0, SEEK_END) == 0 ? ftello(f) : 0;
    while (at < end && fseeko(f, at, SEEK_SET) == 0 && fread(head, 1, 8, f) == 8) {
        uint64_t size = 0;
        const bool large = head[0] + head[1] + head[2] == 0 && head[3] == 1;
        if (large && fread(head + 8, 1, 8, f) != 8) {
            break;
        }
        for (size_t i = large ? 8 : 0; i < (large ? 16U : 4U); i++) {
            size = size << 8 | head[i];
        }
        for (unsigned i = 0; i < 3; i++) {
            seen |= memcmp(head + 4, want[i], 4) == 0 ? 1U << i : 0;
        }
        if (size < 8 || size > (uint64_t)(end - at)) {
            break;
        }
        at += (off_t)size;
    }
    rewind(f);
    return end > 0 && at == end && seen == 7;
}

/* The moment of drawing that a PDF names becomes a fixed one: the same results give the same bytes. The bytes
 * come in blocks; *at is how far the place was seen. */
static void undate(char *block, size_t n, size_t *at)
{
    static const char place[] = "/CreationDate (D:", fixed[] = "19700101000000";
    const size_t m = sizeof place - 1, end = m + sizeof fixed - 1;
    for (size_t i = 0; i < n; i++) {
        if (*at < m) {
            *at = block[i] == place[*at] ? *at + 1 : block[i] == place[0];
        } else if (*at < end) {
            block[i] = fixed[*at - m];
            *at += 1;
        } else {
            *at = 0;
        }
    }
}

/* gnuplot calls every SVG "Gnuplot": the figure's own name takes its place. Writes the block. */
static void put_titled(const char *block, size_t n, const char *out, FILE *f)
{
    static const char place[] = "<title>Gnuplot</title>";
    const char *name = tmx_text_behind(out, '/'), *dot = strrchr(name, '.');
    const size_t m = sizeof place - 1;
    for (size_t i = 0; i + m <= n; i++) {
        if (memcmp(block + i, place, m) == 0) {
            fwrite(block, 1, i, f);
            fputs("<title>", f);
            for (const char *c = name; *c && c != dot; c++) {
                fputs(*c == '<' ? "&lt;" : *c == '&' ? "&amp;" : (char[]){*c, '\0'}, f);
            }
            fputs("</title>", f);
            fwrite(block + i + m, 1, n - i - m, f);
            return;
        }
    }
    fwrite(block, 1, n, f);
}

enum tmx_status tmx_plot_take(const struct tmx_os_private *d, const char *name, const char *out,
                              struct tmx_err *err)
{
    char path[TMX_PATH_SIZE], block[1 << 14], tail[TAIL];
    struct tmx_output o;
    size_t n, n_tail = 0, at = 0;
    const char *kind = strrchr(name, '.');
    const bool dated = strcmp(kind, ".pdf") == 0, svg = strcmp(kind, ".svg") == 0,
               film = strcmp(kind, ".mp4") == 0;
    snprintf(path, sizeof path, "%s/%s", d->path, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        return tmx_fail_at(err, TMX_EPROGRAM, out, 0, "nothing was drawn");
    }
    const bool boxes = film && boxes_whole(f);
    tmx_output_open(&o, out, err);
    while (o.file && (n = fread(block, 1, sizeof block, f)) > 0) {
        if (dated) {
            undate(block, n, &at);
        }
        if (svg) {
            put_titled(block, n, out, o.file);
        } else {
            fwrite(block, 1, n, o.file);
        }
        const size_t last = n < TAIL ? n : TAIL, kept = n_tail + last <= TAIL ? n_tail : TAIL - last;
        memmove(tail, tail + n_tail - kept, kept);
        memcpy(tail + kept, block + n - last, last);
        n_tail = kept + last;
    }
    fclose(f);
    if (!(film ? boxes : ends_whole(kind, tail, n_tail))) {
        tmx_error_at(err, TMX_EFULL, out, 0, "drawn only in part and not kept; is the disk of %s full?",
                     d->path);
    }
    return tmx_output_end(&o, err);
}

/* In the private folder: the parts as data*.csv, the scripts as scripts/. */
static void fill(const struct tmx_plot *p, const char *name, const char *script,
                 const struct tmx_os_private *d, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE], as[64];
    if (!tmx_data_find(TMX_DATA_PLOT, script, path, err)) {
        *strrchr(path, '/') = '\0';
        err->code = tmx_os_private_link(d, path, "scripts", err);
    }
    for (size_t i = 0; i < p->n_part && !err->code; i++) {
        char from[TMX_PATH_SIZE];
        data_path(p, name, p->part[i], from);
        snprintf(as, sizeof as, "data%s.csv", p->part[i]);
        err->code = tmx_os_private_link(d, from, as, err);
    }
}

static void draw(const struct tmx_plot *p, const char *script, const char *name, const char *out,
                 struct tmx_err *err)
{
    struct tmx_os_private d;
    char vars[200], path[100], picture[20];
    int code = 0;
    snprintf(picture, sizeof picture, "figure.%s", p->format);
    snprintf(path, sizeof path, "scripts/%s.gp", script);
    snprintf(vars, sizeof vars, "data='data.csv'; out='%s'; format='%s'; size='%s'", picture, p->format,
             p->size ? p->size : "default");
    /* in a locale that has the degree sign, whatever the user's; its warnings, of a range that is empty and
     * the like, are of no use to who did not write the script */
    static const char quietly[] = "\"$@\" 2>messages; c=$?; [ $c = 0 ] || cat messages >&2; exit $c";
    const char *const argv[] = {"sh",      "-c", quietly, "sh", "env", "LC_ALL=C.UTF-8",
                                "gnuplot", "-d", "-e",    vars, path,  NULL};
    if (tmx_os_private_begin(&d, err)) {
        return;
    }
    fill(p, name, script, &d, err);
    if (!err->code && !tmx_os_private_run(&d, argv, &code, err) && code != 0) {
        tmx_error_at(err, TMX_EPROGRAM, out, 0,
                     "gnuplot failed (exit code %d); it was drawing %s/data/%s.csv", code, p->dir, name);
    }
    (void)(err->code || tmx_plot_take(&d, picture, out, err));
    tmx_os_private_end(&d);
}

bool tmx_plot_wants(const struct tmx_plot *p, const char *name)
{
    return !p->only || strcmp(p->only, name) == 0;
}

void tmx_plot_drop(struct tmx_plot *p)
{
    p->n_part = 0;
    p->n_label = 0;
    p->said_title = p->said_x = p->said_y = false;
}

void tmx_plot_draw(struct tmx_plot *p, const char *script, const char *name, struct tmx_table *t)
{
    char beside[TMX_PATH_SIZE];
    tmx_table_check(t, p->err);
    if (!p->err->code && tmx_table_rows(t) == 0) {
        if (!p->quiet && tmx_plot_wants(p, name)) {
            tmx_print_visible(stderr, "figure %s: no row to draw\n", name);
        }
        tmx_table_destroy(t);
        tmx_plot_drop(p);
        return;
    }
    tmx_plot_data(p, name, "", t);
    snprintf(beside, sizeof beside, "%s/%s.%s", p->dir, name, p->format);
    const char *out = p->file ? p->file : beside;
    tmx_plot_label(p, "figure", name);
    tmx_plot_label(p, "script", script); /* whose caption says what to see */
    tmx_plot_labels(p, name, "");
    const bool lacks[] = {p->title && !p->said_title, p->x_label && !p->said_x, p->y_label && !p->said_y};
    static const char *const option[] = {"--title", "--x-label", "--y-label"};
    for (size_t i = 0; i < 3 && tmx_plot_wants(p, name); i++) {
        if (lacks[i]) {
            tmx_error(p->err, TMX_ECONFIG,
                      "%s: the script of figure %s (plots/scripts/%s.gp) has its own words", option[i], name,
                      script);
        }
    }
    if (!p->err->code && tmx_plot_wants(p, name)) {
        draw(p, script, name, out, p->err);
        p->n_figure += !p->err->code;
        if (!p->err->code && !p->quiet) {
            printf("%s\n", out);
        }
    }
    tmx_plot_drop(p);
}

bool tmx_plot_is_file(const char *to)
{
    const char *dot = strrchr(to, '.');
    return dot && tmx_names_find(dot + 1, formats, N_FORMAT) < N_FORMAT;
}

enum tmx_status tmx_plot_target(struct tmx_plot *p, const char *to, const char *format, char *dir,
                                size_t size, struct tmx_err *err)
{
    static const char *const others[] = {"gif", "jpg",  "jpeg", "eps", "ps",
                                         "tif", "tiff", "webp", "bmp", "html"};
    enum { N_OTHER = sizeof others / sizeof others[0] };
    const char *dot = strrchr(to, '.');
    const size_t i = dot ? tmx_names_find(dot + 1, formats, N_FORMAT) : N_FORMAT;
    if (i < N_FORMAT) {
        if (format && strcmp(format, formats[i]) != 0) {
            return tmx_fail(err, TMX_ECONFIG, "-o %s and --format %s: which of the two?", to, format);
        }
        if (!p->only) {
            return tmx_fail(
                err, TMX_ECONFIG,
                "-o %s is one file and these may be several figures: --figure NAME chooses one, or give "
                "a folder and --format %s",
                to, formats[i]);
        }
        snprintf(dir, size, "%.*s.figure", (int)(dot - to), to);
        p->file = to;
        p->format = formats[i];
        p->dir = dir;
        return TMX_OK;
    }
    if (dot && tmx_names_find(dot + 1, others, N_OTHER) < N_OTHER) {
        return tmx_fail(err, TMX_ECONFIG, "-o %s: figures are .svg, .png or .pdf", to);
    }
    p->format = format ? format : "svg";
    p->dir = to;
    return TMX_OK;
}

int tmx_pareto_order(const void *a, const void *b)
{
    const struct tmx_pareto_point *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

size_t tmx_pareto_front(struct tmx_pareto_point *point, size_t n, size_t *front)
{
    size_t n_front = 0;
    double best = INFINITY;
    qsort(point, n, sizeof *point, tmx_pareto_order);
    for (size_t i = 0; i < n; i++) {
        if (point[i].y < best) {
            front[n_front++] = i;
        }
        best = fmin(best, point[i].y);
    }
    return n_front;
}

void tmx_plot_pareto(struct tmx_plot *p, struct tmx_pareto_point *point, size_t n)
{
    struct tmx_table *all = tmx_table_of("name x:4 y:4"), *best = tmx_table_of("name x:4 y:4");
    size_t *front = malloc((n + 1) * sizeof *front);
    const size_t n_front = front ? tmx_pareto_front(point, n, front) : 0;
    for (size_t i = 0, next; i < n; i = next) { /* points at one place are one, with all their names */
        char names[MAX_TEXT], was[MAX_TEXT];
        snprintf(names, sizeof names, "%s", renamed(p, point[i].name));
        for (next = i + 1; next < n && point[next].x == point[i].x && point[next].y == point[i].y; next++) {
            tmx_text_add(names, sizeof names, ", %s", renamed(p, point[next].name));
        }
        tmx_table_row(all, "%s %g %g", names, point[i].x, point[i].y);
        if (strcmp(names, point[i].name) != 0) { /* the first one's colour */
            snprintf(was, sizeof was, "was_%.390s", names);
            tmx_plot_label(p, was, point[i].name);
        }
        tmx_plot_label(p, "name", names);
    }
    for (size_t i = 0; i < n_front; i++) {
        tmx_table_row(best, "%s %g %g", point[front[i]].name, point[front[i]].x, point[front[i]].y);
    }
    tmx_memory_check(front, p->err);
    free(front);
    tmx_plot_data(p, "pareto", "_front", best);
    tmx_plot_draw(p, "pareto", "pareto", all);
}

void tmx_plot_outline(struct tmx_table *t, const struct tmx_unit *unit, double x_m, double y_m)
{
    tmx_table_row(t, "%s %g %g %g %g", unit->name, 1e3 * (x_m + unit->x_m),
                  1e3 * (x_m + unit->x_m + unit->w_m), 1e3 * (y_m + unit->y_m),
                  1e3 * (y_m + unit->y_m + unit->h_m));
}

const char *tmx_plot_stem(const char *path, const char *ending, char buf[80])
{
    const char *last = tmx_text_behind(path, '/'), *name = *last ? last : path, *dot = strrchr(name, '.');
    const bool cut = dot && (!ending || (strcmp(dot, ending) == 0 && dot > name));
    snprintf(buf, 80, "%.*s", cut ? (int)(dot - name) : (int)strlen(name), name);
    return buf;
}
