/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/summary.h"

#include <math.h>
#include <stdlib.h>

#include <thermix/policy.h>

#include "base/csv.h"
#include "base/os.h"
#include "base/output.h"
#include "base/plausible.h"
#include "base/text.h"
#include "run/state.h"

/* With events the report's window is of so many steps at most. */
enum { MOST_STEPS = 4096 };

/* Files, in the order in which they are put in place: these two, then two of each GPU, then one of all. */
enum { CSV, ROWS, POWER, TEMPS };

/* Sensors of a GPU's SMs between two rows: what a row of one moment would miss. Means weigh by ticks. */
struct sample {
    double coolest_k, least_k, most_k; /* least of the coolest SM; least and most of the hottest */
    double mean_k, stopped; /* sums over ticks: of the SMs' mean, of the share of SMs with no clock */
};

struct tmx_run_trace {
    struct tmx_arena arena; /* of all arrays */
    struct tmx_run *run;
    struct tmx_run_trace_options options;
    uint64_t every, n_tick, n_written;
    double *sum_w; /* [n_unit] since the last row */
    size_t n_ring, n_kept;
    double *board_w;   /* [n_gpu][n_ring] the board's watts in the last steps: what it reports */
    double *step_tick; /* [n_ring] ticks of each */
    double window;     /* ticks that the report is a mean over */
    double *row_w;     /* [n_row] of what is served: since the last row of the file */
    size_t n_file;
    struct tmx_output *file; /* [n_file] */
    struct sample *sample;   /* [n_gpu] */
};

static const char *kernel_name(const struct tmx_machine *m, const struct tmx_gpu *gpu, size_t kernel_slot)
{
    return kernel_slot < gpu->n_run ? m->job[gpu->run[kernel_slot]].kernel->name : "";
}

/* A cell, empty where v is not finite. */
static void put(FILE *out, const char *format, double v)
{
    fputc(',', out);
    if (isfinite(v)) {
        fprintf(out, format, v);
    }
}

/* The mean over sensor.power_window_s, as nvidia-smi shows it; the governor has a window of its own. */
static double reported_w(const struct tmx_run_trace *t, size_t g)
{
    const size_t n = t->n_kept < t->n_ring ? t->n_kept : t->n_ring;
    const bool fixed = t->run->options.tick == TMX_TICK_FIXED;
    double w = 0, ticks = 0;
    for (size_t i = 0; i < n && fixed; i++) {
        w += t->board_w[g * t->n_ring + i] / (double)n;
    }
    for (size_t back = 1; back <= n && !fixed && ticks < t->window; back++) { /* from the last step on */
        const size_t i = (t->n_kept - back) % t->n_ring;
        const double part = fmin(t->step_tick[i], t->window - ticks);
        w += part * t->board_w[g * t->n_ring + i];
        ticks += part;
    }
    return fixed ? w : w / ticks;
}

static void row_csv(struct tmx_run_trace *t, const struct tmx_sim *sim, size_t g)
{
    const struct tmx_machine *m = sim->machine;
    const struct tmx_frame *f = &sim->frame;
    const struct tmx_gpu *gpu = &m->gpu[g];
    const struct tmx_chip *c = gpu->chip;
    double hottest_c = -TMX_ZERO_C, mean_c = 0, power_w = 0;
    FILE *out = t->file[CSV].file;
    for (size_t sm = 0; sm < c->n_sm; sm++) {
        const double temp_c = tmx_chip_sm_k(gpu->chip, sm, f->temp_k + gpu->unit0) - TMX_ZERO_C;
        hottest_c = fmax(hottest_c, temp_c);
        mean_c += temp_c / (double)c->n_sm;
    }
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        power_w += t->sum_w[gpu->unit0 + u] / (double)t->n_tick;
    }
    fprintf(out, "%.12g,%zu,%zu,%.6g,%.6g,%.4f,%.4f,%s,%s,%.4g", tmx_sim_time_s(sim), g, gpu->level,
            c->level[gpu->level].freq_hz / 1e6, power_w, hottest_c, mean_c, kernel_name(m, gpu, 0),
            kernel_name(m, gpu, 1), gpu->share);
    for (unsigned why = 0, n = 0; why < TMX_N_REASON; why++) {
        if (gpu->reasons >> why & 1) {
            fprintf(out, "%s%s", n++ ? "+" : ",", tmx_reason_names[why]);
        }
    }
    fputs(gpu->reasons ? "" : ",", out);
    struct tmx_cooling_gpu air;
    const bool fans = tmx_sim_gpu_cooling(sim, g, &air);
    const double inlet_k = fans ? air.inlet_k : t->run->kind[t->run->kind_of_gpu[g]].package.ambient;
    fprintf(out, ",%.4f", inlet_k - TMX_ZERO_C);
    put(out, "%.6g", fans ? air.rpm : NAN);
    const struct sample *s = &t->sample[g];
    fprintf(out, ",%.6g,%.4f,%.4f,%.4f,%.4f,%.4g", reported_w(t, g), s->coolest_k - TMX_ZERO_C,
            s->least_k - TMX_ZERO_C, s->most_k - TMX_ZERO_C, s->mean_k / (double)t->n_tick - TMX_ZERO_C,
            s->stopped / (double)t->n_tick);
    if (tmx_run_has_gpu_labels(t->run)) {
        char label[TMX_NAME];
        fputc(',', out);
        tmx_csv_text(tmx_run_gpu_label(t->run, g, label), out);
    }
    for (size_t sm = 0; sm < c->n_sm; sm++) {
        const size_t i = gpu->sm0 + sm;
        const double share = m->drain_s[i] > 0 ? m->held[i] : m->share[i];
        double sm_w = 0;
        for (size_t u = c->unit_of_sm[sm]; u < c->floorplan.n_unit; u++) {
            sm_w += c->sm_of_unit[u] == (int)sm ? t->sum_w[gpu->unit0 + u] : 0;
        }
        fprintf(out, ",%.3f,%.4g,%.3g,%d", tmx_chip_sm_k(gpu->chip, sm, f->temp_k + gpu->unit0) - TMX_ZERO_C,
                sm_w / (double)t->n_tick, share, m->gated[i]);
    }
    fputc('\n', out);
}

/* This step's sensors into the sample of each GPU; the first of a sample begins it. */
static void sample_sensors(struct tmx_run_trace *t, const struct tmx_sim *sim, double ticks)
{
    const struct tmx_machine *m = sim->machine;
    const struct tmx_frame *f = &sim->frame;
    for (size_t g = 0; g < f->n_gpu; g++) {
        const struct tmx_gpu *gpu = &m->gpu[g];
        const double n = (double)gpu->chip->n_sm;
        struct sample *s = &t->sample[g];
        double low_k = INFINITY, high_k = 0, mean_k = 0, stopped = 0;
        for (size_t sm = 0; sm < gpu->chip->n_sm; sm++) {
            const double temp_k = tmx_chip_sm_k(gpu->chip, sm, f->temp_k + gpu->unit0);
            low_k = fmin(low_k, temp_k);
            high_k = fmax(high_k, temp_k);
            mean_k += temp_k / n;
            stopped += m->gated[gpu->sm0 + sm] / n;
        }
        if (t->n_tick == 0) {
            *s = (struct sample){.coolest_k = INFINITY, .least_k = INFINITY};
        }
        s->coolest_k = fmin(s->coolest_k, low_k);
        s->least_k = fmin(s->least_k, high_k);
        s->most_k = fmax(s->most_k, high_k);
        s->mean_k += ticks * mean_k;
        s->stopped += ticks * stopped;
    }
}

/* ---- rows of servers: rows.csv ---- */

static void row_rows(struct tmx_run_trace *t, const struct tmx_sim *sim, size_t row)
{
    const struct tmx_serve *s = tmx_sim_serve(sim);
    const double budget_w = t->run->serve->spec.row_options.budget_w;
    double mhz[2] = {INFINITY, INFINITY}, hottest_k = NAN, memory_k = NAN, inlet_k = NAN;
    size_t in_row = 0, capped = 0, requests = 0;
    bool braked = false;
    FILE *out = t->file[ROWS].file;
    const struct tmx_instance_view *v = s->view;
    for (size_t i = 0; i < s->n; i++) {
        if (v[i].row != row) {
            continue;
        }
        const size_t g = v[i].gpu0;
        const struct tmx_chip *c = sim->machine->gpu[g].chip;
        const struct tmx_serve_now now = tmx_serve_now(s, g);
        mhz[v[i].class_of] = fmin(mhz[v[i].class_of], c->level[now.level].freq_hz / 1e6);
        capped += now.reasons >> TMX_REASON_SW_POWER_CAP & 1;
        braked |= now.reasons >> TMX_REASON_HW_POWER_BRAKE & 1;
        requests += v[i].n_request;
        in_row++;
        hottest_k = fmax(hottest_k, v[i].hottest_k);
        memory_k = fmax(memory_k, v[i].memory_k > 0 ? v[i].memory_k : NAN);
        inlet_k = fmax(inlet_k, v[i].inlet_k);
    }
    fprintf(out, "%.12g,%zu,%.9g", tmx_sim_time_s(sim), row, t->row_w[row] / (double)t->n_tick);
    put(out, "%.9g", budget_w > 0 ? budget_w : NAN);
    put(out, "%.6g", mhz[0]);
    put(out, "%.6g", mhz[1]);
    fprintf(out, ",%.4g,%d,%zu", 100 * (double)capped / (double)in_row, braked, requests);
    put(out, "%.4f", hottest_k - TMX_ZERO_C);
    put(out, "%.4f", memory_k - TMX_ZERO_C);
    put(out, "%.4f", inlet_k - TMX_ZERO_C);
    fputc('\n', out);
    t->row_w[row] = 0;
}

/* NULL: it cannot be written, or there is an error already. */
static FILE *open_file(struct tmx_run_trace *t, size_t i, const char *name, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    if (err->code) { /* perhaps there is no t->file */
        return NULL;
    }
    tmx_path_join(path, t->options.dir, name, err);
    tmx_output_open(&t->file[i], path, err);
    return t->file[i].file;
}

static void open_hotspot(struct tmx_run_trace *t, struct tmx_err *err)
{
    const struct tmx_machine *m = t->run->sim->machine;
    for (size_t i = 0; i < 2 * m->n_gpu; i++) {
        const struct tmx_chip *c = m->gpu[i / 2].chip;
        char name[64], number[32] = "";
        if (m->n_gpu > 1) {
            snprintf(number, sizeof number, "_gpu%zu", i / 2);
        }
        snprintf(name, sizeof name, i % 2 ? "temps%s.ttrace" : "power%s.ptrace", number);
        FILE *out = open_file(t, POWER + i, name, err);
        for (size_t u = 0; out && u < c->floorplan.n_unit; u++) {
            fprintf(out, "%s%s%s", u ? "\t" : "", c->floorplan.unit[u].name,
                    u + 1 < c->floorplan.n_unit ? "" : "\n");
        }
    }
    FILE *config = open_file(t, t->n_file - 1, "thermal.config", err);
    if (!config) {
        return;
    }
    /* the package that repeats the temperatures: with the convection of the card, of which one level has one,
     * and files that any folder finds */
    const struct tmx_run *r = t->run;
    const struct tmx_run_kind *k = &r->kind[0];
    struct tmx_hotspot_config cfg = k->package;
    cfg.sampling_intvl = (double)t->every * r->options.tick_s;
    if (r->options.network != TMX_NETWORK_HOTSPOT) {
        fprintf(config, "# with --network physical\n");
    }
    if (k->n_level > 0 && !k->stack.spec.flow_levels) {
        cfg.package.r_convec_k_per_w = k->level_k_per_w[k->n_level / 2];
        cfg.package_model_used = cfg.cold_plate = false;
    }
    if (k->n_level > 1 || r->n_gpu > 1) {
        fprintf(config, "# r_convec and ambient of one GPU at a middle speed: fans, air and others differ\n");
    }
    for (const struct tmx_opt *o = tmx_hotspot_opts; o->key; o++) {
        char real[TMX_HOTSPOT_PATH], *path = (char *)&cfg + o->offset;
        if (o->is_file && *path && tmx_os_real_path(path, real, sizeof real)) {
            snprintf(path, sizeof real, "%s", real);
        }
    }
    tmx_hotspot_config_print(&cfg, config);
}

enum tmx_status tmx_run_trace_open(struct tmx_run_trace **out, struct tmx_run *run,
                                   const struct tmx_run_trace_options *o, struct tmx_err *err)
{
    const struct tmx_machine *m = run->sim->machine;
    const double ticks = o->period_s / run->options.tick_s;
    const bool heat = !run->serve || run->serve->spec.options.heat;
    if (o->hotspot && !heat) {
        return tmx_fail(err, TMX_ECONFIG,
                        "--hotspot with serve.heat = false: no temperatures are computed; --trace writes the "
                        "rows' power");
    }
    if (!(fabs(ticks - fmax(1, round(ticks))) <= 1e-6 * ticks)) {
        return tmx_fail(err, TMX_ECONFIG, "a trace every %g s: not a multiple of tick_s = %g s", o->period_s,
                        run->options.tick_s);
    }
    struct tmx_run_trace *t = calloc(1, sizeof *t);
    struct tmx_err own = {0};
    if (!t) {
        return tmx_no_memory(err);
    }
    *t = (struct tmx_run_trace){.run = run, .options = *o, .n_file = POWER + 2 * m->n_gpu + 1};
    t->every = (uint64_t)round(ticks);
    TMX_TAKE(&t->arena, t->sum_w, m->n_unit);
    TMX_TAKE(&t->arena, t->file, t->n_file);
    TMX_TAKE(&t->arena, t->sample, m->n_gpu);
    t->window = fmax(1, round(run->sim_spec.sensor.power_window_s / run->options.tick_s));
    t->n_ring = (size_t)(run->options.tick == TMX_TICK_FIXED ? t->window : fmin(t->window, MOST_STEPS));
    run->sim->row = t->every;
    TMX_TAKE(&t->arena, t->board_w, m->n_gpu * t->n_ring);
    TMX_TAKE(&t->arena, t->step_tick, t->n_ring);
    TMX_TAKE(&t->arena, t->row_w, run->serve ? run->serve->spec.n_row : 1);
    if (t->arena.failed) {
        tmx_no_memory(&own);
    }
    FILE *rows = o->csv && run->serve ? open_file(t, ROWS, "rows.csv", &own) : NULL;
    if (rows) {
        fputs("time_s,row,power_w,budget_w,high_mhz,low_mhz,capped_pct,braked,requests,hottest_c,memory_c,"
              "inlet_c\n",
              rows);
    }
    FILE *csv = o->csv && heat ? open_file(t, CSV, "trace.csv", &own) : NULL;
    if (csv) {
        size_t n_sm = 0; /* of the chip with most; rows of others end early */
        for (size_t k = 0; k < run->n_kind; k++) {
            n_sm = run->kind[k].chip.n_sm > n_sm ? run->kind[k].chip.n_sm : n_sm;
        }
        fprintf(csv,
                "time_s,gpu,level,freq_mhz,power_w,hottest_c,mean_c,first_kernel,second_kernel,first_share,"
                "reasons,inlet_c,fan_rpm,reported_w,coolest_min_c,hottest_min_c,hottest_max_c,sample_mean_c,"
                "stopped_1%s",
                tmx_run_has_gpu_labels(run) ? ",gpu_label" : "");
        for (size_t sm = 0; sm < n_sm; sm++) {
            fprintf(csv, ",sm%zu_temp_c,sm%zu_power_w,sm%zu_first_share,sm%zu_gated", sm, sm, sm, sm);
        }
        fputc('\n', csv);
    }
    if (o->hotspot) {
        open_hotspot(t, &own);
    }
    if (own.code) {
        tmx_run_trace_close(t);
        return tmx_error_give(err, &own);
    }
    *out = t;
    return TMX_OK;
}

void tmx_run_trace_tick(struct tmx_run_trace *t, const struct tmx_sim *sim)
{
    const struct tmx_frame *f = &sim->frame;
    const bool heat = !sim->cold;
    const uint64_t ticks = sim->span;
    t->step_tick[t->n_kept % t->n_ring] = (double)ticks;
    for (size_t u = 0; heat && u < f->n_unit; u++) {
        t->sum_w[u] += (double)ticks * f->power_w[u];
    }
    for (size_t g = 0; heat && g < f->n_gpu; g++) {
        const struct tmx_gpu *gpu = &sim->machine->gpu[g];
        double w = 0;
        for (size_t u = 0; u < gpu->chip->floorplan.n_unit; u++) {
            w += f->power_w[gpu->unit0 + u];
        }
        t->board_w[g * t->n_ring + t->n_kept % t->n_ring] = tmx_chip_board_w(gpu->chip, w);
    }
    const struct tmx_serve *s = t->file[ROWS].file ? tmx_sim_serve(sim) : NULL;
    for (size_t i = 0; s && i < s->n;
         i++) { /* watts of this tick, as the telemetry of its row sums them up */
        const struct tmx_instance_view *v = &s->view[i];
        double gpu_w = 0;
        for (size_t g = v->gpu0; g < v->gpu0 + v->n_gpu; g++) {
            gpu_w += heat ? t->board_w[g * t->n_ring + t->n_kept % t->n_ring] : tmx_serve_now(s, g).gpu_w;
        }
        t->row_w[v->row] += tmx_serve_power_w(s, i, gpu_w);
    }
    if (t->file[CSV].file) {
        sample_sensors(t, sim, (double)ticks);
    }
    t->n_kept++;
    t->n_tick += ticks;
    if (t->n_tick < t->every) {
        return;
    }
    for (size_t k = 0; t->file[ROWS].file && k < t->run->serve->spec.n_row; k++) {
        row_rows(t, sim, k);
    }
    for (size_t g = 0; g < f->n_gpu; g++) {
        if (t->file[CSV].file) {
            row_csv(t, sim, g);
        }
        const struct tmx_gpu *gpu = &sim->machine->gpu[g];
        FILE *power = t->file[POWER + 2 * g].file, *temps = t->file[TEMPS + 2 * g].file;
        for (size_t u = 0; t->options.hotspot && u < gpu->chip->floorplan.n_unit; u++) {
            const char *end = u + 1 < gpu->chip->floorplan.n_unit ? "\t" : "\n";
            char real[TMX_REAL_SIZE];
            tmx_real_print(real, t->sum_w[gpu->unit0 + u] / (double)t->n_tick);
            fprintf(power, "%s%s", real, end);
            fprintf(temps, "%.6f%s", f->temp_k[gpu->unit0 + u], end);
        }
    }
    for (size_t u = 0; heat && u < f->n_unit; u++) {
        t->sum_w[u] = 0;
    }
    t->n_tick = 0;
    t->n_written++;
}

enum tmx_status tmx_run_trace_commit(struct tmx_run_trace *t, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    if (t->n_written == 0) {
        tmx_warn("a trace every %g s has no row: the run ended at %.6g s",
                 (double)t->every * t->run->options.tick_s, tmx_sim_time_s(t->run->sim));
    }
    for (size_t i = 0; i < t->n_file && !st; i++) {
        st = t->file[i].file ? tmx_output_commit(&t->file[i], err) : TMX_OK;
    }
    return st;
}

void tmx_run_trace_close(struct tmx_run_trace *t)
{
    for (size_t i = 0; t && t->file && i < t->n_file; i++) {
        tmx_output_discard(&t->file[i]);
    }
    if (t) {
        tmx_arena_finish(&t->arena);
    }
    free(t);
}
