/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/oracle/slow_fv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double OUT_GROWTH = 1.2, DOWN_GROWTH = 1.25; /* from a cell to the next, away from the die */
static const double FIRST_S = 2e-5, STEP_PART = 0.1;      /* time steps: a part of the time so far */
static const double SOLVED = 1e-9;                        /* of the residual */

struct slow_fv {
    const struct tmx_thermal_spec *spec;
    size_t n[3], n_cell;
    double *line[3];     /* [n + 1] each; x, y from the die's corner, z from the face away from the sink */
    double *k, *c;       /* [n_cell] conductivity, 0: nothing there; heat capacity J/K */
    double *g[3];        /* [n_cell] conductance to the next cell along x, y, z */
    double *film;        /* [n_cell] to the air */
    double *share;       /* [n_unit][nx * ny] of each unit's area in a cell of the face */
    size_t n_unit, face; /* first z of the layer that dissipates */
    double *work[6];     /* [n_cell] */
    double *up;          /* [n_cell] of the column solver */
};

static double *room(size_t n)
{
    double *p = calloc(n, sizeof *p);
    if (!p) {
        fprintf(stderr, "slow_fv: out of memory\n");
        abort();
    }
    return p;
}

/* Lines that begin with `line[n]` and go on to `end` in growing cells, the first of size `from`. */
static size_t go_on(double *line, size_t n, double end, double from, double growth)
{
    double size = from;
    while (end - line[n] > 1.6 * size) {
        line[n + 1] = line[n] + size;
        size *= growth;
        n++;
    }
    if (end - line[n] > 1e-9) {
        line[++n] = end;
    }
    return n;
}

static void side_lines(struct slow_fv *f, int axis, double die, size_t n_die)
{
    enum { MAX = 4000 };
    const struct tmx_package *p = &f->spec->package;
    double out[MAX] = {die};
    const double s = 0.5 * (p->s_spreader_m - die), S = 0.5 * (p->s_sink_m - die);
    size_t n = go_on(out, 0, die + s, die / (double)n_die, OUT_GROWTH);
    n = go_on(out, n, die + S, n > 0 ? out[n] - out[n - 1] : die / (double)n_die, OUT_GROWTH);
    f->n[axis] = n_die + 2 * n;
    f->line[axis] = room(f->n[axis] + 1);
    for (size_t i = 0; i <= n_die; i++) {
        f->line[axis][n + i] = die * (double)i / (double)n_die;
    }
    for (size_t i = 1; i <= n; i++) {
        f->line[axis][n + n_die + i] = out[i];
        f->line[axis][n - i] = die - out[i];
    }
}

static void depth_lines(struct slow_fv *f)
{
    enum { MAX = 4000 };
    const struct tmx_package *p = &f->spec->package;
    double z[MAX] = {0};
    size_t n = 0;
    for (size_t l = 0; l < f->spec->n_layer; l++) {
        const double t = f->spec->layer[l].thickness_m;
        const size_t parts = f->spec->layer[l].dissipates ? 10 : 4;
        f->face = f->spec->layer[l].dissipates ? n : f->face;
        for (size_t i = 0; i < parts; i++, n++) {
            z[n + 1] = z[n] + t / (double)parts;
        }
    }
    n = go_on(z, n, z[n] + p->t_spreader_m, 25e-6, DOWN_GROWTH);
    n = go_on(z, n, z[n] + p->t_sink_m, 1.2 * (z[n] - z[n - 1]), DOWN_GROWTH);
    f->n[2] = n;
    f->line[2] = room(n + 1);
    memcpy(f->line[2], z, (n + 1) * sizeof *z);
}

static double mid(const struct slow_fv *f, int axis, size_t i)
{
    return 0.5 * (f->line[axis][i] + f->line[axis][i + 1]);
}

static double size(const struct slow_fv *f, int axis, size_t i)
{
    return f->line[axis][i + 1] - f->line[axis][i];
}

/* What is at a depth: conductivity, heat capacity and how far it reaches beyond the die. */
static void material(const struct slow_fv *f, double z, double *k, double *p, double *side)
{
    const struct tmx_package *pk = &f->spec->package;
    double top = 0;
    for (size_t l = 0; l < f->spec->n_layer; l++) {
        top += f->spec->layer[l].thickness_m;
        if (z < top) {
            *k = f->spec->layer[l].k_w_per_mk;
            *p = f->spec->layer[l].p_j_per_m3k;
            *side = 0;
            return;
        }
    }
    const int spreader = z < top + pk->t_spreader_m;
    *k = spreader ? pk->k_spreader : pk->k_sink;
    *p = spreader ? pk->p_spreader : pk->p_sink;
    *side = spreader ? pk->s_spreader_m : pk->s_sink_m;
}

static void fill(struct slow_fv *f, double W, double H)
{
    const struct tmx_package *pk = &f->spec->package;
    const size_t nx = f->n[0], ny = f->n[1], nz = f->n[2];
    for (size_t c = 0; c < f->n_cell; c++) {
        const size_t i = c % nx, j = c / nx % ny, l = c / (nx * ny);
        double k, p, side;
        material(f, mid(f, 2, l), &k, &p, &side);
        const double x = fabs(mid(f, 0, i) - 0.5 * W), y = fabs(mid(f, 1, j) - 0.5 * H);
        const double half_x = 0.5 * (side > 0 ? side : W), half_y = 0.5 * (side > 0 ? side : H);
        const double area = size(f, 0, i) * size(f, 1, j);
        f->k[c] = x < half_x && y < half_y ? k : 0;
        f->c[c] = f->k[c] > 0 ? p * area * size(f, 2, l) : 1;
        if (l + 1 == nz) {
            const double r =
                0.5 * size(f, 2, l) / pk->k_sink + pk->r_convec_k_per_w * pk->s_sink_m * pk->s_sink_m;
            f->film[c] = area / r;
            f->c[c] += pk->c_convec_j_per_k * area / (pk->s_sink_m * pk->s_sink_m);
        }
    }
    const size_t next[3] = {1, nx, nx * ny};
    for (size_t c = 0; c < f->n_cell; c++) {
        const size_t at[3] = {c % nx, c / nx % ny, c / (nx * ny)};
        for (int a = 0; a < 3; a++) {
            const size_t d = c + next[a];
            if (at[a] + 1 < f->n[a] && f->k[c] > 0 && f->k[d] > 0) {
                double area = 1;
                for (int o = 0; o < 3; o++) {
                    area *= o == a ? 1 : size(f, o, at[o]);
                }
                f->g[a][c] =
                    area / (0.5 * size(f, a, at[a]) / f->k[c] + 0.5 * size(f, a, at[a] + 1) / f->k[d]);
            }
        }
    }
}

static double covered(double a, double b, double from, double to)
{
    return fmax(0, fmin(b, to) - fmax(a, from));
}

static void fill_shares(struct slow_fv *f, const struct tmx_floorplan *fp)
{
    const size_t nx = f->n[0], ny = f->n[1];
    f->n_unit = fp->n_unit;
    f->share = room(fp->n_unit * nx * ny);
    for (size_t u = 0; u < fp->n_unit; u++) {
        const struct tmx_unit *v = &fp->unit[u];
        for (size_t c = 0; c < nx * ny; c++) {
            const size_t i = c % nx, j = c / nx;
            f->share[u * nx * ny + c] = covered(f->line[0][i], f->line[0][i + 1], v->x_m, v->x_m + v->w_m) *
                                        covered(f->line[1][j], f->line[1][j + 1], v->y_m, v->y_m + v->h_m) /
                                        (v->w_m * v->h_m);
        }
    }
}

struct slow_fv *slow_fv_create(const struct tmx_thermal_spec *spec, size_t n_die)
{
    struct slow_fv *f = calloc(1, sizeof *f);
    if (!f) {
        abort();
    }
    f->spec = spec;
    size_t l = 0;
    while (!spec->layer[l].dissipates) {
        l++;
    }
    const struct tmx_floorplan *fp = spec->layer[l].floorplan;
    const double W = tmx_floorplan_width_m(fp), H = tmx_floorplan_height_m(fp), longer = fmax(W, H);
    side_lines(f, 0, W, (size_t)ceil((double)n_die * W / longer - 1e-9));
    side_lines(f, 1, H, (size_t)ceil((double)n_die * H / longer - 1e-9));
    depth_lines(f);
    f->n_cell = f->n[0] * f->n[1] * f->n[2];
    f->k = room(f->n_cell);
    f->c = room(f->n_cell);
    f->film = room(f->n_cell);
    f->up = room(f->n_cell);
    for (int a = 0; a < 3; a++) {
        f->g[a] = room(f->n_cell);
    }
    for (int w = 0; w < 6; w++) {
        f->work[w] = room(f->n_cell);
    }
    fill(f, W, H);
    fill_shares(f, fp);
    return f;
}

void slow_fv_destroy(struct slow_fv *f)
{
    for (int a = 0; a < 3; a++) {
        free(f->line[a]);
        free(f->g[a]);
    }
    for (int w = 0; w < 6; w++) {
        free(f->work[w]);
    }
    free(f->k);
    free(f->c);
    free(f->film);
    free(f->up);
    free(f->share);
    free(f);
}

size_t slow_fv_cells(const struct slow_fv *f)
{
    return f->n_cell;
}

/* y = (G + s C) x */
static void apply(const struct slow_fv *f, double s, const double *x, double *y)
{
    const size_t next[3] = {1, f->n[0], f->n[0] * f->n[1]};
    for (size_t c = 0; c < f->n_cell; c++) {
        y[c] = (f->film[c] + s * f->c[c] + (f->k[c] > 0 ? 0 : 1)) * x[c];
    }
    for (int a = 0; a < 3; a++) {
        for (size_t c = 0; c + next[a] < f->n_cell; c++) {
            const double q = f->g[a][c] * (x[c] - x[c + next[a]]);
            y[c] += q;
            y[c + next[a]] -= q;
        }
    }
}

/* z = M r: every column solved for itself, its neighbours held at zero. */
static void precondition(struct slow_fv *f, double s, const double *r, double *z)
{
    const size_t sheet = f->n[0] * f->n[1], nx = f->n[0];
    for (size_t col = 0; col < sheet; col++) {
        for (size_t l = 0; l < f->n[2]; l++) {
            const size_t c = l * sheet + col;
            double d =
                f->film[c] + s * f->c[c] + (f->k[c] > 0 ? 0 : 1) + f->g[0][c] + f->g[1][c] + f->g[2][c];
            d += col % nx > 0 ? f->g[0][c - 1] : 0;
            d += col >= nx ? f->g[1][c - nx] : 0;
            const double down = l > 0 ? f->g[2][c - sheet] : 0;
            d += down;
            const double pivot = d - (l > 0 ? down * f->up[c - sheet] : 0);
            f->up[c] = f->g[2][c] / pivot;
            z[c] = (r[c] + (l > 0 ? down * z[c - sheet] : 0)) / pivot;
        }
        for (size_t l = f->n[2] - 1; l-- > 0;) {
            z[l * sheet + col] += f->up[l * sheet + col] * z[(l + 1) * sheet + col];
        }
    }
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* (G + s C) x = b, from what is in x. */
static void solve(struct slow_fv *f, double s, const double *b, double *x)
{
    const size_t n = f->n_cell;
    double *r = f->work[0], *z = f->work[1], *p = f->work[2], *q = f->work[3];
    apply(f, s, x, q);
    for (size_t c = 0; c < n; c++) {
        r[c] = b[c] - q[c];
    }
    const double small = SOLVED * SOLVED * dot(n, b, b);
    precondition(f, s, r, z);
    memcpy(p, z, n * sizeof *p);
    double rz = dot(n, r, z);
    for (int it = 0; it < 20000 && dot(n, r, r) > small; it++) {
        apply(f, s, p, q);
        const double alpha = rz / dot(n, p, q);
        for (size_t c = 0; c < n; c++) {
            x[c] += alpha * p[c];
            r[c] -= alpha * q[c];
        }
        precondition(f, s, r, z);
        const double last = rz;
        rz = dot(n, r, z);
        for (size_t c = 0; c < n; c++) {
            p[c] = z[c] + rz / last * p[c];
        }
    }
}

static void load(const struct slow_fv *f, const double *power_w, double *b)
{
    const size_t sheet = f->n[0] * f->n[1];
    memset(b, 0, f->n_cell * sizeof *b);
    for (size_t u = 0; u < f->n_unit; u++) {
        for (size_t c = 0; c < sheet; c++) {
            b[f->face * sheet + c] += power_w[u] * f->share[u * sheet + c];
        }
    }
}

/* Unit means on the face: half a cell beyond the first cell's middle, where the power comes in. */
static void read_units(const struct slow_fv *f, const double *x, const double *b, double *rise_k)
{
    const size_t sheet = f->n[0] * f->n[1], first = f->face * sheet;
    for (size_t u = 0; u < f->n_unit; u++) {
        rise_k[u] = 0;
        for (size_t c = 0; c < sheet; c++) {
            if (f->share[u * sheet + c] > 0 && f->k[first + c] > 0) { /* rounding may reach beyond the die */
                const double area = size(f, 0, c % f->n[0]) * size(f, 1, c / f->n[0]);
                const double to_face = 0.5 * size(f, 2, f->face) / f->k[first + c] * b[first + c] / area;
                rise_k[u] += f->share[u * sheet + c] * (x[first + c] + to_face);
            }
        }
    }
}

void slow_fv_steady(struct slow_fv *f, const double *power_w, double *rise_k)
{
    double *x = f->work[4], *b = f->work[5];
    memset(x, 0, f->n_cell * sizeof *x);
    load(f, power_w, b);
    solve(f, 0, b, x);
    read_units(f, x, b, rise_k);
}

/* TR-BDF2 with gamma = 2 - sqrt 2: both halves solve with the same matrix, G + 2 C / (gamma h). */
void slow_fv_step(struct slow_fv *f, const double *power_w, const double *time_s, size_t n_time,
                  double *rise_k)
{
    const double gamma = 2 - sqrt(2);
    double *x = f->work[4], *b = f->work[5], *rhs = room(f->n_cell), *half = room(f->n_cell);
    double t = 0;
    memset(x, 0, f->n_cell * sizeof *x);
    load(f, power_w, b);
    for (size_t k = 0; k < n_time; k++) {
        while (t < time_s[k] * (1 - 1e-12)) {
            double h = fmax(FIRST_S, STEP_PART * t);
            h = t + 1.3 * h > time_s[k] ? time_s[k] - t : h;
            const double s = 2 / (gamma * h);
            apply(f, 0, x, rhs);
            for (size_t c = 0; c < f->n_cell; c++) {
                rhs[c] = s * f->c[c] * x[c] - rhs[c] + 2 * b[c];
                half[c] = x[c];
            }
            solve(f, s, rhs, half);
            for (size_t c = 0; c < f->n_cell; c++) {
                const double mix = (half[c] - (1 - gamma) * (1 - gamma) * x[c]) / (gamma * (2 - gamma));
                rhs[c] = (2 - gamma) / ((1 - gamma) * h) * f->c[c] * mix + b[c];
                x[c] = half[c];
            }
            solve(f, (2 - gamma) / ((1 - gamma) * h), rhs, x);
            t += h;
        }
        t = time_s[k];
        read_units(f, x, b, rise_k + k * f->n_unit);
    }
    free(rhs);
    free(half);
}
