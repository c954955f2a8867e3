#include "cli/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/thermal_args.h"
#include "core/base/os.h"
#include "study/progress.h"
#include "study/table_out.h"
#include "thermal/hotspot_check.h"

/* `thermix thermal`: a trace-driven thermal simulator with HotSpot's options and files. */

static void say(void *to, enum tmx_log_level level, const char *text)
{
    const struct thermal_args *args = to;
    if (level == TMX_LOG_WARNING || (level == TMX_LOG_INFO && !args->quiet) || args->verbose) {
        fprintf(stderr, "thermix thermal: %s%s\n", level == TMX_LOG_WARNING ? "warning: " : "", text);
    }
}

enum { TRACE, STEADY, GRID_STEADY, GRID_TRANSIENT, DUMP, N_OUTPUTS };

struct outputs {
    const char *path[N_OUTPUTS]; /* "" for none */
    struct tmx_output out[N_OUTPUTS];
};

static enum tmx_status open_outputs(struct outputs *o, const struct tmx_hotspot_config *cfg,
                                    struct tmx_err *err)
{
    const char *const paths[N_OUTPUTS] = {cfg->o, cfg->steady_file, cfg->grid_steady_file,
                                          cfg->grid_transient_file, cfg->d};
    const char *const inputs[] = {cfg->p,
                                  cfg->f,
                                  cfg->source[TMX_HOTSPOT_CONFIG],
                                  cfg->init_file,
                                  cfg->grid_layer_file,
                                  cfg->materials_file,
                                  cfg->package_config_file};
    enum tmx_status st = TMX_OK;
    memcpy(o->path, paths, sizeof paths);
    for (size_t i = 0; !st && i < N_OUTPUTS; i++) {
        if (!paths[i][0] || strncmp(paths[i], "/dev/", 5) == 0) {
            continue;
        }
        for (size_t j = 0; j < i; j++) {
            if (paths[j][0] && tmx_os_same_file(paths[i], paths[j])) {
                return tmx_fail_at(err, TMX_ECONFIG, paths[i], 0, "two outputs go to this file");
            }
        }
        for (size_t j = 0; j < sizeof inputs / sizeof inputs[0]; j++) {
            if (inputs[j][0] && strcmp(paths[i], "-") != 0 && tmx_os_same_file(paths[i], inputs[j])) {
                return tmx_fail_at(err, TMX_ECONFIG, paths[i], 0, "an output would replace this input");
            }
        }
    }
    for (size_t i = 0; !st && i < N_OUTPUTS; i++) {
        st = paths[i][0] ? tmx_output_open(&o->out[i], paths[i], err) : TMX_OK;
    }
    return st;
}

/* All or nothing: no file gets its name before every one is known to be whole. */
static enum tmx_status commit_outputs(struct outputs *o, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; !st && i < N_OUTPUTS; i++) {
        st = o->out[i].file ? tmx_output_check(&o->out[i], err) : TMX_OK;
    }
    for (size_t i = 0; !st && i < N_OUTPUTS; i++) {
        st = o->out[i].file ? tmx_output_commit(&o->out[i], err) : TMX_OK;
    }
    return st;
}

static void discard_outputs(struct outputs *o)
{
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        tmx_output_discard(&o->out[i]);
    }
}

/* A row each column and one of the largest: --verify-with. */
static enum tmx_status verify(struct tmx_trace_run *r, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"block", TMX_COLUMN_TEXT, 0},
                                                {"transient_max_abs_k", TMX_COLUMN_REAL, 6},
                                                {"steady_abs_k", TMX_COLUMN_REAL, 6}};
    struct tmx_table *table = NULL;
    const size_t n = r->power.n_column;
    double *k = calloc(2 * (n + 1), sizeof *k), *steady_k = k + n + 1; /* the last one is the largest */
    enum tmx_status st =
        k ? tmx_hotspot_check(r, k, steady_k, err) : tmx_fail(err, TMX_ENOMEM, "%zu blocks", n);
    st = st ? st : tmx_table_create(&table, columns, 3, err);
    for (size_t i = 0; !st && i <= n; i++) {
        tmx_table_text(table, i < n ? r->power.name[i] : "largest");
        if (r->trace_k) {
            tmx_table_real(table, k[i]);
        } else {
            tmx_table_empty(table);
        }
        tmx_table_real(table, steady_k[i]);
        k[n] = fmax(k[n], k[i]);
        steady_k[n] = fmax(steady_k[n], steady_k[i]);
    }
    st = st ? st : tmx_table_write(table, TMX_FORMAT_TEXT, stdout, err);
    tmx_table_destroy(table);
    free(k);
    return st;
}

static void row_done(void *to, size_t n_done, size_t n_total)
{
    struct tmx_progress *p = to;
    if (n_done == 1) {
        tmx_progress_begin(p, "rows", n_total);
    }
    tmx_progress_add(p, false);
    tmx_progress_show(p);
}

static enum tmx_status simulate(struct tmx_trace_run *r, struct outputs *o, struct tmx_err *err)
{
    const struct tmx_trace_options *args = r->args;
    const bool transient = args->cfg.o[0] || args->cfg.grid_transient_file[0];
    const bool to_file = args->cfg.steady_file[0] || args->cfg.grid_steady_file[0];
    enum tmx_status st = TMX_OK;
    if (o->out[DUMP].file) {
        tmx_hotspot_config_print(&args->cfg, o->out[DUMP].file);
    }
    if (transient) {
        st = tmx_trace_run_transient(r, o->out[TRACE].file, o->out[GRID_TRANSIENT].file, err);
    }
    if (st || (transient && !to_file && !args->verify_with[0])) {
        return st;
    }
    st = tmx_trace_run_steady(r, err);
    if (st) {
        return st;
    }
    if (o->out[GRID_STEADY].file) {
        tmx_temps_print_grids(&r->temps, r->node_k, args->precision, o->out[GRID_STEADY].file);
    }
    if (o->out[STEADY].file) {
        tmx_temps_print(&r->temps, args->precision, o->out[STEADY].file);
    } else if (!transient && !to_file && !args->verify_with[0]) {
        printf("Unit\tSteady(Kelvin)\n");
        tmx_temps_print(&r->temps, args->precision, stdout);
    }
    return args->verify_with[0] ? verify(r, err) : TMX_OK;
}

int tmx_cmd_thermal(int argc, char **argv)
{
    struct thermal_args args;
    struct tmx_trace_run run = {0};
    struct outputs outputs = {0};
    struct tmx_err err = {0};
    struct tmx_progress progress = {0};
    const struct tmx_log log = {say, &args};
    enum tmx_status st = tmx_thermal_args_parse(argc, argv, &args, &err);
    args.run.row_done = st || args.quiet ? NULL : row_done;
    args.run.row_done_to = &progress;
    st = st ? st : tmx_trace_run_read(&run, &args.run, &log, &err);
    st = st ? st : open_outputs(&outputs, &args.run.cfg, &err);
    st = st ? st : simulate(&run, &outputs, &err);
    tmx_progress_end(&progress);
    st = st ? st : commit_outputs(&outputs, &err);
    discard_outputs(&outputs);
    tmx_trace_run_finish(&run);
    return tmx_command_end("thermal", st, &err);
}
