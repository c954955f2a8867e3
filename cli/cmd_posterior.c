/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix posterior: what printed values say of sampled constants, and the other way round. */
#include <stdio.h>

#include "cli/commands.h"
#include "study/analysis/analysis.h"

enum show { SHOW_VALUES, SHOW_AXES, SHOW_SETS };
static const char *const shows[] = {"values", "axes", "sets", NULL};

struct args {
    struct tmx_texts dir, where;
    double widen;
    const char *out, *importance;
    int show;
    struct tmx_print print;
};

static const struct tmx_arg rows[] = {
    TMX_ARG(args, show, WORD, "show", 0, .words = shows, .def = "values",
            .doc = "a row a printed value, an axis, or a set"),
    TMX_ARG(args, widen, REAL, "widen", 0, .value = "X", .min = 1e-6, .max = 1e6, .def = "1",
            .doc = "bands times X"),
    TMX_ARG(args, importance, TEXT, "importance", 0, .value = "COLUMN", .def = "",
            .doc = "column of sets.csv with the prior's density over that of the draw; \"\": \"importance\" "
                   "where there is one"),
    TMX_ARG(args, where, TEXTS, "where", 0, .value = "CONDITION",
            .doc = "only these sets: COLUMN=VALUE of sets.csv, with !=, <, <=, >, >= in place of =; may be "
                   "repeated"),
    TMX_ARG_TABLE(args),
    TMX_ARG_TABLE_TO(args, out, "write to FILE"),
    {0},
};

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    struct tmx_posterior p = {0};
    struct tmx_where where[16];
    struct tmx_table *t = NULL;
    const size_t n_where =
        tmx_where_parse(a->where.text, a->where.n, where, sizeof where / sizeof where[0], err);
    if (!tmx_posterior_load(&p, a->dir.text[0], a->widen, a->importance, where, n_where, err)) {
        t = a->show == SHOW_AXES   ? tmx_posterior_axes(&p)
            : a->show == SHOW_SETS ? tmx_posterior_sets(&p)
                                   : tmx_posterior_values(&p);
    }
    if (t) {
        fprintf(stderr, "%zu sets, as many as %.1f of equal weight", p.n_row,
                tmx_posterior_effective(&p, p.n_figure));
        for (size_t f = 0; f < p.n_figure; f++) {
            fprintf(stderr, "%s%s %.1f", f ? ", " : "; without ", p.figure[f],
                    tmx_posterior_effective(&p, f));
        }
        fputc('\n', stderr);
    }
    tmx_print_end(t, &a->print, a->out, a->print.columns.n > 0 ? &(struct tmx_screen){0} : NULL, err);
    tmx_posterior_finish(&p);
}

const struct tmx_command tmx_cmd_posterior = {
    .name = "posterior",
    .summary = "which sampled constants agree with printed values, and what they then predict",
    .doc = "Weigh the sets of constants of a suite by the printed values.",
    .notes =
        "DIR is what `thermix table SUITE -o DIR` of a suite with `sets` wrote. A set weighs its importance "
        "times the product over the independent printed numbers of 1 / (1 + z^2), z = (ours - printed) / (X "
        "sqrt(band^2 + spread^2)). prior_* are the quantiles of all sets that ran in full, rest_* of those "
        "weighted by the other figures, all_* by all, more_* by all and the values that do not weigh; p_* is "
        "the weight within the band as stated, of an order that it holds, p_clear that it holds by more than "
        "twice its spread, p_together with the others of its quantity. moved_by has the three axes that move "
        "the value most: numbers by their rank correlation, words by the correlation ratio of the ranks, "
        "which has no sign. Standard error has the number of equal weights that would say as much.",
    .examples =
        "thermix posterior out/posterior --widen 2\n"
        "  thermix posterior out/posterior --show axes\n"
        "  thermix posterior out/posterior --show sets --format csv --where 'chip_power.leakage_w<=30'",
    TMX_OPERANDS(args, dir, 1, 1, "DIR", FOLDER, "which folder?"),
    TMX_RUNS(args),
};
