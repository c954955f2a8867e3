#include <argp.h>

#include "cli/commands.h"
#include "study/effects.h"
#include "study/pivot.h"
#include "study/table_out.h"

enum { KEY_OUTPUT = 256, KEY_FORMAT };

struct arguments {
    const char *db, *metric, *format, *out;
};

static const struct argp_option options[] = {
    {"output", KEY_OUTPUT, "METRIC", 0, "the metric to explain, for example peak_temp_c", 0},
    {"format", KEY_FORMAT, "FORMAT", 0, "text (default), csv, markdown or json", 0},
    {"file", 'o', "FILE", 0, "default: standard output", 0},
    {0},
};

static error_t parse(int key, char *arg, /* NOLINT(readability-non-const-parameter): argp's type */
                     struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case KEY_OUTPUT:
        a->metric = arg;
        return 0;
    case KEY_FORMAT:
        a->format = arg;
        return 0;
    case 'o':
        a->out = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (a->db) {
            argp_error(state, "one database at a time");
        }
        a->db = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->db || !a->metric) {
            argp_error(state, "expected a database and --output METRIC");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options,
                                 parse,
                                 "DB",
                                 "How much each axis of a study moves one metric.\v"
                                 "Elasticities and standardised regression coefficients with standard "
                                 "errors; Sobol indices when the study "
                                 "was sampled with sample.method = \"indices\".\n\nExample:\n"
                                 "  thermix sensitivity cooling.sqlite --output peak_temp_c",
                                 NULL,
                                 NULL,
                                 NULL};

int tmx_cmd_sensitivity(int argc, char **argv)
{
    struct arguments a = {.format = "text", .out = "-"};
    struct tmx_err err = {0};
    struct tmx_result_set set = {0};
    struct tmx_table *t = NULL;
    enum tmx_format format = TMX_FORMAT_TEXT;
    size_t metric = 0;
    argp_parse(&argp, argc, argv, 0, NULL, &a);
    enum tmx_status st = tmx_format_parse(a.format, &format, &err);
    st = st ? st : tmx_results_load(&set, a.db, &err);
    st = st ? st : tmx_metric_index(&set, a.metric, &metric, &err);
    st = st ? st : tmx_effects(&set, metric, &t, &err);
    st = st ? st : tmx_table_save(t, format, a.out, &err);
    tmx_table_destroy(t);
    tmx_result_set_finish(&set);
    return tmx_command_end("sensitivity", st, &err);
}
