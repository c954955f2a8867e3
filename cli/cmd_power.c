/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix power: a power model from measured kernels, a card from its loads under limits; the watts of other
 * simulators. */
#include <string.h>

#include "cli/commands.h"
#include "measure/measure.h"
#include "power/limits.h"
#include "power/regress.h"

struct args {
    struct tmx_texts what;
    const char *test, *chip, *out, *load;
    double idle_w, clock_hz;
    struct tmx_print print;
};

static const char *const verbs[] = {"fit", "import", "limits", NULL};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "out", 'o', .of = "import limits", .value = "PATH", .names = TMX_NAMES_FILE,
            .doc = "import: the folder that gets the kernels, or the power trace to write; limits: the "
                   "chip's folder"),
    TMX_ARG(args, clock_hz, REAL, "clock", 0, .of = "limits", .needs = "out", .value = "HZ", .min = 1e8,
            .max = 1e11, .def = "1e9",
            .doc = "limits: the card's top clock, for the chip; speeds are relative to it"),
    TMX_ARG(args, load, TEXT, "load", 0, .of = "limits", .value = "TEXT",
            .doc = "limits: loads whose names contain TEXT"),
    TMX_ARG(args, chip, TEXT, "chip", 0, .of = "import", .value = "CHIP", .names = TMX_NAMES_CHIP,
            .doc = "import of a power trace: the chip whose units get the watts"),
    TMX_ARG(args, test, TEXT, "test", 0, .of = "fit", .value = "TEST.csv", .names = TMX_NAMES_FILE,
            .doc = "fit: also predict these kernels (same columns), without fitting to them"),
    TMX_ARG(args, idle_w, REAL, "idle", 0, .of = "fit", .value = "W", .min = 0, .max = 1e6, .def = "0",
            .doc = "fit: add this power to all kernels when errors are computed, so that they are percent of "
                   "the whole system's power"),
    TMX_ARG_TABLE(args),
    {0},
};

static void test(const struct args *a, const struct tmx_training *train, const struct tmx_power_fit *fit,
                 struct tmx_err *err)
{
    struct tmx_training other = {0};
    struct tmx_table *t = NULL;
    struct tmx_fit_error e = {0};
    (void)(tmx_training_load(&other, a->test, err) ||
           tmx_fit_test(train, fit, &other, a->idle_w, &t, &e, err));
    tmx_print_end(t, &a->print, "-", NULL, err);
    if (!err->code && a->print.format == TMX_FORMAT_TEXT) {
        printf("test error: mean %.2f %%, worst %.2f %%\n", e.mean, e.worst);
    }
    tmx_training_finish(&other);
}

/* A table of the fit, unless columns are asked for, which are those of the table of its rows; and that. */
static void print(const struct args *a, struct tmx_table *fit, struct tmx_table *rows_of, struct tmx_err *err)
{
    if (a->print.columns.n == 0) {
        tmx_print(fit, &a->print, "-", NULL, err);
    }
    tmx_table_destroy(fit);
    tmx_print_end(rows_of, &a->print, "-", NULL, err);
}

static void import(const struct args *a, struct tmx_err *err)
{
    struct tmx_table *t = NULL;
    if (!a->out) {
        tmx_error(err, TMX_ECONFIG, "import needs -o PATH: the folder for the kernels, or the power trace");
        return;
    }
    (void)!tmx_accelwattch_import(a->what.text[1], a->chip, a->out, &t, err);
    tmx_print_end(t, &a->print, "-", NULL, err);
}

static void limits(const struct args *a, struct tmx_err *err)
{
    struct tmx_limit_rows rows_of = {0};
    struct tmx_limit_fit fit = {0};
    if (!tmx_limit_rows_load(&rows_of, a->what.text[1], a->load, err) &&
        !tmx_limit_fit(&rows_of, &fit, err)) {
        print(a, tmx_limit_card_table(&fit), tmx_limit_row_table(&rows_of, &fit), err);
    }
    if (!err->code && a->print.format == TMX_FORMAT_TEXT) {
        printf("%zu loads, %zu rows, %zu more left out (the limit is not kept, or a load has fewer than "
               "three); rms: speeds %.2f %%, watts %.2f %%\n",
               rows_of.n_load, rows_of.n_row, rows_of.n_left_out, fit.speed_pct, fit.power_pct);
    }
    (void)(!err->code && a->out && tmx_limit_chip(&rows_of, &fit, a->clock_hz, a->out, err));
    tmx_limit_fit_finish(&fit);
    tmx_limit_rows_finish(&rows_of);
}

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    if (strcmp(a->what.text[0], "fit") != 0) {
        (strcmp(a->what.text[0], "limits") == 0 ? limits : import)(a, err);
        return;
    }
    struct tmx_training train = {0};
    struct tmx_power_fit fit = {0};
    if (!tmx_training_load(&train, a->what.text[1], err) && !tmx_power_fit(&train, &fit, err)) {
        print(a, tmx_fit_coefficients(&train, &fit), tmx_fit_rows(&train, &fit, a->idle_w), err);
    }
    if (!err->code && a->print.format == TMX_FORMAT_TEXT) {
        const struct tmx_fit_error e = tmx_fit_left_out(&train, &fit, a->idle_w);
        printf("rows %zu, R2 %.4f, residual %.2f W rms\n", train.n_row, fit.r_squared, fit.rms_w);
        printf("leave-one-out error: mean %.2f %%, worst %.2f %% (%s)\n", e.mean, e.worst,
               train.kernel[e.worst_row]);
    }
    if (!err->code && a->test) {
        test(a, &train, &fit, err);
    }
    tmx_power_fit_finish(&fit);
    tmx_training_finish(&train);
}

const struct tmx_command tmx_cmd_power = {
    .name = "power",
    .summary = "fit a power model or a card's V/f curve, or import AccelWattch's watts",
    .doc =
        "fit: fit equation 11 of paper 004, power = lambda + sum of coefficient x event rate, to measured "
        "kernels and cross-validate it. TRAIN.csv has the columns kernel, one or more event rates, power_w.\n"
        "import: read what AccelWattch or GPUWattch writes, gzip or text. accelwattch_power_report.log "
        "becomes a kernel file for each kernel, the mean over its launches; a gpgpusim_power_trace_report "
        "becomes a power trace of CHIP's units.\n"
        "limits: fit a card's floor, knee and volts to what loads do under power limits. ROWS.csv has the "
        "columns limit_w (or power_limit), power_w (or average_power: the mean), and speed, or time_s (or "
        "time_per_epoch); its other columns name the load. Errors are one standard deviation, by leaving "
        "loads out. -o writes a chip of one unit.",
    .notes = "A row of the imported power trace lasts -gpgpu_runtime_stat cycles of the simulated core "
             "clock: 500 cycles at 1132 MHz are 4.417e-7 s, which `thermix thermal` takes as "
             "-sampling_intvl. The trace contains the static power, so thermix thermal must add no leakage.",
    .examples = "thermix power fit workloads/training/rodinia_c1060.csv\n"
                "thermix power limits workloads/measured/zeus_a40_open.csv --clock 1.74e9 -o a40\n"
                "thermix power import accelwattch_power_report.log -o kernels\n"
                "thermix power import gpgpusim_power_trace_report.log.gz --chip v100 -o v100.ptrace",
    TMX_OPERANDS(args, what, 2, 2, "fit TRAIN.csv | limits ROWS.csv | import FILE", FILE,
                 "expected: fit TRAIN.csv, limits ROWS.csv, or import FILE"),
    .operand_words = verbs,
    TMX_RUNS(args),
};
