/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix power fit: a power model from measured kernels. */
#include "cli/commands.h"
#include "power/regress.h"
#include "study/table_out.h"

struct args {
    struct tmx_texts what;
    const char *test;
    double idle_w;
    int format;
};

static const char *const verbs[] = {"fit", NULL};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, test, TEXT, "test", 0, .value = "TEST.csv", .names = TMX_NAMES_FILE,
            .doc = "also predict these kernels (same columns), without fitting to them"),
    TMX_ARG(args, idle_w, REAL, "idle", 0, .value = "W", .min = 0, .max = 1e6, .def = "0",
            .doc = "add this power to all kernels when errors are computed, so that they are percent of the "
                   "whole system's power"),
    TMX_ARG_FORMAT(args, format),
    {0},
};

/* Print the table and let go of it. */
static enum tmx_status print(struct tmx_table *t, enum tmx_status st, const struct args *a,
                             struct tmx_err *err)
{
    st = st ? st : tmx_table_write(t, (enum tmx_format)a->format, stdout, err);
    tmx_table_destroy(t);
    return st;
}

static enum tmx_status test(const struct args *a, const struct tmx_training *train,
                            const struct tmx_power_fit *fit, struct tmx_err *err)
{
    struct tmx_training other = {0};
    struct tmx_table *t = NULL;
    struct tmx_fit_error e = {0};
    enum tmx_status st = tmx_training_load(&other, a->test, err);
    st = st ? st : tmx_fit_test(train, fit, &other, a->idle_w, &t, &e, err);
    st = print(t, st, a, err);
    if (!st && a->format == TMX_FORMAT_TEXT) {
        printf("test error: mean %.2f %%, worst %.2f %%\n", e.mean, e.worst);
    }
    tmx_training_finish(&other);
    return st;
}

static enum tmx_status run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_training train = {0};
    struct tmx_power_fit fit = {0};
    struct tmx_table *t = NULL;
    enum tmx_status st = tmx_training_load(&train, a->what.text[1], err);
    st = st ? st : tmx_power_fit(&train, &fit, err);
    st = st ? st : tmx_fit_coefficients(&train, &fit, &t, err);
    st = print(t, st, a, err);
    t = NULL;
    st = st ? st : tmx_fit_rows(&train, &fit, a->idle_w, &t, err);
    st = print(t, st, a, err);
    if (!st && a->format == TMX_FORMAT_TEXT) {
        const struct tmx_fit_error e = tmx_fit_left_out(&train, &fit, a->idle_w);
        printf("rows %zu, R2 %.4f, residual %.2f W rms\n", train.n_row, fit.r_squared, fit.rms_w);
        printf("leave-one-out error: mean %.2f %%, worst %.2f %% (%s)\n", e.mean, e.worst,
               train.kernel[e.worst_row]);
    }
    if (!st && a->test) {
        st = test(a, &train, &fit, err);
    }
    tmx_power_fit_finish(&fit);
    tmx_training_finish(&train);
    return st;
}

const struct tmx_command tmx_cmd_power = {
    .name = "power",
    .summary = "fit a power model to measured kernels",
    .doc = "Fit equation 11 of paper 004, power = lambda + sum of coefficient x event rate, to measured "
           "kernels and "
           "cross-validate it. TRAIN.csv has the columns kernel, one or more event rates, power_w.",
    .examples = "thermix power fit workloads/training/rodinia_c1060.csv",
    .args = rows,
    .operands = "fit TRAIN.csv",
    .operand = offsetof(struct args, what),
    .min_operand = 2,
    .max_operand = 2,
    .which = "expected: fit TRAIN.csv",
    .operand_words = verbs,
    .operand_names = TMX_NAMES_FILE,
    .size = sizeof(struct args),
    .run = run,
};
