#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/thermal_run.h"
#include "cli/thermal_verify.h"
#include "core/base/os.h"

/* `thermix thermal`: a trace-driven thermal simulator with HotSpot's options and files. */

static void say(void *to, enum tmx_log_level level, const char *text)
{
    const struct thermal_args *args = to;
    if (level == TMX_LOG_WARNING || !args->quiet) {
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

static enum tmx_status simulate(struct thermal_run *r, struct outputs *o, struct tmx_err *err)
{
    const struct thermal_args *args = r->args;
    const bool transient = args->cfg.o[0] || args->cfg.grid_transient_file[0];
    const bool to_file = args->cfg.steady_file[0] || args->cfg.grid_steady_file[0];
    enum tmx_status st = TMX_OK;
    if (o->out[DUMP].file) {
        tmx_hotspot_config_print(&args->cfg, o->out[DUMP].file);
    }
    if (transient) {
        st = thermal_run_transient(r, o->out[TRACE].file, o->out[GRID_TRANSIENT].file, err);
    }
    if (st || (transient && !to_file && !args->verify_with[0])) {
        return st;
    }
    st = thermal_run_steady(r, err);
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
    return args->verify_with[0] ? thermal_verify(r, err) : TMX_OK;
}

int tmx_cmd_thermal(int argc, char **argv)
{
    struct thermal_args args;
    struct thermal_run run = {0};
    struct outputs outputs = {0};
    struct tmx_err err = {0};
    const struct tmx_log log = {say, &args};
    enum tmx_status st = thermal_args_parse(argc, argv, &args, &err);
    st = st ? st : thermal_run_read(&run, &args, &log, &err);
    st = st ? st : open_outputs(&outputs, &args.cfg, &err);
    st = st ? st : simulate(&run, &outputs, &err);
    st = st ? st : commit_outputs(&outputs, &err);
    discard_outputs(&outputs);
    thermal_run_finish(&run);
    return tmx_command_end("thermal", st, &err);
}
