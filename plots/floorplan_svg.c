/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plots/floorplan_svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
