/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix place: how many jobs fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "cli/commands.h"
#include "core/topology/topology.h"
#include "limits/budget.h"
#include "measure/calibrate.h"
#include "study/pool.h"

enum { BY_NODE, BY_JOB };
static const char *const by_words[] = {"node", "job", NULL};

struct args {
    struct tmx_texts system;
    struct tmx_sets sets;
    struct tmx_admission_call call;
    const char *out;
    int by;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, call.limit_c, REAL, "limit", 0, .value = "C", .min = -60, .max = 300,
            .doc = "no SM hotter than this, degC (without it: where the hardware stops an SM)"),
    TMX_ARG(args, call.kernel, TEXT, "kernel", 0, .value = "KERNEL", .names = TMX_NAMES_KERNEL,
            .doc =
                "a job is this kernel on one whole GPU (without it and --power: GPU 0's board at its limit)"),
    TMX_ARG(args, call.power_w, REAL, "power", 0, .value = "W", .min = 0.1, .max = 5000,
            .doc = "a job draws this much dynamic power on GPU 0, and on the others as their SMs have it"),
    TMX_ARG(args, call.check_s, REAL, "check", 0, .value = "S", .min = 0, .max = 1e5, .def = "600",
            .doc = "simulated seconds of the run that checks the forecast; 0: none"),
    TMX_ARG(args, by, WORD, "by", 0, .words = by_words, .def = "node",
            .doc = "a row a node, or a row a job in the order in which a node takes them"),
    TMX_ARG_TABLE_TO(args, out, "write the table to FILE"),
    TMX_ARG_FORMAT(args, print.format),
    TMX_ARG(args, print.columns, LIST, "columns", 0, .value = "NAME,...",
            .doc = "these columns, in this order"),
    TMX_ARG_SET(args, sets, ""),
    {0},
};

struct calibration { /* of which the system is */
    double most_w;   /* of a GPU in the forecasts */
    struct tmx_rc model;
    struct tmx_fit_errors errors;
    bool air; /* not given here */
};

/* As the callback of tmx_admission_call. */
static double forecast_error_k(void *to, const struct tmx_topology *t, size_t first, size_t n_gpu, size_t gpu,
                               const double *power_w, const double *rpm)
{
    struct calibration *c = to;
    double *w = calloc(2 * c->model.n_gpu + 1, sizeof *w), *n = w ? w + c->model.n_gpu : NULL;
    size_t at = c->model.n_gpu;
    for (size_t g = 0; w && g < n_gpu; g++) {
        size_t i = 0;
        char name[TMX_NAME];
        while (i < c->model.n_gpu &&
               strcmp(tmx_calibrated_name(&c->model, i, name), t->gpu[first + g].name) != 0) {
            i++;
        }
        if (i < c->model.n_gpu) {
            w[i] = power_w[g];
            n[i] = rpm[g];
            c->most_w = fmax(c->most_w, power_w[g]);
            at = g == gpu ? i : at;
        }
    }
    const double error_k = at < c->model.n_gpu
                               ? tmx_fit_steady_error_k(&c->errors, &c->model, at, w, n, c->air)
                               : NAN; /* a GPU that was never logged */
    free(w);
    return error_k;
}

/* The calibration beside a system's file, if it is one of thermix calibrate. True: it knows its errors. */
static bool open_calibration(const char *node, const struct tmx_sets *sets, struct calibration *c,
                             struct tmx_err *err)
{
    char folder[TMX_PATH_SIZE], fit[TMX_PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", node);
    char *slash = strrchr(folder, '/');
    snprintf(slash ? slash : folder, slash ? sizeof folder - (size_t)(slash - folder) : sizeof folder, "%s",
             slash ? "" : ".");
    if (snprintf(fit, sizeof fit, "%s/fit.csv", folder) >= (int)sizeof fit || !tmx_os_exists(fit) ||
        !tmx_os_exists(node)) {
        return false;
    }
    c->air = true;
    for (size_t i = 0; i < sets->n; i++) {
        c->air = c->air && !(strcmp(sets->set[i].key, "inlet_c") == 0);
    }
    (void)(tmx_calibrated_read(&c->model, fit, err) ||
           tmx_calibrated_errors(&c->errors, &c->model, folder, err));
    if (!err->code && c->errors.n == 0) {
        tmx_print_visible(stderr,
                          "thermix place: warning: %s has no covariance.csv, so that the forecast's error is "
                          "not known; calibrate again\n",
                          folder);
    }
    return !err->code && c->errors.n > 0;
}

static void run(void *args, struct tmx_err *err)
{
    struct args *a = args;
    struct tmx_admission_call *call = &a->call;
    struct tmx_table *table = NULL;
    struct calibration c = {0};
    struct tmx_progress progress = {.noun = "seconds of the check"};
    char node[TMX_PATH_SIZE];
    const bool calibrated = /* a folder of `thermix calibrate` */
        snprintf(node, sizeof node, "%s/node.cfg", a->system.text[0]) < (int)sizeof node &&
        tmx_os_exists(node);
    call->system = calibrated ? node : a->system.text[0];
    call->error_k = open_calibration(call->system, &a->sets, &c, err) ? forecast_error_k : NULL;
    call->error_to = &c;
    call->by_job = a->by == BY_JOB;
    call->sets = &a->sets;
    call->say = a->print.format == TMX_FORMAT_TEXT && strcmp(a->out, "-") == 0 ? stdout : NULL;
    call->second_done = tmx_progress_at;
    call->second_done_to = &progress;
    (void)(err->code || tmx_admission_table(&table, call, err));
    tmx_progress_end(&progress);
    tmx_print_end(table, &a->print, a->out, NULL, err);
    static const double FAR = 1.25; /* a calibration knows the powers it was fitted to */
    if (!err->code && c.model.power_high_w > 0 && c.most_w > FAR * c.model.power_high_w) {
        fprintf(stderr,
                "thermix place: warning: a GPU draws %.0f W, the calibration's log %.0f to %.0f W: errors "
                "grow with the distance\n",
                c.most_w, c.model.power_low_w, c.model.power_high_w);
    }
    tmx_fit_errors_finish(&c.errors);
    tmx_rc_finish(&c.model);
}

const struct tmx_command tmx_cmd_place = {
    .name = "place",
    .summary = "how many jobs of a kind a node or hall carries below a temperature",
    .doc = "Admit jobs one by one, each to the GPU with which the hottest SM of its node stays coolest in "
           "the long run, until the next one would pass the limit; then run the admitted ones and compare.",
    .notes = "The forecast knows leakage, fans on their curves and air that GPUs pass on. Fans are on their "
             "curves where all have one. --set inlet_c=30 is the air, --set inlet_c=+8 air 8 K warmer.",
    .examples = "thermix place hgx-h100 --limit 83\n"
                "thermix place hgx-b200 --limit 62 --kernel gpu_burn --set inlet_c=+8\n"
                "thermix place node-8gpu --limit 83 --kernel Cmem --by job\n"
                "thermix place hall --limit 80 --power 60 --check 0",
    TMX_OPERANDS(args, system, 1, 1, "SYSTEM", SYSTEM,
                 "which system? `thermix list systems` names them; a calibration is one, too"),
    .keeps = true,
    TMX_RUNS(args),
};
