/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/output.h"
#include "base/text.h"

static const double side_px = 720, margin_px = 46, label_px = 13, key_px = 22;

/* Units of one kind, whose names begin with the same letters, share a colour, light enough for black text; in
 * the order in which kinds come. After the last colour they come again. */
static const char *const palette[] = {"#f5c98b", "#bfe0f5", "#a7dccb", "#f0b8a0", "#e6c3d8", "#f7f0b5",
                                      "#a9c7e8", "#d5d5d5", "#c9e29b", "#d9c9a3", "#c4bfe8", "#9fd8d8"};
enum { N_COLOUR = sizeof palette / sizeof palette[0], MOST_KINDS = 24 };

struct kinds {
    const struct tmx_floorplan *fp;
    size_t first[MOST_KINDS], count[MOST_KINDS]; /* a unit of each, and how many there are */
    size_t n;
};

/* Letters of a name that are its kind's. */
static size_t kind_length(const char *name)
{
    const size_t n = strcspn(name, "0123456789_.-");
    return n > 1                                    ? n
           : n + strspn(name + n, "0123456789") > 0 ? n + strspn(name + n, "0123456789")
                                                    : strlen(name); /* L2 */
}

/* Number of a unit's kind, which is added when it is new; what is beyond the most is of the last. */
static size_t kind_of(struct kinds *k, size_t unit)
{
    const char *name = k->fp->unit[unit].name;
    size_t i = 0;
    for (; i < k->n; i++) {
        const char *other = k->fp->unit[k->first[i]].name;
        if (kind_length(other) == kind_length(name) && strncmp(other, name, kind_length(name)) == 0) {
            return i;
        }
    }
    if (i == MOST_KINDS) {
        return i - 1;
    }
    k->first[k->n++] = unit;
    return i;
}

static void find_kinds(struct kinds *k, const struct tmx_floorplan *fp)
{
    *k = (struct kinds){.fp = fp};
    for (size_t u = 0; u < fp->n_unit; u++) {
        k->count[kind_of(k, u)]++;
    }
}

/* "SM (30)", or the one unit's name. */
static const char *kind_text(const struct kinds *k, size_t kind, char buf[80])
{
    const char *name = k->fp->unit[k->first[kind]].name;
    if (k->count[kind] > 1) {
        snprintf(buf, 80, "%.*s (%zu)", (int)(kind_length(name) < 60 ? kind_length(name) : 60), name,
                 k->count[kind]);
    } else {
        snprintf(buf, 80, "%.70s", name);
    }
    return buf;
}

static void escaped(FILE *out, const char *s)
{
    for (; *s; s++) {
        fputs(*s == '<' ? "&lt;" : *s == '>' ? "&gt;" : *s == '&' ? "&amp;" : (char[]){*s, '\0'}, out);
    }
}

static void draw_unit(const struct tmx_unit *u, const char *fill, double scale, double height_px, FILE *out)
{
    const double x = margin_px + u->x_m * scale, w = u->w_m * scale, h = u->h_m * scale;
    const double y = height_px - (u->y_m * scale + h) + 8, n = (double)strlen(u->name);
    const double fit = fmin(label_px, fmin(0.8 * h, 1.6 * w / n)),
                 fit_up = fmin(label_px, fmin(0.8 * w, 1.6 * h / n));
    const int up = fit_up > fit;
    fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>", x, y, w, h,
            fill);
    fprintf(out, "<text font-size=\"%.1f\" transform=\"translate(%.2f %.2f)%s\">", up ? fit_up : fit,
            x + w / 2, y + h / 2, up ? " rotate(-90)" : "");
    escaped(out, u->name);
    fputs("</text>\n", out);
}

static void draw_scale(double width_m, double height_m, double scale, double height_px, FILE *out)
{
    const double mm = width_m > 0.012 ? 4e-3 : width_m > 0.004 ? 1e-3 : 0.5e-3;
    for (int i = 0; i * mm <= width_m + 1e-9; i++) {
        const double x = i * mm;
        fprintf(out, "<text class=\"s\" x=\"%.2f\" y=\"%.2f\">%g</text>\n", margin_px + x * scale,
                height_px + 24, 1e3 * x);
    }
    for (int i = 0; i * mm <= height_m + 1e-9; i++) {
        const double y = i * mm;
        fprintf(out, "<text class=\"s\" x=\"%.2f\" y=\"%.2f\">%g</text>\n", margin_px - 18,
                height_px - y * scale + 8, 1e3 * y);
    }
    fprintf(out, "<text class=\"s\" x=\"%.2f\" y=\"%.2f\">x (mm)</text>\n", margin_px + width_m * scale / 2,
            height_px + 42);
    fprintf(out, "<text class=\"s\" transform=\"translate(10 %.2f) rotate(-90)\">y (mm)</text>\n",
            height_px / 2);
}

/* A square and a word a kind, as many in a line as fit. Returns the height of the lines. */
static double draw_key(const struct kinds *k, double width_px, double top_px, FILE *out)
{
    double x = margin_px, y = top_px;
    for (size_t i = 0; i < k->n; i++) {
        char text[80];
        const double wide = 26 + 8.5 * (double)strlen(kind_text(k, i, text));
        if (x > margin_px && x + wide > width_px) {
            x = margin_px;
            y += key_px;
        }
        if (out) {
            fprintf(out,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"13\" height=\"13\" fill=\"%s\"/><text class=\"k\" "
                    "x=\"%.2f\" y=\"%.2f\">",
                    x, y - 7, palette[i % N_COLOUR], x + 18, y);
            escaped(out, text);
            fputs("</text>\n", out);
        }
        x += wide;
    }
    return y + key_px - top_px;
}

static enum tmx_status save_svg(const struct tmx_floorplan *fp, const char *path, struct tmx_err *err)
{
    struct tmx_output o;
    struct kinds kinds;
    find_kinds(&kinds, fp);
    const double w_m = tmx_floorplan_width_m(fp), h_m = tmx_floorplan_height_m(fp);
    const double scale = side_px / fmax(w_m, h_m), height_px = h_m * scale,
                 width_px = margin_px + w_m * scale + 16;
    if (tmx_output_open(&o, path, err)) {
        return err->code;
    }
    fprintf(
        o.file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n"
        "<style>rect{stroke:#333;stroke-width:.8}text{text-anchor:middle;dominant-baseline:central}"
        ".s{font-size:14px}.k{font-size:14px;text-anchor:start}</style>\n<title>Floorplan ",
        width_px, height_px + 66 + draw_key(&kinds, width_px, 0, NULL));
    escaped(o.file, fp->source);
    fputs("</title>\n", o.file);
    for (size_t i = 0; i < fp->n_unit; i++) {
        draw_unit(&fp->unit[i], palette[kind_of(&kinds, i) % N_COLOUR], scale, height_px, o.file);
    }
    draw_scale(w_m, h_m, scale, height_px, o.file);
    (void)draw_key(&kinds, width_px, height_px + 68, o.file);
    fputs("</svg>\n", o.file);
    return tmx_output_end(&o, err);
}

/* By gnuplot, whose other formats are these. */
static enum tmx_status save_picture(const struct tmx_floorplan *fp, const char *path, struct tmx_err *err)
{
    struct tmx_plot p = {.only = "floorplan", .quiet = true};
    struct kinds kinds;
    char dir[1024], text[80];
    find_kinds(&kinds, fp);
    if (tmx_plot_target(&p, path, NULL, dir, sizeof dir, err) || tmx_plot_begin(&p, err)) {
        return err->code;
    }
    struct tmx_table *t = tmx_table_of(TMX_OUTLINE_COLUMNS " kind:d");
    tmx_plot_folder(&p);
    for (size_t u = 0; u < fp->n_unit; u++) {
        tmx_plot_outline(t, &fp->unit[u], 0, 0);
        tmx_table_row(t, "%zu", kind_of(&kinds, u) + 1);
    }
    for (size_t i = 0; i < kinds.n; i++) {
        tmx_plot_label(&p, "name", kind_text(&kinds, i, text));
        tmx_plot_label(&p, "fill", palette[i % N_COLOUR]);
    }
    tmx_plot_numbers(&p, "width_mm height_mm",
                     (double[]){1e3 * tmx_floorplan_width_m(fp), 1e3 * tmx_floorplan_height_m(fp)});
    tmx_plot_draw(&p, "floorplan", "floorplan", t);
    return err->code;
}

enum tmx_status tmx_floorplan_draw(const struct tmx_floorplan *fp, const char *path, struct tmx_err *err)
{
    return tmx_text_ends(path, ".svg") ? save_svg(fp, path, err) : save_picture(fp, path, err);
}

static const double map_px = 150, gap_px = 26, text_px = 34;
enum { PER_ROW = 6 };

/* Okabe and Ito's vermilion works; what is no SM is lightest. */
static const char works[] = "#d55e00", rests[] = "#cfe3f2", other[] = "#f2f2f2";

static void draw(const struct tmx_chip *c, const bool *on, double x_px, double y_px, double scale, FILE *out)
{
    const struct tmx_floorplan *fp = &c->floorplan;
    const double height_m = tmx_floorplan_height_m(fp);
    for (size_t u = 0; u < fp->n_unit; u++) {
        const struct tmx_unit *r = &fp->unit[u];
        const int s = c->sm_of_unit[u];
        fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n",
                x_px + r->x_m * scale, y_px + (height_m - r->y_m - r->h_m) * scale, r->w_m * scale,
                r->h_m * scale,
                s == TMX_NO_SM ? other
                : on[s]        ? works
                               : rests);
    }
}

static void draw_all(const struct tmx_chip *c, const struct tmx_table *t, const char *watts, bool *on,
                     FILE *out)
{
    const double w_m = tmx_floorplan_width_m(&c->floorplan), h_m = tmx_floorplan_height_m(&c->floorplan);
    const double scale = map_px / fmax(w_m, h_m), cell_w = map_px + gap_px,
                 cell_h = h_m * scale + text_px + gap_px;
    const size_t n = tmx_table_rows(t), per_row = n < PER_ROW ? n : PER_ROW,
                 rows = (n + PER_ROW - 1) / PER_ROW;
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n"
        "<style>rect{stroke:#666;stroke-width:.5}text{font-size:13px;text-anchor:middle}</style>\n"
        "<title>Safe mappings of %s</title>\n",
        (double)per_row * cell_w + gap_px, (double)rows * cell_h + gap_px, c->name);
    for (size_t i = 0; i < n; i++) {
        const double x = gap_px + (double)(i % PER_ROW) * cell_w, y = gap_px + (double)(i / PER_ROW) * cell_h;
        const long long sms = (long long)tmx_table_cell(t, i, tmx_table_find(t, "sms"))->integer;
        const double each_w = tmx_table_cell(t, i, tmx_table_find(t, watts))->real;
        /* SM numbers between blanks. */
        const char *text = tmx_table_cell(t, i, tmx_table_find(t, "map"))->text;
        memset(on, 0, c->n_sm * sizeof *on);
        for (char *end; *text; text = end) {
            const unsigned long s = strtoul(text, &end, 10);
            if (end == text) {
                break;
            }
            if (s < c->n_sm) {
                on[s] = true;
            }
        }
        draw(c, on, x, y, scale, out);
        fprintf(out, "<text x=\"%.2f\" y=\"%.2f\">%lld SM%s: %.2f W each</text>\n", x + w_m * scale / 2,
                y + h_m * scale + 18, sms, sms == 1 ? "" : "s", each_w);
    }
    fputs("</svg>\n", out);
}

enum tmx_status tmx_budget_save_svg(const struct tmx_chip *c, const struct tmx_table *t, const char *watts,
                                    const char *path, struct tmx_err *err)
{
    struct tmx_output o;
    bool *on = calloc(c->n_sm, sizeof *on);
    tmx_memory_check(on, err);
    tmx_os_mkdirs_for(path, err);
    if (!tmx_output_open(&o, path, err)) {
        draw_all(c, t, watts, on, o.file);
    }
    free(on);
    return tmx_output_end(&o, err);
}
