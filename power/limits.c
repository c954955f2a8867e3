/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "power/limits.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/os.h"
#include "base/output.h"
#include "base/text.h"

static const double LEAKAGE = 0.4; /* of the floor: assumed (a V100's fit has 0.58, a B200's 0.5 at rest) */
static const double KEPT = 1.03;   /* a limit is kept when the mean is no more than this above it */
static const double LEAST_CLOCK = 0.02; /* of the top one */
static const double START_KNEE[] = {0.4, 0.7, 0.9};
enum { ITERATIONS = 200, BISECTIONS = 40, LEAST_LOADS = 3, LEAST_ROWS = 3, GROUPS = 10 };

/* ---- rows ---- */

void tmx_limit_rows_finish(struct tmx_limit_rows *r)
{
    tmx_arena_finish(&r->arena);
    *r = (struct tmx_limit_rows){0};
}

static size_t either(const struct tmx_csv *csv, const char *one, const char *other)
{
    const size_t c = tmx_csv_column(csv, one);
    return c < csv->n_column ? c : tmx_csv_column(csv, other);
}

/* Loads with few rows in which the limit is kept go. */
static void drop_short(struct tmx_limit_rows *r)
{
    size_t kept = 0;
    for (size_t load = 0; load < r->n_load; load++) {
        size_t n = 0;
        for (size_t i = 0; i < r->n_row; i++) {
            n += r->row[i].load == load;
        }
        size_t row = 0;
        for (size_t i = 0; i < r->n_row; i++) {
            if (r->row[i].load != load || n >= LEAST_ROWS) {
                r->row[row] = r->row[i];
                r->row[row++].load = r->row[i].load == load ? kept : r->row[i].load;
            }
        }
        r->n_left_out += r->n_row - row;
        r->n_row = row;
        if (n >= LEAST_ROWS) {
            r->load[kept++] = r->load[load];
        }
    }
    r->n_load = kept;
}

enum tmx_status tmx_limit_rows_load(struct tmx_limit_rows *r, const char *path, const char *only,
                                    struct tmx_err *err)
{
    struct tmx_csv csv = {0};
    *r = (struct tmx_limit_rows){0};
    tmx_csv_read(&csv, path, err);
    const size_t n = csv.n_column, of_limit = either(&csv, "limit_w", "power_limit"),
                 of_speed = tmx_csv_column(&csv, "speed"), of_time = either(&csv, "time_s", "time_per_epoch"),
                 of_power = either(&csv, "power_w", "average_power");
    if (of_limit == n || of_power == n || (of_speed == n) == (of_time == n)) {
        tmx_error_at(err, TMX_EPARSE, csv.source, 1,
                     "expected columns limit_w (or power_limit), power_w (or average_power), and either "
                     "speed or time_s (or time_per_epoch)");
    }
    TMX_TAKE(&r->arena, r->load, csv.n_row);
    TMX_TAKE(&r->arena, r->row, csv.n_row);
    tmx_arena_check(&r->arena, err);
    for (size_t i = 0; i < csv.n_row && !err->code; i++) {
        const double limit_w = tmx_csv_value(&csv, i, of_limit), power_w = tmx_csv_value(&csv, i, of_power),
                     speed = of_speed < n ? tmx_csv_value(&csv, i, of_speed)
                                          : 1 / tmx_csv_value(&csv, i, of_time);
        char name[4096] = ""; /* of the row's load: its other cells */
        for (size_t k = 0; k < n; k++) {
            if (k != of_limit && k != of_speed && k != of_time && k != of_power) {
                tmx_text_add(name, sizeof name, "%s%s", name[0] ? " " : "", tmx_csv_cell(&csv, i, k));
            }
        }
        size_t load = 0;
        while (load < r->n_load && strcmp(r->load[load], name) != 0) {
            load++;
        }
        if (strlen(name) == sizeof name - 1) {
            tmx_error_at(err, TMX_EPARSE, csv.source, csv.line[i], "cells of more than %zu letters",
                         sizeof name - 2);
        } else if (!(limit_w > 0 && limit_w < 1e5 && power_w > 0 && power_w < 1e5 && speed > 0 &&
                     speed < 1e12)) {
            tmx_error_at(
                err, TMX_EPARSE, csv.source, csv.line[i],
                "expected a limit and mean watts of up to 1e5 W, and a speed or a time, all positive");
        } else if (!only || strstr(name, only)) {
            if (load == r->n_load) {
                r->load[r->n_load++] = tmx_arena_text(&r->arena, name);
                tmx_arena_check(&r->arena, err);
            }
            r->most_w = fmax(r->most_w, limit_w);
            if (power_w > KEPT * limit_w) {
                r->n_left_out++;
            } else {
                r->row[r->n_row++] = (struct tmx_limit_row){load, limit_w, speed, power_w};
            }
        }
    }
    tmx_csv_finish(&csv);
    if (!err->code) {
        drop_short(r);
    }
    return err->code;
}

/* ---- the law ---- */

static double busy_w(const double card[], double dynamic_w, double f)
{
    const double knee = card[TMX_LIMIT_KNEE], low = card[TMX_LIMIT_VOLT],
                 v = f <= knee || knee >= 1 ? (f >= 1 ? 1 : low) : low + (1 - low) * (f - knee) / (1 - knee);
    return card[TMX_LIMIT_FLOOR] * (1 - LEAKAGE + LEAKAGE * v) + dynamic_w * v * v * f;
}

struct tmx_limit_point tmx_limit_at(const double card[TMX_N_LIMIT], const struct tmx_limit_load *load,
                                    double limit_w)
{
    double low = LEAST_CLOCK, high = 1;
    const bool free = busy_w(card, load->dynamic_w, 1) <= limit_w;
    for (int i = 0; i < BISECTIONS && !free; i++) {
        const double mid = (low + high) / 2;
        *(busy_w(card, load->dynamic_w, mid) <= limit_w ? &low : &high) = mid;
    }
    const double f = free ? 1 : low, at_clock = (1 - load->waits) / f, time = at_clock + load->waits;
    const double wait_w = card[TMX_LIMIT_FLOOR] + card[TMX_LIMIT_WAIT] * load->dynamic_w;
    return (struct tmx_limit_point){
        1 / time, (at_clock * busy_w(card, load->dynamic_w, f) + load->waits * wait_w) / time};
}

/* ---- the fit ---- */

struct problem {
    const struct tmx_limit_rows *r;
    size_t *slot; /* [n_load] place among the loads that are in; SIZE_MAX: left out */
};

static double within(double x, double low, double high)
{
    return low + (high - low) / (1 + exp(-x));
}

static double logit(double y, double low, double high)
{
    return log((y - low) / (high - y));
}

static void read_card(const gsl_vector *x, double card[TMX_N_LIMIT])
{
    card[TMX_LIMIT_FLOOR] = exp(gsl_vector_get(x, 0));
    card[TMX_LIMIT_KNEE] = within(gsl_vector_get(x, 1), 0.2, 1);
    card[TMX_LIMIT_VOLT] = within(gsl_vector_get(x, 2), 0.4, 1);
    card[TMX_LIMIT_WAIT] = within(gsl_vector_get(x, 3), 0, 1);
}

static struct tmx_limit_load read_load(const gsl_vector *x, size_t slot)
{
    const size_t i = TMX_N_LIMIT + 3 * slot;
    return (struct tmx_limit_load){exp(gsl_vector_get(x, i)), exp(gsl_vector_get(x, i + 1)),
                                   within(gsl_vector_get(x, i + 2), 0, 0.98)};
}

static int residuals(const gsl_vector *x, void *ctx, gsl_vector *f)
{
    const struct problem *p = ctx;
    double card[TMX_N_LIMIT];
    size_t n = 0;
    read_card(x, card);
    for (size_t i = 0; i < p->r->n_row; i++) {
        const struct tmx_limit_row *row = &p->r->row[i];
        if (p->slot[row->load] == SIZE_MAX) {
            continue;
        }
        const struct tmx_limit_load of = read_load(x, p->slot[row->load]);
        const struct tmx_limit_point at = tmx_limit_at(card, &of, row->limit_w);
        gsl_vector_set(f, n++, 100 * log(of.speed * at.speed / row->speed));
        gsl_vector_set(f, n++, 100 * log(at.power_w / row->power_w));
    }
    return GSL_SUCCESS;
}

/* Where the search begins: each load's fastest row, and half of the highest watts as floor. */
static void start(const struct problem *p, double knee, gsl_vector *x)
{
    double least_w = INFINITY;
    for (size_t load = 0; load < p->r->n_load; load++) {
        double speed = 0, w = 0;
        for (size_t i = 0; i < p->r->n_row; i++) {
            speed = p->r->row[i].load == load ? fmax(speed, p->r->row[i].speed) : speed;
            w = p->r->row[i].load == load ? fmax(w, p->r->row[i].power_w) : w;
        }
        least_w = fmin(least_w, w);
        if (p->slot[load] != SIZE_MAX) {
            const size_t i = TMX_N_LIMIT + 3 * p->slot[load];
            gsl_vector_set(x, i, log(speed));
            gsl_vector_set(x, i + 1, log(0.7 * w));
            gsl_vector_set(x, i + 2, logit(0.15, 0, 0.98));
        }
    }
    gsl_vector_set(x, 0, log(fmin(0.3 * p->r->most_w, 0.8 * least_w)));
    gsl_vector_set(x, 1, logit(knee, 0.2, 1));
    gsl_vector_set(x, 2, logit(0.75, 0.4, 1));
    gsl_vector_set(x, 3, logit(0.1, 0, 1));
}

/* x gets the best of several starts, or goes on from what it holds. */
static enum tmx_status search(struct problem *p, gsl_vector *x, bool from_x, struct tmx_err *err)
{
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    size_t n = 0;
    for (size_t i = 0; i < p->r->n_row; i++) {
        n += p->slot[p->r->row[i].load] == SIZE_MAX ? 0 : 2;
    }
    gsl_multifit_nlinear_fdf f = {.f = residuals, .n = n, .p = x->size, .params = p};
    gsl_multifit_nlinear_workspace *w =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, n, x->size);
    gsl_vector *begin = gsl_vector_alloc(x->size);
    const enum tmx_status st = w && begin ? TMX_OK : tmx_no_memory(err);
    double best = INFINITY;
    const size_t starts = from_x ? 1 : sizeof START_KNEE / sizeof START_KNEE[0];
    for (size_t k = 0; k < starts && !st; k++) {
        int info;
        double square = 0;
        if (from_x) {
            gsl_vector_memcpy(begin, x);
        } else {
            start(p, START_KNEE[k], begin);
        }
        gsl_multifit_nlinear_init(begin, &f, w);
        gsl_multifit_nlinear_driver(ITERATIONS, 1e-8, 1e-8, 1e-8, NULL, NULL, &info, w);
        gsl_blas_ddot(gsl_multifit_nlinear_residual(w), gsl_multifit_nlinear_residual(w), &square);
        if (square < best) {
            best = square;
            gsl_vector_memcpy(x, gsl_multifit_nlinear_position(w));
        }
    }
    gsl_vector_free(begin);
    gsl_multifit_nlinear_free(w);
    return st;
}

/* Take all loads but those of a group; how many are in. */
static size_t take_all_but(struct problem *p, size_t group, size_t n_group)
{
    size_t n = 0;
    for (size_t i = 0; i < p->r->n_load; i++) {
        p->slot[i] = i % n_group == group ? SIZE_MAX : n++;
    }
    return n;
}

/* One standard deviation of each constant of the card: the jackknife over groups of loads. */
static enum tmx_status leave_out(struct problem *p, const gsl_vector *all, double error[TMX_N_LIMIT],
                                 struct tmx_err *err)
{
    const size_t n = p->r->n_load < GROUPS ? p->r->n_load : GROUPS;
    double sum[TMX_N_LIMIT] = {0}, square[TMX_N_LIMIT] = {0};
    enum tmx_status st = TMX_OK;
    for (size_t out = 0; out < n && !st; out++) {
        double card[TMX_N_LIMIT] = {0};
        gsl_vector *x = gsl_vector_alloc(TMX_N_LIMIT + 3 * take_all_but(p, out, n));
        for (size_t i = 0, k = 0; x && i < all->size; i++) {
            if (i < TMX_N_LIMIT || p->slot[(i - TMX_N_LIMIT) / 3] != SIZE_MAX) {
                gsl_vector_set(x, k++, gsl_vector_get(all, i));
            }
        }
        st = x ? search(p, x, true, err) : tmx_no_memory(err);
        if (!st) {
            read_card(x, card);
        }
        gsl_vector_free(x);
        for (size_t c = 0; c < TMX_N_LIMIT; c++) {
            sum[c] += card[c];
            square[c] += card[c] * card[c];
        }
    }
    for (size_t c = 0; c < TMX_N_LIMIT && !st; c++) {
        const double mean = sum[c] / (double)n;
        error[c] = sqrt(fmax(0, square[c] / (double)n - mean * mean) * (double)(n - 1));
    }
    return st;
}

static void rms(struct problem *p, const gsl_vector *x, struct tmx_limit_fit *fit)
{
    double s = 0, w = 0;
    gsl_vector *f = gsl_vector_alloc(2 * p->r->n_row);
    if (!f) {
        return;
    }
    residuals(x, p, f);
    for (size_t i = 0; i < p->r->n_row; i++) {
        s += gsl_vector_get(f, 2 * i) * gsl_vector_get(f, 2 * i);
        w += gsl_vector_get(f, 2 * i + 1) * gsl_vector_get(f, 2 * i + 1);
    }
    fit->speed_pct = sqrt(s / (double)p->r->n_row);
    fit->power_pct = sqrt(w / (double)p->r->n_row);
    gsl_vector_free(f);
}

enum tmx_status tmx_limit_fit(const struct tmx_limit_rows *r, struct tmx_limit_fit *fit, struct tmx_err *err)
{
    *fit = (struct tmx_limit_fit){0};
    if (r->n_load < LEAST_LOADS) {
        return tmx_fail(err, TMX_EPARSE,
                        "%zu loads with %d rows in which the limit is kept: expected %d or more", r->n_load,
                        LEAST_ROWS, LEAST_LOADS);
    }
    enum tmx_status st;
    struct problem p = {.r = r, .slot = calloc(r->n_load, sizeof *p.slot)};
    gsl_vector *x = gsl_vector_alloc(TMX_N_LIMIT + 3 * r->n_load);
    fit->load = calloc(r->n_load, sizeof *fit->load);
    st = p.slot && x && fit->load ? TMX_OK : tmx_no_memory(err);
    if (!st) {
        take_all_but(&p, SIZE_MAX, SIZE_MAX);
        st = search(&p, x, false, err);
    }
    if (!st) {
        read_card(x, fit->card);
        for (size_t i = 0; i < r->n_load; i++) {
            fit->load[i] = read_load(x, i);
        }
        rms(&p, x, fit);
        st = leave_out(&p, x, fit->error, err);
    }
    gsl_vector_free(x);
    free(p.slot);
    return st;
}

void tmx_limit_fit_finish(struct tmx_limit_fit *fit)
{
    free(fit->load);
    *fit = (struct tmx_limit_fit){0};
}

/* ---- what is shown and written ---- */

struct tmx_table *tmx_limit_card_table(const struct tmx_limit_fit *fit)
{
    static const struct {
        const char *name, *unit, *what;
    } rows[TMX_N_LIMIT] = {{"floor", "W", "board at the top volts without work"},
                           {"knee", "1", "clock below which volts stand still, of the top one"},
                           {"volts", "1", "there, of those at the top clock"},
                           {"wait", "1", "of a load's dynamic watts, while it waits"}};
    struct tmx_table *t = tmx_table_of("constant unit value:3 error:3 what");
    for (size_t i = 0; i < TMX_N_LIMIT; i++) {
        tmx_table_row(t, "%s %s %g %g %s", rows[i].name, rows[i].unit, fit->card[i], fit->error[i],
                      rows[i].what);
    }
    return t;
}

struct tmx_table *tmx_limit_row_table(const struct tmx_limit_rows *r, const struct tmx_limit_fit *fit)
{
    struct tmx_table *t =
        tmx_table_of("load dynamic_w:1 waits:3 limit_w:0 speed:3 fitted:3 power_w:1 fitted_w:1");
    for (size_t i = 0; i < r->n_row; i++) {
        const struct tmx_limit_row *row = &r->row[i];
        const struct tmx_limit_load *load = &fit->load[row->load];
        const struct tmx_limit_point at = tmx_limit_at(fit->card, load, row->limit_w);
        tmx_table_row(t, "%s %g %g %g %g %g %g %g", r->load[row->load], load->dynamic_w, load->waits,
                      row->limit_w, row->speed / load->speed, at.speed, row->power_w, at.power_w);
    }
    return t;
}

static void write_file(const char *dir, const char *name, const char *text, struct tmx_err *err)
{
    struct tmx_output o;
    char path[TMX_PATH_SIZE];
    tmx_path_join(path, dir, name, err);
    if (!tmx_output_open(&o, path, err)) {
        fputs(text, o.file);
    }
    tmx_output_end(&o, err);
}

enum tmx_status tmx_limit_chip(const struct tmx_limit_rows *r, const struct tmx_limit_fit *fit,
                               double clock_hz, const char *dir, struct tmx_err *err)
{
    static const char die[] =
        "# one unit: rows of watts and speed do not show the inside of a die\nSM0\t0.025\t0.025\t0\t0\n";
    static const char package[] =
        "# assumed: a card's cooler, 0.15 K/W from die to air\n"
        "\t\t-t_chip\t\t\t0.00078\n\t\t-t_interface\t\t2e-5\n\t\t-k_interface\t\t2\n"
        "\t\t-s_spreader\t\t0.05\n\t\t-t_spreader\t\t0.003\n\t\t-s_sink\t\t\t0.1\n\t\t-t_sink\t\t\t0.01\n"
        "\t\t-r_convec\t\t0.12\n\t\t-c_convec\t\t200\n\t\t-ambient\t\t298.15\n\t\t-init_temp\t\t298.15\n"
        "\t\t-model_type\t\tgrid\n\t\t-grid_rows\t\t4\n\t\t-grid_cols\t\t4\n";
    const double *card = fit->card, knee_hz = card[TMX_LIMIT_KNEE] * clock_hz,
                 per_ghz = card[TMX_LIMIT_KNEE] < 1
                               ? (1 / card[TMX_LIMIT_VOLT] - 1) / (clock_hz - knee_hz) * 1e9
                               : 0;
    char chip[4096], name[128];
    const char *slash = strrchr(dir, '/');
    snprintf(name, sizeof name, "%s", slash && slash[1] ? slash + 1 : dir);
    snprintf(
        chip, sizeof chip,
        "# From %zu rows of %zu loads under power limits (thermix power limits): floor %.1f +- %.1f W, knee "
        "at %.3f +- %.3f of the top clock,\n"
        "# volts there %.3f +- %.3f of the top ones. Speeds %.1f %%, watts %.1f %% rms. Temperatures were "
        "not in the rows.\n"
        "name = \"%s\";\n"
        "doc = \"%s from its speeds and watts under power limits: one unit; die, package and leakage "
        "assumed\";\n"
        "source = \"thermix power limits\";\n"
        "confidence = \"low confidence: die, package and the leakage's part of the floor are assumed\";\n"
        "floorplan_file = \"die.flp\";\n"
        "package_file = \"package.config\";\n"
        "sm_prefix = \"SM\";\n"
        "sms_per_cluster = 1;\n"
        "sm_power_reference_sms = 1.0;\n"
        "step_hz = 15.0e6;                # assumed\n"
        "limits = { threads = 2048; blocks = 32; registers = 65536; shared_bytes = 65536; };  # assumed\n"
        "power = {\n"
        "    baseline_w = %.1f;           # fitted floor less leakage\n"
        "    baseline_sm_share = 1.0;     # there is one unit\n"
        "    leakage_w = %.1f;            # %g of the floor: assumed\n"
        "    leakage_ref_c = 65.0;        # assumed: the loads' temperature\n"
        "    leakage_form = \"exponential\";\n"
        "    leakage_exp_per_k = 0.0127;  # assumed\n"
        "    leakage_sm_share = 1.0;\n"
        "    volt_knee_hz = %.4g;      # fitted\n"
        "    volt_per_ghz = %.4g;        # fitted\n"
        "};\n"
        "board = { power_w = %.1f; };     # the highest limit of the rows\n"
        "levels = (                       # volts: the knee's law\n"
        "    { volt_v = 1.0; freq_hz = %.6g; },\n"
        "    { volt_v = 1.0; freq_hz = %.6g; }\n"
        ");\n",
        r->n_row, r->n_load, card[TMX_LIMIT_FLOOR], fit->error[TMX_LIMIT_FLOOR], card[TMX_LIMIT_KNEE],
        fit->error[TMX_LIMIT_KNEE], card[TMX_LIMIT_VOLT], fit->error[TMX_LIMIT_VOLT], fit->speed_pct,
        fit->power_pct, name, name, (1 - LEAKAGE) * card[TMX_LIMIT_FLOOR], LEAKAGE * card[TMX_LIMIT_FLOOR],
        LEAKAGE, knee_hz, per_ghz, r->most_w, clock_hz, 0.15 * clock_hz);
    tmx_os_mkdirs(dir, err);
    write_file(dir, "die.flp", die, err);
    write_file(dir, "package.config", package, err);
    write_file(dir, "chip.cfg", chip, err);
    return err->code;
}
