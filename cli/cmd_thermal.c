/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "hotspot/hotspot.h"
#include "study/pool.h"
#include "thermal/files/hotspot_config.h"

/* The files that `thermix thermal` writes. */
enum {
    TMX_TRACE,
    TMX_STEADY,
    TMX_GRID_STEADY,
    TMX_GRID_TRANSIENT,
    TMX_ALL_TRANSIENT,
    TMX_DUMP,
    TMX_N_OUTPUT
};

/* Command line of `thermix thermal`: HotSpot's `-name value` pairs, then GNU long options. */

struct args {
    struct tmx_trace_options run;
    int method, scheme, network;
    long refine, precision, modes;
    double tolerance_k, overlap_um;
    const char *verify_with;
    bool quiet, verbose;
};
enum { MAX_NAME = 64, MAX_NAMES = 32 };

static const char *const schemes[] = {"exact", "be", NULL}; /* enum tmx_trace_scheme */

static const char *const networks[] = {"hotspot", "physical", NULL}; /* enum tmx_network_kind */

static const struct tmx_arg rows[] = {
    TMX_ARG(args, method, WORD, "method", 0, .words = tmx_thermal_auto_or_names, .def = "auto",
            .doc = "the solver of transients: the reduced model, the full grid, whichever of them costs less "
                   "(auto; -v prints the choice and its reason), or HotSpot's own library if this program "
                   "was built with it (HOTSPOT_ROOT). Steady states are always solved on the full grid"),
    TMX_ARG(args, run.max_memory_mb, REAL, "max-memory", 0, .value = "MB", .min = 1, .max = 1e9,
            .def = "4000",
            .doc = "largest memory for setting up a reduced model: above it auto takes the grid, and "
                   "--method reduced is refused"),
    TMX_ARG(
        args, scheme, WORD, "scheme", 0, .words = schemes, .def = "exact",
        .doc =
            "exact for constant power within a row, or one backward-Euler step a row as HotSpot (full grid)"),
    TMX_ARG(args, network, WORD, "network", 0, .words = networks, .def = "hotspot",
            .doc = "HotSpot's network, or finite volumes to the edges of spreader and sink with refined "
                   "layers and all of the heat capacity; docs/models.md lists the differences"),
    TMX_ARG(args, refine, INT, "refine", 0, .value = "N", .min = 1, .max = 8, .def = "1",
            .doc = "physical network: sheets and cells of the package this many times finer"),
    TMX_ARG(args, precision, INT, "precision", 0, .value = "N", .min = 0, .max = 15, .def = "2",
            .doc = "decimals of written temperatures"),
    TMX_ARG(args, modes, INT, "modes", 0, .value = "N", .min = 0, .max = 100000, .def = "0",
            .doc = "number of modes of the reduced model; 0: what the tolerance needs"),
    TMX_ARG(args, tolerance_k, REAL, "tolerance", 0, .value = "K", .min = 1e-6, .max = 1,
            .doc = "largest error of the reduced model at a block [K]; the printed error is an estimate, no "
                   "proven bound (known: 0.576 mK for 0.264 mK printed, avg maps)"),
    TMX_ARG(args, run.mixed, FLAG, "mixed", 0,
            .doc = "steps of the reduced model in mixed precision; the printed error contains its rounding"),
    TMX_ARG(args, run.no_cache, FLAG, "no-cache", 0,
            .doc = "neither read nor write the cache of reduced models"),
    TMX_ARG(args, run.allow_gaps, FLAG, "allow-gaps", 0,
            .doc = "accept floorplans that leave parts of the die without a block"),
    TMX_ARG(args, overlap_um, REAL, "allow-overlaps", 0, .value = "UM", .min = 0, .max = 1e5,
            .doc = "accept blocks that overlap by at most this depth [um]; both heat the cells there, as in "
                   "HotSpot"),
    TMX_ARG(args, run.hotspot_compat, FLAG, "hotspot-compat", 0,
            .doc =
                "HotSpot's defaults where ours differ: grid_map_mode center, exchanged lateral resistances, "
                "cold partly covered cells at the start, no leakage in transients, and -f, -p, -o, -d, "
                "-detailed_3D, -use_microchannels and -materials_file from the command line alone"),
    TMX_ARG(args, verify_with, TEXT, "verify-with", 0, .value = "PATH", .names = TMX_NAMES_FILE,
            .doc = "run the HotSpot program at PATH on the same files and print the differences"),
    TMX_ARG(args, verbose, FLAG, "verbose", 'v', .doc = "print the chosen method and the reason"),
    TMX_ARG(args, quiet, FLAG, "quiet", 0, .apart = "verbose",
            .doc = "print no notes on standard error, only warnings and errors"),
    {0},
};

/* A row of ours by name; --help and --usage are argp's own. */
static const struct tmx_arg *own_option(const char *name)
{
    static const struct tmx_arg help[] = {{.name = "help", .type = TMX_ARG_FLAG},
                                          {.name = "usage", .type = TMX_ARG_FLAG},
                                          {.name = "version", .type = TMX_ARG_FLAG}};
    for (const struct tmx_arg *o = rows; o->type; o++) {
        if (tmx_word_compare(o->name, name) == 0) {
            return o;
        }
    }
    for (size_t i = 0; i < sizeof help / sizeof help[0]; i++) {
        if (strcmp(help[i].name, name) == 0) {
            return &help[i];
        }
    }
    return NULL;
}

static void unknown(const char *arg, const char *name, struct tmx_err *err)
{
    const char *names[MAX_NAMES] = {NULL};
    size_t n = 0;
    for (const struct tmx_arg *o = rows; o->type && n < MAX_NAMES - 1; o++) {
        names[n++] = o->name;
    }
    const char *theirs = tmx_hotspot_config_nearest(name);
    if (theirs) {
        names[n++] = theirs;
    }
    const char *near = tmx_suggest_nearest(name, names, n);
    tmx_error_at(err, TMX_ECONFIG, "command line", 0, "unknown option \"%.60s\"%s%s%s%s", arg,
                 near ? ", did you mean \"" : "", near ? (near == theirs ? "-" : "--") : "", near ? near : "",
                 near ? "\"?" : "; see `thermix thermal --help`");
}

/* The value of argv[*i], either after its '=' or the next argument; a word that looks like an option is none.
 */
static const char *value_of(int argc, char **argv, int *i)
{
    const char *eq = strchr(argv[*i], '=');
    if (eq) {
        return eq + 1;
    }
    if (*i + 1 >= argc) {
        return NULL;
    }
    const char *next = argv[*i + 1];
    if (next[0] == '-' && (isalpha((unsigned char)next[1]) || next[1] == '-')) {
        return NULL;
    }
    ++*i;
    return next;
}

struct split {
    char **own; /* [argc + 1] arguments left for argp */
    int n_own;
    const char *config;
    struct tmx_arena *arena;
};

static void keep_own(struct split *s, const char *name, const char *value)
{
    const size_t size = strlen(name) + (value ? strlen(value) : 0) + 4;
    char *arg = tmx_arena_take(s->arena, size, 1);
    if (arg) {
        snprintf(arg, size, "--%s%s%s", name, value ? "=" : "", value ? value : "");
        s->own[s->n_own++] = arg;
    }
}

/* One argument: a HotSpot pair goes into cfg, an option of ours is kept for argp. */
static void split_one(int argc, char **argv, int *i, struct split *s, struct tmx_hotspot_config *cfg,
                      struct tmx_err *err)
{
    char name[MAX_NAME] = "";
    const char *arg = argv[*i], *begin = arg + (arg[0] == '-') + (arg[0] == '-' && arg[1] == '-');
    const struct tmx_span span = {begin, begin + strcspn(begin, "=")};
    const bool named = tmx_span_copy(span, name, sizeof name), config = tmx_word_compare(name, "c") == 0,
               short_help = !strcmp(arg, "-h") || !strcmp(arg, "-?");
    const struct tmx_arg *own = own_option(name);
    const char *value = NULL;
    if (begin == arg || begin == span.end) {
        tmx_error_at(err, TMX_ECONFIG, "command line", 0, "\"%.60s\": expected an option, -name value", arg);
    } else if (!named) {
        unknown(arg, arg, err);
    } else if (short_help || strcmp(arg, "-v") == 0) {
        keep_own(s, short_help ? "help" : "verbose", NULL);
    } else if (!config && !own && !tmx_hotspot_config_knows(name)) {
        unknown(arg, name, err);
    } else if (own && own->type == TMX_ARG_FLAG) {
        keep_own(s, own->name, NULL);
    } else if (!(value = value_of(argc, argv, i)) || !*value) {
        tmx_error_at(err, TMX_ECONFIG, "command line", 0, "option \"%s\" has no value", arg);
    } else if (config) {
        s->config = s->config ? s->config : value;
    } else if (own) {
        keep_own(s, own->name, value);
    } else {
        (void)!tmx_hotspot_config_set(cfg, name, value, TMX_HOTSPOT_COMMAND_LINE, 0, err);
    }
}

/* tmx_command.parse: fill args from the command line and the files it names. Errors: unknown option (with the
 * nearest known name), missing or bad value, those of tmx_hotspot_config_read. */
static void thermal_args_parse(const struct tmx_command *c, int argc, char **argv, void *args,
                               struct tmx_arena *arena, struct tmx_err *err)
{
    struct args *a = args;
    struct split s = {.n_own = 1, .arena = arena};
    tmx_hotspot_config_init(&a->run.cfg);
    if (TMX_TAKE(arena, s.own, (size_t)argc + 1)) {
        s.own[0] = argv[0];
    }
    tmx_arena_check(arena, err);
    for (int i = 1; !err->code && i < argc; i++) {
        split_one(argc, argv, &i, &s, &a->run.cfg, err);
    }
    if (!err->code) {
        tmx_args_parse(c, s.n_own, s.own, a, arena, err);
    }
    if (err->code || tmx_hotspot_config_read_files(&a->run.cfg, s.config, err)) {
        return;
    }
    if (a->run.hotspot_compat) {
        tmx_hotspot_config_drop(&a->run.cfg);
    }
    a->run.method = a->method > 0 ? tmx_thermal_backends[a->method - 1] : NULL;
    a->run.scheme = (enum tmx_trace_scheme)a->scheme;
    a->run.network = (enum tmx_network_kind)a->network;
    a->run.refine = (int)a->refine;
    a->run.precision = (int)a->precision;
    a->run.modes = (int)a->modes;
    a->run.tolerance_k = isnan(a->tolerance_k) ? 0 : a->tolerance_k;
    a->run.overlap_m = isnan(a->overlap_um) ? 0 : 1e-6 * a->overlap_um;
    snprintf(a->run.verify_with, sizeof a->run.verify_with, "%s", a->verify_with ? a->verify_with : "");
}

/* TMX_ECONFIG where two outputs, or an output and an input, are one file. */
static void thermal_outputs_open(struct tmx_output out[TMX_N_OUTPUT], const struct tmx_hotspot_config *cfg,
                                 struct tmx_err *err)
{
    const char *const paths[TMX_N_OUTPUT] = {
        cfg->o, cfg->steady_file, cfg->grid_steady_file, cfg->grid_transient_file, cfg->all_transient_file,
        cfg->d};
    const char *const inputs[] = {cfg->p,
                                  cfg->f,
                                  cfg->source[TMX_HOTSPOT_CONFIG],
                                  cfg->init_file,
                                  cfg->grid_layer_file,
                                  cfg->materials_file,
                                  cfg->package_config_file};
    for (size_t i = 0; i < TMX_N_OUTPUT; i++) {
        if (!paths[i][0] || strncmp(paths[i], "/dev/", 5) == 0) {
            continue;
        }
        for (size_t j = 0; j < i; j++) {
            if (paths[j][0] && tmx_os_same_file(paths[i], paths[j])) {
                tmx_error_at(err, TMX_ECONFIG, paths[i], 0, "two outputs go to this file");
            }
        }
        for (size_t j = 0; j < sizeof inputs / sizeof inputs[0]; j++) {
            if (inputs[j][0] && strcmp(paths[i], "-") != 0 && tmx_os_same_file(paths[i], inputs[j])) {
                tmx_error_at(err, TMX_ECONFIG, paths[i], 0, "an output would replace this input");
            }
        }
    }
    for (size_t i = 0; !err->code && i < TMX_N_OUTPUT; i++) {
        (void)(paths[i][0] && tmx_output_open(&out[i], paths[i], err));
    }
}

/* `thermix thermal`: a trace-driven thermal simulator with HotSpot's options and files. */

static void say(void *to, enum tmx_log_level level, const char *text)
{
    const struct args *args = to;
    if (level == TMX_LOG_WARNING || (level == TMX_LOG_INFO && !args->quiet) || args->verbose) {
        fprintf(stderr, "thermix thermal: %s%s\n", level == TMX_LOG_WARNING ? "warning: " : "", text);
    }
}

static void simulate(struct tmx_trace_run *r, struct tmx_output out[TMX_N_OUTPUT], struct tmx_err *err)
{
    const struct tmx_trace_options *args = r->args;
    const bool transient =
        args->cfg.o[0] || args->cfg.grid_transient_file[0] || args->cfg.all_transient_file[0];
    const bool to_file = args->cfg.steady_file[0] || args->cfg.grid_steady_file[0],
               verify = args->verify_with[0] != '\0';
    if (out[TMX_DUMP].file) {
        tmx_hotspot_config_print(&args->cfg, out[TMX_DUMP].file);
    }
    if (transient && tmx_trace_run_transient(r, out[TMX_TRACE].file, out[TMX_GRID_TRANSIENT].file, err)) {
        return;
    }
    if (out[TMX_ALL_TRANSIENT].file) { /* of all layers, after the last row */
        if (tmx_thermal_instance_nodes(&r->chip, r->node_k, err)) {
            return;
        }
        tmx_temps_from_nodes(&r->temps, r->node_k);
        tmx_temps_print(&r->temps, args->precision, out[TMX_ALL_TRANSIENT].file);
    }
    if ((transient && !to_file && !verify) || tmx_trace_run_steady(r, err)) {
        return;
    }
    if (out[TMX_GRID_STEADY].file) {
        const char *path = args->cfg.grid_steady_file;
        if (tmx_text_ends(path, ".vtk")) {
            tmx_temps_print_vtk(&r->temps, r->node_k, out[TMX_GRID_STEADY].file);
        } else {
            tmx_temps_print_grids(&r->temps, r->node_k, args->precision, out[TMX_GRID_STEADY].file);
        }
    }
    if (out[TMX_STEADY].file) {
        tmx_temps_print(&r->temps, args->precision, out[TMX_STEADY].file);
    } else if (!transient && !to_file && !verify) {
        printf("Unit\tSteady(Kelvin)\n");
        tmx_temps_print(&r->temps, args->precision, stdout);
    }
    struct tmx_table *differences = NULL;
    (void)(verify && (tmx_hotspot_check(r, &differences, err) ||
                      tmx_table_write(differences, TMX_FORMAT_TEXT, stdout, err)));
    tmx_table_destroy(differences);
}

static void run(void *args, struct tmx_err *err)
{
    struct args *a = args;
    struct tmx_trace_run r = {0};
    struct tmx_output outputs[TMX_N_OUTPUT] = {0};
    struct tmx_progress progress = {.noun = "rows"};
    const struct tmx_log log = {say, a};
    a->run.row_done = a->quiet ? NULL : tmx_progress_at;
    a->run.row_done_to = &progress;
    if (!tmx_trace_run_read(&r, &a->run, &log, err)) {
        thermal_outputs_open(outputs, &a->run.cfg, err);
    }
    if (!err->code) {
        simulate(&r, outputs, err);
    }
    tmx_progress_end(&progress);
    /* no file gets its name before all are known to be whole */
    for (size_t i = 0; !err->code && i < 2 * TMX_N_OUTPUT; i++) {
        struct tmx_output *o = &outputs[i % TMX_N_OUTPUT];
        (void)(o->file && (i < TMX_N_OUTPUT ? tmx_output_check : tmx_output_commit)(o, err));
    }
    for (size_t i = 0; i < TMX_N_OUTPUT; i++) {
        tmx_output_discard(&outputs[i]);
    }
    tmx_trace_run_finish(&r);
}

const struct tmx_command tmx_cmd_thermal = {
    .name = "thermal",
    .summary = "temperatures of a chip from a power trace, with HotSpot's options and files",
    .doc = "Temperatures of a chip from a power trace, with HotSpot's options and files.",
    .notes = "-c FILE reads a config file of such pairs. Without -o only the steady state of the mean power "
             "is computed. A command line option beats the same one in the config file; names ignore case. "
             "Files: docs/formats.md.",
    .examples =
        "thermix thermal -c chip.config -f chip.flp -p power.ptrace -o temps.ttrace -steady_file chip.steady",
    .pairs = tmx_hotspot_opts,
    .keeps = true,
    .parse = thermal_args_parse,
    TMX_RUNS(args),
};
