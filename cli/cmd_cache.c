/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thermix cache: what is kept of set-ups, whether it is whole, and making room. */
#include <math.h>
#include <stdio.h>

#include "base/cache.h"
#include "base/text.h"
#include "cli/commands.h"

struct args {
    struct tmx_texts verb;
    double keep_mib; /* NAN: not given */
    struct tmx_print print;
};

static const char *const verbs[] = {"list", "check", "clean", NULL};
enum verb { LIST, CHECK, CLEAN };
enum { MOST_ROWS = 20 }; /* of a list on a screen */

static const struct tmx_arg rows[] = {
    TMX_ARG(args, keep_mib, REAL, "keep", 0, .of = "clean", .value = "MIB", .min = 0, .max = 1048576,
            .doc = "clean: keep this much of the most recently used files (without it: nothing)"),
    TMX_ARG_FORMAT_IF(args, print.format, .of = "list check"),
    TMX_ARG(args, print.columns, LIST, "columns", 0, .of = "list check", .value = "NAME,...|all",
            .doc = "print these columns, and every row"),
    {0},
};

static const double MIB = 1024 * 1024;

/* One row a file; when checked, its state. *n_bad files no reader would take. */
static void list(const struct args *a, bool check, size_t *n_bad, struct tmx_err *err)
{
    const struct tmx_screen screen = {.most_rows = check ? 0 : MOST_ROWS};
    struct tmx_cache_sum sum = {0};
    struct tmx_table *t = NULL;
    char folder[500];
    uint64_t limit;
    (void)(tmx_cache_limit(&limit, err) || tmx_cache_folder(NULL, folder, sizeof folder, err) ||
           tmx_cache_table(NULL, check, &t, &sum, err));
    *n_bad = sum.n_bad;
    if (sum.n > 0 || a->print.format != TMX_FORMAT_TEXT) {
        tmx_print(t, &a->print, "-", &screen, err);
    }
    if (!err->code && a->print.format == TMX_FORMAT_TEXT) {
        tmx_print_visible(stdout, "%s%s: %zu files, %.1f of at most %.0f MiB (THERMIX_CACHE_MIB)\n",
                          sum.n ? "\n" : "", folder, sum.n, (double)sum.size / MIB, (double)limit / MIB);
    }
    tmx_table_destroy(t);
}

static void run(void *args, struct tmx_err *err)
{
    const struct args *a = args;
    const enum verb verb = a->verb.n ? (enum verb)tmx_names_find(a->verb.text[0], verbs, CLEAN + 1) : LIST;
    size_t n = 0;
    if (verb == CLEAN) {
        const uint64_t keep = isnan(a->keep_mib) ? 0 : (uint64_t)(a->keep_mib * MIB);
        if (!tmx_cache_clean(NULL, keep, &n, err)) {
            printf("removed %zu files\n", n);
        }
        return;
    }
    list(a, verb == CHECK, &n, err);
    if (n > 0) {
        tmx_error(
            err, TMX_ESOLVE,
            "%zu files that no run will take; what they held is computed again, and `thermix cache clean` "
            "removes all",
            n);
    }
}

const struct tmx_command tmx_cmd_cache = {
    .name = "cache",
    .summary = "list, check and clean the cache of thermal models and profiles",
    .doc = "Thermal models and profiles of kernels are kept in $XDG_CACHE_HOME/thermix or ~/.cache/thermix, "
           "so that they are computed only once. The cache may be removed at any time; thermix computes it "
           "again.\n\n"
           "Verbs: list (the default) check clean",
    .notes =
        "At most 1 GiB is kept; the variable THERMIX_CACHE_MIB sets another limit. The least recently used "
        "files are removed first. check reads every file and exits with 1 if one is damaged or unfinished.",
    .examples = "thermix cache\n"
                "thermix cache check\n"
                "thermix cache clean --keep 100",
    TMX_OPERANDS(args, verb, 0, 1, "[VERB]", WORDS, NULL),
    .operand_words = verbs,
    TMX_RUNS(args),
};
