/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/machine/mix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/base/rng.h"
#include "core/base/text.h"

enum { MAX_NAMES = 1024, MAX_ENTRIES = 1000000 };

enum process { POISSON, TRACE };
static const char *const processes[] = {"poisson", "trace", NULL};

struct arrivals {
    int process;
    double mean_s;
    int count;
    double work_s;
    char file[256];
};

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_mix, name, NULL, "mix's name"),
    TMX_ROW_TEXT(tmx_mix, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_mix, source, "", "where it is from"),
    TMX_ROW_BOOL(tmx_mix, target, 0, "counts among the paper's target mixes"),
    {0},
};

static const struct tmx_opt entry_opts[] = {
    TMX_ROW_TEXT(tmx_mix_entry, kernel, NULL, "kernel's name"),
    TMX_ROW_REAL(tmx_mix_entry, work_s, "s", 0, 1e7, 0, "time the whole GPU needs; 0: one launch"),
    TMX_ROW_REAL(tmx_mix_entry, arrival_s, "s", 0, 1e9, 0, "when it is submitted"),
    TMX_ROW_INT(tmx_mix_entry, priority, "1", -100, 100, 0, "higher is served first"),
    {0},
};

static const struct tmx_opt arrival_opts[] = {
    TMX_ROW_CHOICE(arrivals, process, processes, NULL, "how kernels arrive"),
    TMX_ROW_REAL(arrivals, mean_s, "s", 1e-6, 1e7, 1, "poisson: mean time between arrivals"),
    TMX_ROW_INT(arrivals, count, "1", 1, 1e6, 100, "poisson: number of arrivals"),
    TMX_ROW_REAL(arrivals, work_s, "s", 0, 1e7, 0, "poisson: work of each; 0: one launch"),
    TMX_ROW_TEXT(arrivals, file, "", "trace: CSV of arrival_s,kernel,work_s,priority, relative to the mix"),
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
        struct tmx_mix_entry e;
        enum tmx_status st = tmx_opt_read(entry_opts, &e, s, NULL, err);
        st = st ? st : append(mix, &e, err);
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
        struct tmx_mix_entry e = {.work_s = a->work_s};
        const char *name =
            tmx_setting_text(tmx_setting_at(names, tmx_rng_below(rng, tmx_setting_length(names))));
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

static bool next_cell(struct tmx_span *rest, struct tmx_span *cell)
{
    if (rest->begin > rest->end) {
        return false;
    }
    const char *comma = memchr(rest->begin, ',', tmx_span_length(*rest));
    *cell = (struct tmx_span){rest->begin, comma ? comma : rest->end};
    rest->begin = cell->end + 1;
    return true;
}

static enum tmx_status trace_row(struct tmx_mix *mix, const struct tmx_text *t, const struct tmx_lines *l,
                                 struct tmx_err *err)
{
    struct tmx_span rest = l->line, cell[5];
    struct tmx_mix_entry e = {0};
    double priority = 0;
    size_t n = 0;
    while (n < 5 && next_cell(&rest, &cell[n])) {
        n++;
    }
    if (n < 3 || n > 4 || !tmx_span_real(cell[0], &e.arrival_s) ||
        !tmx_span_copy(cell[1], e.kernel, sizeof e.kernel) || !e.kernel[0] ||
        !tmx_span_real(cell[2], &e.work_s) || (n == 4 && !tmx_span_real(cell[3], &priority)) ||
        e.arrival_s < 0 || e.work_s < 0 || fabs(priority) > 100 || priority != floor(priority)) {
        return tmx_fail_at(err, TMX_EPARSE, t->name, l->number,
                           "expected arrival_s,kernel,work_s[,priority]");
    }
    e.priority = (int)priority;
    return append(mix, &e, err);
}

static enum tmx_status read_trace(struct tmx_mix *mix, const char *mix_path, const struct arrivals *a,
                                  const struct tmx_setting *group, struct tmx_err *err)
{
    char path[1024];
    const char *slash = strrchr(mix_path, '/');
    struct tmx_text t;
    struct tmx_lines l = {0};
    if (!a->file[0]) {
        return tmx_fail_setting(err, group, "trace arrivals: missing file = \"ARRIVALS.csv\"");
    }
    snprintf(path, sizeof path, "%.*s%s", a->file[0] == '/' || !slash ? 0 : (int)(slash - mix_path + 1),
             mix_path, a->file);
    enum tmx_status st = tmx_text_load(&t, path, err);
    if (st) {
        return st;
    }
    while (!st && tmx_lines_next(&l, &t)) {
        if (l.number > 1 && tmx_span_length(l.line) > 0) {
            st = trace_row(mix, &t, &l, err);
        }
    }
    tmx_text_finish(&t);
    return st;
}

/* Insertion keeps the written order of equal arrivals; Poisson times are sorted already. */
static void sort_entries(struct tmx_mix *mix)
{
    for (size_t i = 1; i < mix->n_entry; i++) {
        const struct tmx_mix_entry e = mix->entry[i];
        size_t j = i;
        for (; j > 0 && mix->entry[j - 1].arrival_s > e.arrival_s; j--) {
            mix->entry[j] = mix->entry[j - 1];
        }
        mix->entry[j] = e;
    }
}

enum tmx_status tmx_mix_load(struct tmx_mix *mix, const char *path, uint64_t seed, struct tmx_err *err)
{
    static const char *const also[] = {"kernels", "arrivals", "job", NULL};
    static const char *const arrivals_also[] = {"kernels", NULL};
    struct tmx_config *cfg = NULL;
    *mix = (struct tmx_mix){0};
    enum tmx_status st = tmx_config_load(&cfg, path, NULL, 0, err);
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
            st = a.process == POISSON ? poisson(mix, &a, group, seed, err)
                                      : read_trace(mix, path, &a, group, err);
        }
    }
    if (!st && mix->n_entry == 0) {
        st = tmx_fail_setting(err, root, "no kernels: expected kernels = ( ... ) or arrivals = { ... }");
    }
    sort_entries(mix);
out:
    tmx_config_close(cfg);
    if (st) {
        tmx_mix_finish(mix);
    }
    return st;
}

void tmx_mix_finish(struct tmx_mix *mix)
{
    free(mix->entry);
    *mix = (struct tmx_mix){0};
}
