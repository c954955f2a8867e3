/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 3D-ICE stacks -> HotSpot's .lcf, .flp, .ptrace and .config. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "core/base/output.h"
#include "core/floorplan/floorplan.h"
#include "thermal/files/ice_stack.h"

enum { PATH = 1100 };
static const double SAME_M = 1e-9; /* rounding of a floorplan's numbers */
static const double UM = 1e-6;

/* A floorplan's path: relative to the folder of the stack file, or else, as 3D-ICE has it, to the current
 * one. */
static void locate(const char *stack, const char *file, char path[PATH])
{
    const char *slash = strrchr(stack, '/');
    snprintf(path, PATH, "%s", file);
    if (file[0] != '/' && slash) {
        char beside[PATH];
        snprintf(beside, PATH, "%.*s/%s", (int)(slash - stack), stack, file);
        if (tmx_os_exists(beside) || !tmx_os_exists(file)) {
            memcpy(path, beside, sizeof beside);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Edges of fp's units along one axis, with the chip's, ascending and apart; returns how many. */
static size_t edges(const struct tmx_floorplan *fp, bool x, double chip_m, double *edge)
{
    size_t n = 0, kept = 0;
    edge[n++] = 0;
    edge[n++] = chip_m;
    for (size_t u = 0; u < fp->n_unit; u++) {
        const struct tmx_unit *unit = &fp->unit[u];
        edge[n++] = x ? unit->x_m : unit->y_m;
        edge[n++] = x ? unit->x_m + unit->w_m : unit->y_m + unit->h_m;
    }
    qsort(edge, n, sizeof *edge, by_size);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || edge[i] - edge[kept - 1] > SAME_M) {
            edge[kept++] = edge[i];
        }
    }
    return kept;
}

static bool taken(const struct tmx_floorplan *fp, size_t n_unit, double x, double y)
{
    for (size_t u = 0; u < n_unit; u++) {
        const struct tmx_unit *v = &fp->unit[u];
        if (x > v->x_m && x < v->x_m + v->w_m && y > v->y_m && y < v->y_m + v->h_m) {
            return true;
        }
    }
    return false;
}

/* What the elements leave of the chip becomes blocks without power: HotSpot takes the blocks' bounding box
 * for the die. */
static enum tmx_status fill_margins(const struct tmx_ice_stack *s, struct tmx_floorplan *fp,
                                    struct tmx_err *err)
{
    const size_t n_unit = fp->n_unit;
    double *x = calloc(4 * n_unit + 4, sizeof *x), *y = x + 2 * n_unit + 2;
    if (!x) {
        return tmx_fail(err, TMX_ENOMEM, "margins of %s", fp->source);
    }
    const size_t nx = edges(fp, true, s->length_m, x), ny = edges(fp, false, s->width_m, y);
    enum tmx_status st = TMX_OK;
    if (x[0] < -SAME_M || y[0] < -SAME_M || x[nx - 1] > s->length_m + SAME_M ||
        y[ny - 1] > s->width_m + SAME_M) {
        st = tmx_fail_at(err, TMX_EPARSE, fp->source, 0, "an element lies outside the chip of %g x %g um",
                         s->length_m / UM, s->width_m / UM);
    }
    size_t n_filler = 0;
    for (size_t j = 0; j + 1 < ny && !st; j++) {
        for (size_t i = 0; i + 1 < nx && !st;) {
            size_t to = i; /* as far as the row is free */
            while (to + 1 < nx && !taken(fp, n_unit, 0.5 * (x[to] + x[to + 1]), 0.5 * (y[j] + y[j + 1]))) {
                to++;
            }
            if (to > i) {
                char name[32];
                snprintf(name, sizeof name, "filler_%zu", n_filler++);
                const struct tmx_unit u = {.name = name,
                                           .x_m = x[i],
                                           .y_m = y[j],
                                           .w_m = x[to] - x[i],
                                           .h_m = y[j + 1] - y[j],
                                           .heat_capacity_j_per_m3k = NAN,
                                           .resistivity_mk_per_w = NAN};
                st = tmx_floorplan_add(fp, &u, err);
            }
            i = to + 1;
        }
    }
    free(x);
    return st;
}

static enum tmx_status write_floorplan(struct tmx_ice_stack *s, struct tmx_ice_placed *p, const char *out_dir,
                                       struct tmx_err *err)
{
    char from[PATH], to[PATH];
    locate(s->l.text.name, p->floorplan, from);
    enum tmx_status st = tmx_ice_read_flp(from, &p->units, &p->powers, err);
    const size_t n_element = p->units.n_unit;
    st = st ? st : fill_margins(s, &p->units, err);
    if (!st && p->powers.n_slot > 0) {
        const size_t n_slot = p->powers.n_slot, n = p->units.n_unit;
        double *w = realloc(p->powers.w, n * n_slot * sizeof *w);
        st = w ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "powers of %s", from);
        p->powers.w = w ? w : p->powers.w;
        for (size_t i = n_element * n_slot; w && i < n * n_slot; i++) {
            w[i] = 0;
        }
    }
    snprintf(to, sizeof to, "%s/%s.flp", out_dir, p->name);
    return st ? st : tmx_flp_write(to, &p->units, "converted from a 3D-ICE floorplan", err);
}

/* Name of the floorplan of layers that have none: one that no die has. */
static void name_block(struct tmx_ice_stack *s)
{
    snprintf(s->block, sizeof s->block, "die");
    for (size_t i = 0; i < s->n_placed; i++) {
        if (s->kind[s->placed[i].kind].die && tmx_word_compare(s->placed[i].name, s->block) == 0) {
            strncat(s->block, "_", sizeof s->block - strlen(s->block) - 1);
            i = (size_t)-1; /* begin again */
        }
    }
}

static enum tmx_status write_block(const struct tmx_ice_stack *s, const char *out_dir, struct tmx_err *err)
{
    char to[PATH], name[] = "die";
    struct tmx_floorplan fp = {0};
    const struct tmx_unit u = {.name = name,
                               .w_m = s->length_m,
                               .h_m = s->width_m,
                               .heat_capacity_j_per_m3k = NAN,
                               .resistivity_mk_per_w = NAN};
    snprintf(to, sizeof to, "%s/%s.flp", out_dir, s->block);
    enum tmx_status st = tmx_floorplan_add(&fp, &u, err);
    st = st ? st : tmx_flp_write(to, &fp, "one block for layers without a floorplan", err);
    tmx_floorplan_finish(&fp);
    return st;
}

/* Is it cooled from the bottom alone? Layer 0 is the one farthest from the sink. */
static bool upside_down(const struct tmx_ice_stack *s)
{
    return s->top_w_per_m2k == 0 && s->bottom_w_per_m2k > 0;
}

/* The entry of the stack that is the i-th from layer 0 on. */
static const struct tmx_ice_placed *placed_at(const struct tmx_ice_stack *s, size_t i)
{
    return &s->placed[upside_down(s) ? i : s->n_placed - 1 - i];
}

static void write_layers(const struct tmx_ice_stack *s, FILE *out)
{
    size_t number = 0;
    fprintf(out, "# Converted from a 3D-ICE stack. Layer 0 is farthest from the heat sink.\n"
                 "# number, lateral flow, power, J/(m3 K), m K/W, m, floorplan\n");
    for (size_t i = 0; i < s->n_placed; i++) {
        const struct tmx_ice_placed *p = placed_at(s, i);
        const struct tmx_ice_kind *k = &s->kind[p->kind];
        for (size_t j = 0; j < k->n_slice; j++) {
            const struct tmx_ice_slice *slice = &k->slice[upside_down(s) ? j : k->n_slice - 1 - j];
            const struct tmx_ice_material *m = &s->material[slice->material];
            char c[TMX_REAL_SIZE], r[TMX_REAL_SIZE], t[TMX_REAL_SIZE];
            tmx_real_print(c, m->c_j_per_m3k);
            tmx_real_print(r, 1 / m->k_w_per_mk);
            tmx_real_print(t, slice->height_m * UM);
            fprintf(out, "%zu\nY\n%c\n%s\n%s\n%s\n%s.flp\n\n", number++, slice->source ? 'Y' : 'N', c, r, t,
                    slice->source ? p->name : s->block);
        }
    }
}

static bool dissipates(const struct tmx_ice_stack *s, const struct tmx_ice_placed *p)
{
    bool any = false;
    for (size_t j = 0; j < s->kind[p->kind].n_slice; j++) {
        any = any || s->kind[p->kind].slice[j].source;
    }
    return any;
}

/* Columns in the order of the layers; a row a slot. */
static enum tmx_status write_powers(const struct tmx_ice_stack *s, size_t n_slot, FILE *out,
                                    struct tmx_err *err)
{
    const char *before = "";
    for (size_t i = 0; i < s->n_placed; i++) {
        const struct tmx_ice_placed *p = placed_at(s, i);
        for (size_t u = 0; dissipates(s, p) && u < p->units.n_unit; u++) {
            fprintf(out, "%s%s", before, p->units.unit[u].name);
            before = "\t";
        }
        if (dissipates(s, p) && p->powers.n_slot > 0 && p->powers.n_slot != n_slot) {
            return tmx_fail_at(err, TMX_EPARSE, s->l.text.name, 0,
                               "die \"%s\" has %zu power values, another %zu", p->name, p->powers.n_slot,
                               n_slot);
        }
    }
    for (size_t k = 0; k < n_slot; k++) {
        before = "\n";
        for (size_t i = 0; i < s->n_placed; i++) {
            const struct tmx_ice_placed *p = placed_at(s, i);
            for (size_t u = 0; dissipates(s, p) && u < p->units.n_unit; u++) {
                char w[TMX_REAL_SIZE];
                tmx_real_print(w, p->powers.n_slot ? p->powers.w[u * n_slot + k] : 0);
                fprintf(out, "%s%s", before, w);
                before = "\t";
            }
        }
    }
    fputc('\n', out);
    return TMX_OK;
}

/* Two sheets of next to nothing, of the last layer's material, stand for spreader and sink. */
static void write_config(const struct tmx_ice_stack *s, bool powers, FILE *out)
{
    static const double SHEET_M = 1e-8;
    const struct tmx_ice_kind *last = &s->kind[placed_at(s, s->n_placed - 1)->kind];
    const struct tmx_ice_material *m =
        &s->material[last->slice[upside_down(s) ? last->n_slice - 1 : 0].material];
    const double side_m = fmax(s->length_m, s->width_m), face_m2 = s->length_m * s->width_m;
    const bool both = s->top_w_per_m2k > 0 && s->bottom_w_per_m2k > 0;
    const double film = upside_down(s) ? s->bottom_w_per_m2k : s->top_w_per_m2k;
    const struct {
        const char *key;
        double v;
    } rows[] = {{"ambient", s->ambient_k},
                {"init_temp", s->init_k > 0 ? s->init_k : s->ambient_k},
                {"s_spreader", side_m},
                {"t_spreader", SHEET_M},
                {"k_spreader", m->k_w_per_mk},
                {"p_spreader", m->c_j_per_m3k},
                {"s_sink", side_m},
                {"t_sink", SHEET_M},
                {"k_sink", m->k_w_per_mk},
                {"p_sink", m->c_j_per_m3k},
                {"r_convec", 1 / (film * side_m * side_m)},
                {"c_convec", 0},
                {"r_below", both ? 1 / (s->bottom_w_per_m2k * face_m2) : 0},
                {"sampling_intvl", s->slot_s > 0 ? s->slot_s : 1}};
    fprintf(out,
            "# Converted from a 3D-ICE stack, for thermix thermal --network physical.\n-model_type grid\n"
            "-grid_layer_file stack.lcf\n%s",
            powers ? "-p stack.ptrace\n" : "");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TMX_REAL_SIZE];
        tmx_real_print(text, rows[i].v);
        fprintf(out, "-%s %s\n", rows[i].key, text);
    }
    if (s->cell_length_m > 0) {
        fprintf(out, "-grid_rows %.0f\n-grid_cols %.0f\n",
                fmin(fmax(2, round(s->width_m / s->cell_width_m)), 4096),
                fmin(fmax(2, round(s->length_m / s->cell_length_m)), 4096));
    }
}

static enum tmx_status write_files(const struct tmx_ice_stack *s, const char *out_dir, struct tmx_err *err)
{
    static const char *const names[] = {"stack.lcf", "stack.ptrace", "stack.config"};
    size_t n_slot = 0;
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < s->n_placed; i++) {
        n_slot = s->placed[i].powers.n_slot > n_slot ? s->placed[i].powers.n_slot : n_slot;
    }
    for (size_t f = 0; f < sizeof names / sizeof names[0] && !st; f++) {
        char path[PATH];
        struct tmx_output o;
        if ((f == 1 && n_slot == 0) || (f == 2 && s->top_w_per_m2k + s->bottom_w_per_m2k == 0)) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", out_dir, names[f]);
        st = tmx_output_open(&o, path, err);
        if (st) {
            return st;
        }
        if (f == 0) {
            write_layers(s, o.file);
        } else if (f == 1) {
            st = write_powers(s, n_slot, o.file, err);
        } else {
            write_config(s, n_slot > 0, o.file);
        }
        st = st ? st : tmx_output_commit(&o, err);
        tmx_output_discard(&o);
    }
    return st;
}

enum tmx_status tmx_ice_convert_stack(const char *path, const char *out_dir, struct tmx_err *err)
{
    struct tmx_ice_stack *s = calloc(1, sizeof *s);
    if (!s) {
        return tmx_no_memory(err);
    }
    enum tmx_status st = tmx_ice_stack_read(s, path, err);
    st = st ? st : tmx_os_mkdirs(out_dir, err);
    st = st ? st : tmx_folder_open(out_dir, TMX_FOLDER_RESULTS, err);
    for (size_t i = 0; i < s->n_placed && !st; i++) {
        st = s->kind[s->placed[i].kind].die ? write_floorplan(s, &s->placed[i], out_dir, err) : TMX_OK;
    }
    name_block(s);
    st = st ? st : write_block(s, out_dir, err);
    st = st ? st : write_files(s, out_dir, err);
    tmx_ice_stack_finish(s);
    free(s);
    return st;
}
