/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix llm: a language model's phases from measured rows. */
#include "base/opt.h"
#include "base/output.h"
#include "cli/commands.h"
#include "measure/measure.h"
#include "run/load/data.h"

struct args {
    struct tmx_texts what;
    const char *out, *like, *name;
    struct tmx_print print;
};

static const char *const verbs[] = {"fit", NULL};
static const struct tmx_opt name_opt = TMX_ROW_TEXT(tmx_llm, name, NULL, "name of the model");

static const struct tmx_arg rows[] = {
    TMX_ARG(args, out, TEXT, "out", 'o', .value = "FILE.cfg", .names = TMX_NAMES_FILE,
            .doc = "write the model there"),
    TMX_ARG(args, like, TEXT, "like", 0, .value = "MODEL", .names = TMX_NAMES_FILE, .def = "llama2-70b",
            .doc = "a model's file, for what rows do not say: weights, heads, shares, idle watts"),
    TMX_ARG(args, name, TEXT, "name", 0, .needs = "out", .value = "NAME",
            .doc = "name of the model; default: that of --like"),
    TMX_ARG_TABLE(args),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_llm like = {0}, m = {0};
    struct tmx_table *t = NULL;
    char path[TMX_PATH_SIZE];
    (void)(tmx_data_find(TMX_DATA_LLM, a->like, path, err) || tmx_llm_load(&like, path, err) ||
           tmx_llm_fit(a->what.text[1], &like, &m, &t, err) ||
           (a->name && tmx_opt_set(&name_opt, &m, a->name, "--name", 0, err)));
    if (!err->code) {
        tmx_print_visible(stderr,
                          "thermix llm: of %s (--like) are weights_bytes = %g, layers = %d, kv_heads = %d, "
                          "head_dim = %d, value_bytes = %d, the shares of clock and memory, and of its "
                          "phases memory_bytes, idle_w and token_w_per_sequence\n",
                          like.name, like.weights_bytes, like.layers, like.kv_heads, like.head_dim,
                          like.value_bytes);
    }
    tmx_print_end(t, &a->print, "-", NULL, err);
    (void)(!err->code && a->out && tmx_llm_write(&m, a->out, err));
    tmx_llm_finish(&like);
}

const struct tmx_command tmx_cmd_llm = {
    .name = "llm",
    .summary = "fit a language model's phases to measured rows",
    .doc =
        "fit: the times of a language model's iterations and their watts, from ROWS.csv with the columns "
        "prompt_size, batch_size, token_size, prompt_time, token_time [ms] and tensor_parallel, optionally "
        "hardware (a100-pcie is that chip, a100-80gb chip a100), peak_power and average_power (shares of the "
        "board's limit). Prints the errors of the fit, and of each cell predicted by a fit without it.",
    .examples = "thermix llm fit rows.csv -o my-llm.cfg",
    TMX_OPERANDS(args, what, 2, 2, "fit ROWS.csv", FILE, "expected: fit ROWS.csv"),
    .operand_words = verbs,
    TMX_RUNS(args),
};
