/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workload/mix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/csv.h"
#include "core/base/opt.h"
#include "core/base/rng.h"
#include "core/base/text.h"

static const double MAX_ARRIVAL_S = 1e9, MAX_WORK_S = 1e7;
enum { MAX_NAMES = 1024, MAX_ENTRIES = 1000000 };

enum process { POISSON, TRACE };
static const char *const processes[] = {"poisson", "trace", NULL};

struct arrivals {
    int process;
    double mean_s;
    int count;
    double work_s;
    int gpus;
    char file[256];
};

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_mix, name, NULL, "mix's name"),
    TMX_ROW_TEXT(tmx_mix, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_mix, source, "", "where it is from"),
    TMX_ROW_BOOL(tmx_mix, target, 0, "counts among the paper's target mixes"),
    {0},
};

struct counted_entry {
    struct tmx_mix_entry entry; /* first: the rows of tmx_mix_entry fit */
    int count;
};
static const struct tmx_opt entry_opts[] = {
    TMX_ROW_TEXT(tmx_mix_entry, kernel, NULL, "kernel's name"),
    TMX_ROW_REAL(tmx_mix_entry, work_s, "s", 0, 1e7, 0, "time the whole GPU needs; 0: one launch"),
    TMX_ROW_REAL(tmx_mix_entry, power_w, "W", 0, 5000, 0, "in place of the kernel's sm_power_w; 0: that"),
    TMX_ROW_REAL(tmx_mix_entry, arrival_s, "s", 0, 1e9, 0, "when it is submitted"),
    TMX_ROW_INT(tmx_mix_entry, priority, "1", -100, 100, 0, "higher is served first"),
    TMX_ROW_INT(tmx_mix_entry, gpus, "1", 1, 4096, 1,
                "number of GPUs that it runs on side by side; work_s is the time they need together"),
    TMX_ROW_INT(counted_entry, count, "1", 1, 1e6, 1, "number of equal copies, one after another"),
    {0},
};

static const struct tmx_opt arrival_opts[] = {
    TMX_ROW_CHOICE(arrivals, process, processes, NULL, "how kernels arrive"),
    TMX_ROW_REAL(arrivals, mean_s, "s", 1e-6, 1e7, 1, "poisson: mean time between arrivals"),
    TMX_ROW_INT(arrivals, count, "1", 1, 1e6, 100, "poisson: number of arrivals"),
    TMX_ROW_REAL(arrivals, work_s, "s", 0, 1e7, 0, "poisson: work of each; 0: one launch"),
    TMX_ROW_INT(arrivals, gpus, "1", 1, 4096, 1, "poisson: GPUs that each runs on"),
    TMX_ROW_TEXT(arrivals, file, "",
                 "trace: CSV of arrival_s,kernel,work_s[,priority][,gpus], relative to the mix"),
    {0},
};

static enum tmx_status append(struct tmx_mix *mix, const struct tmx_mix_entry *e, struct tmx_err *err)
{
    if ((mix->n_entry & (mix->n_entry - 1)) == 0) { /* room doubles at powers of two */
        const size_t room = mix->n_entry ? 2 * mix->n_entry : 1;
        struct tmx_mix_entry *p = realloc(mix->entry, room * sizeof *p);
        if (!p) {
            return tmx_fail(err, TMX_ENOMEM, "mix of %zu kernels", room);
        }
        mix->entry = p;
    }
    mix->entry[mix->n_entry++] = *e;
    return TMX_OK;
}

static enum tmx_status read_list(struct tmx_mix *mix, const struct tmx_setting *list, struct tmx_err *err)
{
    for (size_t i = 0; i < tmx_setting_length(list); i++) {
        const struct tmx_setting *s = tmx_setting_at(list, i);
        struct counted_entry e = {.count = 0};
        enum tmx_status st = tmx_opt_read(entry_opts, &e, s, NULL, err);
        e.entry.file = tmx_setting_file(s);
        e.entry.line = tmx_setting_line(s);
        if (!st && mix->n_entry + (size_t)e.count > MAX_ENTRIES) {
            st = tmx_fail_setting(err, s, "more than %d kernels", MAX_ENTRIES);
        }
        for (int k = 0; k < e.count && !st; k++) {
            st = append(mix, &e.entry, err);
        }
        if (st) {
            return st;
        }
    }
    return TMX_OK;
}

static enum tmx_status poisson(struct tmx_mix *mix, const struct arrivals *a, const struct tmx_setting *group,
                               uint64_t seed, struct tmx_err *err)
{
    const struct tmx_setting *names;
    struct tmx_rng *rng = NULL;
    double t = 0;
    enum tmx_status st = tmx_setting_texts(group, "kernels", 1, MAX_NAMES, &names, err);
    st = st ? st : tmx_rng_create(&rng, seed, "arrivals", err);
    for (int i = 0; i < a->count && !st; i++) {
        const struct tmx_setting *s = tmx_setting_at(names, tmx_rng_below(rng, tmx_setting_length(names)));
        struct tmx_mix_entry e = {
            .work_s = a->work_s, .gpus = a->gpus, .file = tmx_setting_file(s), .line = tmx_setting_line(s)};
        const char *name = tmx_setting_text(s);
        if (strlen(name) >= sizeof e.kernel) {
            st = tmx_fail_setting(err, names, "kernels: \"%.40s...\": no kernel has so long a name", name);
            break;
        }
        t += tmx_rng_exponential(rng, a->mean_s);
        e.arrival_s = t;
        memcpy(e.kernel, name, strlen(name) + 1);
        st = append(mix, &e, err);
    }
    tmx_rng_destroy(rng);
    return st;
}

static bool number_in(const struct tmx_csv *csv, size_t row, size_t column, double min, double max, double *v)
{
    return tmx_csv_real(csv, row, column, v) && *v >= min && *v <= max;
}

static enum tmx_status trace_row(struct tmx_mix *mix, const struct tmx_csv *csv, size_t row,
                                 const size_t column[5], struct tmx_err *err)
{
    const unsigned line = csv->line[row];
    struct tmx_mix_entry e = {.file = mix->arrivals, .line = line};
    double priority = 0, gpus = 1;
    const char *kernel = tmx_csv_cell(csv, row, column[1]);
    if (!number_in(csv, row, column[0], 0, MAX_ARRIVAL_S, &e.arrival_s)) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, line,
                           "arrival_s = \"%.40s\": expected seconds from 0 to %g",
                           tmx_csv_cell(csv, row, column[0]), MAX_ARRIVAL_S);
    }
    if (!*kernel || strlen(kernel) >= sizeof e.kernel) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, line, "kernel = \"%.40s\": expected a kernel's name",
                           kernel);
    }
    if (!number_in(csv, row, column[2], 0, MAX_WORK_S, &e.work_s)) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, line,
                           "work_s = \"%.40s\": expected seconds from 0 to %g",
                           tmx_csv_cell(csv, row, column[2]), MAX_WORK_S);
    }
    if (column[3] < csv->n_column && *tmx_csv_cell(csv, row, column[3]) &&
        (!number_in(csv, row, column[3], -100, 100, &priority) || priority != floor(priority))) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, line,
                           "priority = \"%.40s\": expected a whole number from -100 to 100",
                           tmx_csv_cell(csv, row, column[3]));
    }
    if (column[4] < csv->n_column && *tmx_csv_cell(csv, row, column[4]) &&
        (!number_in(csv, row, column[4], 1, 4096, &gpus) || gpus != floor(gpus))) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, line,
                           "gpus = \"%.40s\": expected a whole number from 1 to 4096",
                           tmx_csv_cell(csv, row, column[4]));
    }
    snprintf(e.kernel, sizeof e.kernel, "%s", kernel);
    e.priority = (int)priority;
    e.gpus = (int)gpus;
    return append(mix, &e, err);
}

/* Columns go by their names, in any order. */
static enum tmx_status read_columns(const struct tmx_csv *csv, size_t column[5], struct tmx_err *err)
{
    static const char *const names[5] = {"arrival_s", "kernel", "work_s", "priority", "gpus"};
    for (size_t i = 0; i < 5; i++) {
        column[i] = tmx_csv_column(csv, names[i]);
        if (column[i] == csv->n_column && i < 3) {
            return tmx_fail_at(
                err, TMX_EPARSE, csv->source, 1,
                "no column %s; expected a first line with arrival_s,kernel,work_s[,priority][,gpus]",
                names[i]);
        }
    }
    for (size_t c = 0; c < csv->n_column; c++) {
        if (tmx_names_find(csv->column[c], names, 5) == 5) {
            char hint[TMX_HINT_SIZE];
            return tmx_fail_at(err, TMX_EPARSE, csv->source, 1, "unknown column \"%.60s\"%s", csv->column[c],
                               tmx_suggest(hint, csv->column[c], names, 5));
        }
    }
    return TMX_OK;
}

static enum tmx_status read_trace(struct tmx_mix *mix, const struct arrivals *a,
                                  const struct tmx_setting *group, struct tmx_err *err)
{
    char path[1024], places[2048];
    const struct tmx_setting *file = tmx_setting_member(group, "file");
    struct tmx_csv csv = {0};
    size_t column[5];
    if (!a->file[0]) {
        return tmx_fail_setting(err, group, "trace arrivals: missing file = \"ARRIVALS.csv\"");
    }
    if (!tmx_beside(tmx_setting_file(file), a->file, path, sizeof path)) {
        return tmx_fail_setting(err, file, "file = \"%s\": no such file; looked for %s", a->file,
                                tmx_beside_places(tmx_setting_file(file), a->file, places, sizeof places));
    }
    struct tmx_err why = {0};
    mix->arrivals = tmx_text_dup(path);
    if (!mix->arrivals) {
        return tmx_fail(err, TMX_ENOMEM, "arrivals of %s", path);
    }
    enum tmx_status st = tmx_csv_read(&csv, path, &why);
    if (st == TMX_EIO) {
        return tmx_fail_setting(err, file, "file = \"%s\": %s", path, why.msg);
    }
    if (st && err) {
        *err = why;
    }
    st = st ? st : read_columns(&csv, column, err);
    if (!st && csv.n_row > MAX_ENTRIES) {
        st = tmx_fail_at(err, TMX_ERANGE, path, 0, "%zu arrivals; at most %d", csv.n_row, MAX_ENTRIES);
    }
    for (size_t r = 0; !st && r < csv.n_row; r++) {
        st = trace_row(mix, &csv, r, column, err);
    }
    tmx_csv_finish(&csv);
    return st;
}

static int by_arrival(const void *a, const void *b)
{
    const struct tmx_mix_entry *x = a, *y = b;
    const int later = (x->arrival_s > y->arrival_s) - (x->arrival_s < y->arrival_s);
    return later ? later : (x->order > y->order) - (x->order < y->order);
}

/* Equal arrivals keep their written order. */
static void sort_entries(struct tmx_mix *mix)
{
    for (size_t i = 0; i < mix->n_entry; i++) {
        mix->entry[i].order = i;
    }
    if (mix->n_entry > 1) {
        qsort(mix->entry, mix->n_entry, sizeof *mix->entry, by_arrival);
    }
}

enum tmx_status tmx_mix_load(struct tmx_mix *mix, const char *path, uint64_t seed, struct tmx_err *err)
{
    static const char *const also[] = {"kernels", "arrivals", "job", NULL};
    static const char *const arrivals_also[] = {"kernels", NULL};
    struct tmx_config *cfg = NULL;
    *mix = (struct tmx_mix){0};
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, err);
    if (st) {
        goto out;
    }
    const struct tmx_setting *root = tmx_config_root(cfg);
    const struct tmx_setting *list, *group = tmx_setting_member(root, "arrivals");
    st = tmx_opt_read(root_opts, mix, root, also, err);
    st = st ? st : tmx_setting_list(root, "kernels", 0, MAX_ENTRIES, &list, err);
    if (!st && list) {
        st = read_list(mix, list, err);
    }
    if (!st && group) {
        struct arrivals a = {0};
        st = tmx_opt_read(arrival_opts, &a, group, arrivals_also, err);
        if (!st) {
            st = a.process == POISSON ? poisson(mix, &a, group, seed, err) : read_trace(mix, &a, group, err);
        }
    }
    if (!st && mix->n_entry == 0) {
        st = tmx_fail_setting(err, root, "no kernels: expected kernels = ( ... ) or arrivals = { ... }");
    }
    sort_entries(mix);
out:
    mix->config = cfg;
    if (st) {
        tmx_mix_finish(mix);
    }
    return st;
}

void tmx_mix_finish(struct tmx_mix *mix)
{
    free(mix->entry);
    free(mix->arrivals);
    tmx_config_close(mix->config);
    *mix = (struct tmx_mix){0};
}
