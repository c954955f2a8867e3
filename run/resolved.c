/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The resolved configuration of a run: every key with its value, readable by tmx_run_create. */
#include "run/choose.h"
#include "run/cta.h"
#include "run/gate.h"
#include "run/jobs.h"
#include "run/package.h"
#include "run/process_guard.h"
#include "run/registry.h"
#include "run/state.h"

#include <math.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/text.h"

static void write_package(const struct tmx_run *r, enum tmx_resolved what, FILE *out)
{
    const struct tmx_hotspot_config *cfg = &r->kind[0].package;
    fprintf(out, "package = {\n");
    for (const struct tmx_opt *o = tmx_hotspot_opts; o->key; o++) {
        const struct tmx_opt row[2] = {*o, {0}};
        const bool by_content = o->is_file && what == TMX_RESOLVED_KEYS;
        const bool by_root =
            (o->offset == offsetof(struct tmx_hotspot_config, grid_rows) && r->options.rows > 0) ||
            (o->offset == offsetof(struct tmx_hotspot_config, grid_cols) && r->options.cols > 0);
        if (cfg->origin[o - tmx_hotspot_opts].source == TMX_HOTSPOT_DEFAULT || by_content || by_root ||
            tmx_run_package_unused(o->key)) {
            continue;
        }
        if (o->type == TMX_OPT_BOOL) { /* HotSpot's switches are 0 and 1 */
            const bool *on = (const bool *)((const char *)cfg + o->offset);
            fprintf(out, "    %s = %d;\n", o->key, *on);
        } else {
            tmx_opt_write(row, cfg, "    ", out);
        }
    }
    fprintf(out, "};\n");
}

/* Overrides are of one chip; where there are several, their own files say all. */
static bool one_chip(const struct tmx_run *r)
{
    for (size_t k = 1; k < r->n_kind; k++) {
        if (strcmp(r->kind[k].name, r->kind[0].name) != 0) {
            return false;
        }
    }
    return true;
}

static void write_failures(const struct tmx_run *r, FILE *out)
{
    fprintf(out, "fan_failures = (");
    for (size_t i = 0; i < r->n_failure; i++) {
        char real[TMX_REAL_SIZE];
        tmx_real_print(real, r->failure[i].at_s);
        fprintf(out, "%s { fan = \"%s\"; at_s = %s; }", i ? "," : "", r->topology.fan[r->failure[i].fan].name,
                real);
    }
    fprintf(out, " );\n");
}

static void write_caps(const struct tmx_run *r, FILE *out)
{
    for (size_t g = 0; r->power_cap_w && g < r->n_gpu; g++) {
        char real[TMX_REAL_SIZE];
        tmx_real_print(real, fmin(r->power_cap_w[g], 1e5)); /* more than any board draws: no cap */
        fprintf(out, "%s%s%s", g ? ", " : "power_caps_w = ( ", real, g + 1 == r->n_gpu ? " );\n" : "");
    }
}

/* By name and content; by content alone in what the run's id is made of. */
static void write_modules(const struct tmx_run *r, enum tmx_resolved what, FILE *out)
{
    size_t n;
    const struct tmx_module_file *f = tmx_catalog_modules(r->catalog, &n);
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", " : "modules = ( ", out);
        fputs("{ ", out);
        if (what == TMX_RESOLVED_FULL) {
            fputs("file = ", out);
            tmx_config_quote(f[i].path, out);
            fputs("; ", out);
        }
        fprintf(out, "hash = \"%s\"; }%s", f[i].hash, i + 1 == n ? " );\n" : "");
    }
}

void tmx_run_write_resolved(const struct tmx_run *r, enum tmx_resolved what, FILE *out)
{
    static const size_t plain[] = {TMX_LEVEL_PLACE, TMX_LEVEL_MIX, TMX_LEVEL_DTM, TMX_SAFETY, TMX_LEVEL_TB};
    const struct tmx_sim_spec *s = &r->sim_spec;
    if (what == TMX_RESOLVED_FULL) { /* another processor's results differ in the twelfth digit */
        fprintf(out, "# thermix %s, BLAS kernels for %s\n", TMX_VERSION, tmx_process_guard_blas());
        const char *const texts[] = {r->note, r->doubt};
        for (size_t i = 0; i < 2; i++) {
            for (const char *line = texts[i]; *line; line = strchr(line, '\n') + 1) {
                fprintf(out, "# warning: %.*s\n", (int)strcspn(line, "\n"), line);
            }
        }
    }
    void (*const write)(const struct tmx_opt *, const void *, const char *, FILE *) =
        what == TMX_RESOLVED_KEYS ? tmx_opt_write_keys : tmx_opt_write;
    for (const struct tmx_opt *o = tmx_run_opts; o->key; o++) {
        const struct tmx_opt row[2] = {*o, {0}};
        const bool of_the_run = o->offset < offsetof(struct tmx_run_options, threads);
        if (of_the_run && !tmx_run_key_unused(r, o->key)) {
            write(row, &r->options, "", out);
        }
    }
    write_modules(r, what, out);
    tmx_sync_job_write(&r->sync_job, out);
    if (r->jobs) {
        tmx_run_jobs_write(r, what, out);
    }
    tmx_run_cta_write(r, what, out);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        tmx_run_choice_write(r, plain[i], NULL, NULL, NULL, what, out);
    }
    tmx_run_gate_write(r, what, out);
    if (tmx_mix_of(&s->choice[TMX_LEVEL_MIX])->foresees) {
        fprintf(out, "forecast = {\n");
        tmx_opt_write(tmx_run_forecast_opts, &r->forecast_options, "    ", out);
        fprintf(out, "};\n");
    }
    if (r->bound_options.uniform || r->bound_options.one_level || r->bound_options.sm_leak < 1) {
        fprintf(out, "bound = {\n");
        tmx_opt_write(tmx_run_bound_opts, &r->bound_options, "    ", out);
        fprintf(out, "};\n");
    }
    write_caps(r, out);
    fprintf(out, "sensor = {\n");
    tmx_opt_write(tmx_sensor_opts, &s->sensor, "    ", out);
    fprintf(out, "};\n");
    if (one_chip(r)) {
        fprintf(out, "chip_power = {\n");
        tmx_chip_write_power(&r->kind[0].chip, "    ", out);
        fprintf(out, "};\n");
        write_package(r, what, out);
    }
    if (r->topology.n_gpu > 0) {
        tmx_run_choice_write(r, TMX_LEVEL_FAN, NULL, NULL, NULL, what, out);
        write_failures(r, out);
    }
    fprintf(out, "thermal = {\n");
    if (r->thermal.ops->base.opts) {
        write(r->thermal.ops->base.opts, r->thermal.options, "    ", out);
    }
    fprintf(out, "};\n");
}
