/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/commands.h"

#include <stdio.h>

#include "cli/parts/thermal_args.h"
#include "cli/parts/thermal_outputs.h"
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

static enum tmx_status verify(struct tmx_trace_run *r, struct tmx_err *err)
{
    struct tmx_table *table = NULL;
    enum tmx_status st = tmx_hotspot_check(r, &table, err);
    st = st ? st : tmx_table_write(table, TMX_FORMAT_TEXT, stdout, err);
    tmx_table_destroy(table);
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

static enum tmx_status simulate(struct tmx_trace_run *r, struct tmx_thermal_outputs *o, struct tmx_err *err)
{
    const struct tmx_trace_options *args = r->args;
    const bool transient = args->cfg.o[0] || args->cfg.grid_transient_file[0];
    const bool to_file = args->cfg.steady_file[0] || args->cfg.grid_steady_file[0];
    enum tmx_status st = TMX_OK;
    if (o->out[TMX_DUMP].file) {
        tmx_hotspot_config_print(&args->cfg, o->out[TMX_DUMP].file);
    }
    if (transient) {
        st = tmx_trace_run_transient(r, o->out[TMX_TRACE].file, o->out[TMX_GRID_TRANSIENT].file, err);
    }
    if (st || (transient && !to_file && !args->verify_with[0])) {
        return st;
    }
    st = tmx_trace_run_steady(r, err);
    if (st) {
        return st;
    }
    if (o->out[TMX_GRID_STEADY].file) {
        tmx_temps_print_grids(&r->temps, r->node_k, args->precision, o->out[TMX_GRID_STEADY].file);
    }
    if (o->out[TMX_STEADY].file) {
        tmx_temps_print(&r->temps, args->precision, o->out[TMX_STEADY].file);
    } else if (!transient && !to_file && !args->verify_with[0]) {
        printf("Unit\tSteady(Kelvin)\n");
        tmx_temps_print(&r->temps, args->precision, stdout);
    }
    return args->verify_with[0] ? verify(r, err) : TMX_OK;
}

static enum tmx_status run(void *args, struct tmx_err *err)
{
    struct thermal_args *a = args;
    struct tmx_trace_run r = {0};
    struct tmx_thermal_outputs outputs = {0};
    struct tmx_progress progress = {0};
    const struct tmx_log log = {say, a};
    a->run.row_done = a->quiet ? NULL : row_done;
    a->run.row_done_to = &progress;
    enum tmx_status st = tmx_trace_run_read(&r, &a->run, &log, err);
    st = st ? st : tmx_thermal_outputs_open(&outputs, &a->run.cfg, err);
    st = st ? st : simulate(&r, &outputs, err);
    tmx_progress_end(&progress);
    st = st ? st : tmx_thermal_outputs_commit(&outputs, err);
    tmx_thermal_outputs_discard(&outputs);
    tmx_trace_run_finish(&r);
    return st;
}

const struct tmx_command tmx_cmd_thermal = {
    .name = "thermal",
    .summary = "temperatures of a chip from a power trace, with HotSpot's options and files",
    .doc = "Temperatures of a chip from a power trace, with HotSpot's options and files.",
    .notes = "-c FILE reads a config file of such pairs. Without -o only the steady state of the mean power "
             "is computed. A command line option beats "
             "the same one "
             "in the config file; names ignore case. Files: docs/formats.md.",
    .examples =
        "thermix thermal -c chip.config -f chip.flp -p power.ptrace -o temps.ttrace -steady_file chip.steady",
    .args = tmx_thermal_rows,
    .pairs = tmx_hotspot_opts,
    .keeps = true,
    .size = sizeof(struct thermal_args),
    .parse = tmx_thermal_args_parse,
    .run = run,
};
