/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/output.h"

static const double side_px = 720, margin_px = 46, label_px = 13;

/* Units of one kind (name without its digits) share a colour of Okabe and Ito's palette,
 * light enough for black text. */
static const char *colour(const char *name)
{
    static const char *const palette[] = {"#f5c98b", "#bfe0f5", "#a7dccb", "#f7f0b5",
                                          "#a9c7e8", "#f0b8a0", "#e6c3d8"};
    unsigned kind = 0;
    for (const char *c = name; *c && (*c < '0' || *c > '9'); c++) {
        kind = kind * 31 + (unsigned char)*c;
    }
    return palette[kind % (sizeof palette / sizeof palette[0])];
}

static void escaped(FILE *out, const char *s)
{
    for (; *s; s++) {
        fputs(*s == '<' ? "&lt;" : *s == '>' ? "&gt;" : *s == '&' ? "&amp;" : (char[]){*s, '\0'}, out);
    }
}

static void draw_unit(const struct tmx_unit *u, double scale, double height_px, FILE *out)
{
    const double x = margin_px + u->x_m * scale, w = u->w_m * scale, h = u->h_m * scale;
    const double y = height_px - (u->y_m * scale + h) + 8, n = (double)strlen(u->name);
    const double fit = fmin(label_px, fmin(0.8 * h, 1.6 * w / n)),
                 fit_up = fmin(label_px, fmin(0.8 * w, 1.6 * h / n));
    const int up = fit_up > fit;
    fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>", x, y, w, h,
            colour(u->name));
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

enum tmx_status tmx_floorplan_save_svg(const struct tmx_floorplan *fp, const char *path, struct tmx_err *err)
{
    struct tmx_output o;
    const double w_m = tmx_floorplan_width_m(fp), h_m = tmx_floorplan_height_m(fp);
    const double scale = side_px / fmax(w_m, h_m), height_px = h_m * scale;
    const enum tmx_status st = tmx_output_open(&o, path, err);
    if (st) {
        return st;
    }
    fprintf(
        o.file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n"
        "<style>rect{stroke:#333;stroke-width:.8}text{text-anchor:middle;dominant-baseline:central}"
        ".s{font-size:14px}</style>\n<title>Floorplan ",
        margin_px + w_m * scale + 16, height_px + 56);
    escaped(o.file, fp->source);
    fputs("</title>\n", o.file);
    for (size_t i = 0; i < fp->n_unit; i++) {
        draw_unit(&fp->unit[i], scale, height_px, o.file);
    }
    draw_scale(w_m, h_m, scale, height_px, o.file);
    fputs("</svg>\n", o.file);
    return tmx_output_commit(&o, err);
}

static const double map_px = 150, gap_px = 26, text_px = 34;
enum { PER_ROW = 6 };

/* Okabe and Ito's vermilion works; what is no SM is lightest. */
static const char works[] = "#d55e00", rests[] = "#cfe3f2", other[] = "#f2f2f2";

static size_t column(const struct tmx_table *t, const char *name)
{
    size_t c = 0;
    while (c < tmx_table_columns(t) && strcmp(tmx_table_column(t, c)->name, name) != 0) {
        c++;
    }
    return c;
}

/* SM numbers between blanks. */
static void read_map(const char *text, bool *on, size_t n)
{
    memset(on, 0, n * sizeof *on);
    for (char *end; *text; text = end) {
        const unsigned long s = strtoul(text, &end, 10);
        if (end == text) {
            break;
        }
        if (s < n) {
            on[s] = true;
        }
    }
}

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
        const long long sms = (long long)tmx_table_cell(t, i, column(t, "sms"))->integer;
        const double each_w = tmx_table_cell(t, i, column(t, watts))->real;
        read_map(tmx_table_cell(t, i, column(t, "map"))->text, on, c->n_sm);
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
    enum tmx_status st = on ? tmx_os_mkdirs_for(path, err) : tmx_fail(err, TMX_ENOMEM, "map");
    st = st ? st : tmx_output_open(&o, path, err);
    if (!st) {
        draw_all(c, t, watts, on, o.file);
    }
    free(on);
    return st ? st : tmx_output_commit(&o, err);
}
