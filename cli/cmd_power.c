#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "power/regress.h"
#include "study/table_out.h"

enum { KEY_IDLE = 256, KEY_FORMAT, KEY_TEST };

struct args {
    const char *action, *file, *format, *test;
    double idle_w;
};

static const struct argp_option options[] = {
    {"test", KEY_TEST, "TEST.csv", 0, "Also predict these kernels (same columns), without fitting to them",
     0},
    {"idle", KEY_IDLE, "W", 0,
     "Add this to all powers when errors are computed: percent of the whole system's power (0)", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "text, csv, markdown or json (text)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct args *a = state->input;
    char *end;
    switch (key) {
    case KEY_TEST:
        a->test = arg;
        return 0;
    case KEY_FORMAT:
        a->format = arg;
        return 0;
    case KEY_IDLE:
        a->idle_w = strtod(arg, &end);
        if (end == arg || *end || !(a->idle_w >= 0 && a->idle_w < 1e6)) {
            argp_error(state, "--idle %s: expected watts", arg);
        }
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0) {
            a->action = arg;
        } else if (state->arg_num == 1) {
            a->file = arg;
        } else {
            argp_error(state, "too many arguments");
        }
        return 0;
    case ARGP_KEY_END:
        if (!a->file || strcmp(a->action, "fit") != 0) {
            argp_error(state, "expected: fit TRAIN.csv");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum tmx_status print_coefficients(const struct tmx_training *t, const struct tmx_power_fit *fit,
                                          enum tmx_format format, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"coefficient", TMX_COLUMN_TEXT, 0},
                                                {"value_w", TMX_COLUMN_REAL, 3},
                                                {"standard_error_w", TMX_COLUMN_REAL, 3}};
    struct tmx_table *out = NULL;
    enum tmx_status st = tmx_table_create(&out, columns, 3, err);
    for (size_t i = 0; !st && i < fit->n_coefficient; i++) {
        tmx_table_text(out, i == 0 ? "lambda" : t->feature[i - 1]);
        tmx_table_real(out, fit->coefficient[i]);
        tmx_table_real(out, fit->std_error[i]);
    }
    st = st ? st : tmx_table_write(out, format, stdout, err);
    tmx_table_destroy(out);
    return st;
}

static enum tmx_status print_rows(const struct tmx_training *t, const struct tmx_power_fit *fit,
                                  double idle_w, enum tmx_format format, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {
        {"kernel", TMX_COLUMN_TEXT, 0},     {"measured_w", TMX_COLUMN_REAL, 2},
        {"fitted_w", TMX_COLUMN_REAL, 2},   {"residual_w", TMX_COLUMN_REAL, 2},
        {"left_out_w", TMX_COLUMN_REAL, 2}, {"left_out_error_percent", TMX_COLUMN_REAL, 2}};
    struct tmx_table *out = NULL;
    enum tmx_status st = tmx_table_create(&out, columns, 6, err);
    for (size_t r = 0; !st && r < t->n_row; r++) {
        tmx_table_text(out, t->kernel[r]);
        tmx_table_real(out, t->power_w[r]);
        tmx_table_real(out, fit->fitted_w[r]);
        tmx_table_real(out, t->power_w[r] - fit->fitted_w[r]);
        tmx_table_real(out, fit->left_out_w[r]);
        tmx_table_real(out, 100 * (fit->left_out_w[r] - t->power_w[r]) / (t->power_w[r] + idle_w));
    }
    st = st ? st : tmx_table_write(out, format, stdout, err);
    tmx_table_destroy(out);
    return st;
}

static void print_summary(const struct tmx_training *t, const struct tmx_power_fit *fit, double idle_w)
{
    double mean = 0, worst = 0;
    size_t at = 0;
    for (size_t r = 0; r < t->n_row; r++) {
        const double e = 100 * fabs(fit->left_out_w[r] - t->power_w[r]) / (t->power_w[r] + idle_w);
        mean += e / (double)t->n_row;
        if (e > worst) {
            worst = e;
            at = r;
        }
    }
    printf("rows %zu, R2 %.4f, residual %.2f W rms\n", t->n_row, fit->r_squared, fit->rms_w);
    printf("leave-one-out error: mean %.2f %%, worst %.2f %% (%s)\n", mean, worst, t->kernel[at]);
}

static enum tmx_status test(const struct tmx_training *t, const struct tmx_power_fit *fit,
                            const struct args *a, enum tmx_format format, struct tmx_err *err)
{
    static const struct tmx_column columns[] = {{"kernel", TMX_COLUMN_TEXT, 0},
                                                {"measured_w", TMX_COLUMN_REAL, 2},
                                                {"predicted_w", TMX_COLUMN_REAL, 2},
                                                {"error_percent", TMX_COLUMN_REAL, 2}};
    struct tmx_training s;
    struct tmx_table *out = NULL;
    double mean = 0, worst = 0;
    enum tmx_status st = tmx_training_load(&s, a->test, err);
    if (st) {
        return st;
    }
    for (size_t f = 0; !st && f < t->n_feature; f++) {
        if (s.n_feature != t->n_feature || strcmp(s.feature[f], t->feature[f]) != 0) {
            st = tmx_fail_at(err, TMX_EPARSE, a->test, 0, "columns differ from those of %s", a->file);
        }
    }
    st = st ? st : tmx_table_create(&out, columns, 4, err);
    for (size_t r = 0; !st && r < s.n_row; r++) {
        const double w = tmx_power_fit_predict_w(fit, &s.event[r * s.n_feature]);
        const double e = 100 * (w - s.power_w[r]) / (s.power_w[r] + a->idle_w);
        tmx_table_text(out, s.kernel[r]);
        tmx_table_real(out, s.power_w[r]);
        tmx_table_real(out, w);
        tmx_table_real(out, e);
        mean += fabs(e) / (double)s.n_row;
        worst = fabs(e) > worst ? fabs(e) : worst;
    }
    st = st ? st : tmx_table_write(out, format, stdout, err);
    if (!st && format == TMX_FORMAT_TEXT) {
        printf("test error: mean %.2f %%, worst %.2f %%\n", mean, worst);
    }
    tmx_table_destroy(out);
    tmx_training_finish(&s);
    return st;
}

static enum tmx_status fit(const struct args *a, enum tmx_format format, struct tmx_err *err)
{
    struct tmx_training t = {0};
    struct tmx_power_fit f = {0};
    enum tmx_status st = tmx_training_load(&t, a->file, err);
    st = st ? st : tmx_power_fit(&t, &f, err);
    st = st ? st : print_coefficients(&t, &f, format, err);
    st = st ? st : print_rows(&t, &f, a->idle_w, format, err);
    if (!st && format == TMX_FORMAT_TEXT) {
        print_summary(&t, &f, a->idle_w);
    }
    if (!st && a->test) {
        st = test(&t, &f, a, format, err);
    }
    tmx_power_fit_finish(&f);
    tmx_training_finish(&t);
    return st;
}

int tmx_cmd_power(int argc, char **argv)
{
    static const struct argp parser = {
        options,
        parse,
        "fit TRAIN.csv",
        "Fit equation 11 of paper 004, power = lambda + sum of coefficient x event rate, to measured kernels "
        "and "
        "cross-validate it. TRAIN.csv has the columns kernel, one or more event rates, power_w.\v"
        "Example: thermix power fit workloads/training/rodinia_c1060.csv",
        NULL,
        NULL,
        NULL};
    struct args a = {.format = "text"};
    struct tmx_err err = {0};
    enum tmx_format format = TMX_FORMAT_TEXT;
    argp_err_exit_status = 2;
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    enum tmx_status st = tmx_format_parse(a.format, &format, &err);
    st = st ? st : fit(&a, format, &err);
    return tmx_command_end("power", st, &err);
}
