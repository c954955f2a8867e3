/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "papers/cta_suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/opt.h"
#include "core/base/os.h"
#include "run/input/data.h"

struct base {
    char chip[64], half_chip[64];
    double epoch_cycles;
    int seed, core;
};
static const char *const cores[] = {"chip", "given", "sm_cycle", NULL}; /* 1 + enum tmx_core_source */
static const struct tmx_opt base_opts[] = {
    TMX_ROW_TEXT(base, chip, NULL, "chip"),
    TMX_ROW_TEXT(base, half_chip, "", "the chip to compare with"),
    TMX_ROW_CHOICE(base, core, cores, "chip",
                   "per-core parameters of the kernels: given, measured by sm_cycle, or as the chip says"),
    TMX_ROW_REAL(base, epoch_cycles, "cycles", 1, 1e9, 2048, "length of an epoch"),
    TMX_ROW_INT(base, seed, "1", 0, 1e9, 1, "of the block lengths"),
    {0},
};

static enum tmx_status load_list(struct tmx_cta_suite *s, const char *key, struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st =
        tmx_setting_texts(s->call->root, key, 1, 2 * (size_t)TMX_CTA_LIST - s->n, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        st = tmx_cta_program_load(&s->program[s->n], tmx_setting_text(e), &s->chip, s->options.seed, s->cores,
                                  err);
        st = tmx_setting_blame(e, st, err);
        s->n += !st;
    }
    return st;
}

/* "memory.mshr=64", ... of base.chip_set */
static enum tmx_status load_chip(struct tmx_cta_suite *s, const struct tmx_setting *base, struct tmx_err *err)
{
    const char *sets[TMX_CTA_LIST];
    const struct tmx_setting *list;
    const enum tmx_status st = tmx_setting_texts(base, "chip_set", 0, TMX_CTA_LIST, &list, err);
    const size_t n = tmx_setting_length(list);
    for (size_t i = 0; i < n; i++) {
        sets[i] = tmx_setting_text(tmx_setting_at(list, i));
    }
    return st ? st : tmx_cta_chip_load(&s->chip, s->chip_name, sets, n, err);
}

enum tmx_status tmx_cta_suite_begin(struct tmx_cta_suite *s, const struct tmx_suite_call *call,
                                    const char *paper, const char *first, const char *second,
                                    struct tmx_err *err)
{
    static const char *const also[] = {"chip_set", NULL};
    const struct tmx_setting *base = tmx_setting_member(call->root, "base");
    struct base b = {0};
    *s = (struct tmx_cta_suite){.call = call};
    snprintf(s->paper_number, sizeof s->paper_number, "%s", paper);
    s->program = calloc((size_t)2 * TMX_CTA_LIST, sizeof *s->program);
    enum tmx_status st = s->program ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "suite %s", call->name);
    st = st ? st : tmx_opt_read(base_opts, &b, base, also, err);
    if (!st) {
        memcpy(s->chip_name, b.chip, sizeof s->chip_name);
        memcpy(s->half_chip, b.half_chip, sizeof s->half_chip);
        s->options = (struct tmx_cta_options){.epoch_cycles = b.epoch_cycles, .seed = (uint64_t)b.seed};
    }
    st = st ? st : tmx_setting_blame(base, load_chip(s, base, err), err);
    s->chip.memory.core = b.core > 0 ? b.core - 1 : s->chip.memory.core;
    st = st || !call->out_dir ? st : tmx_cta_core_table(&s->cores, err);
    st = st ? st : load_list(s, first, err);
    s->n_first = s->n;
    st = st ? st : load_list(s, second, err);
    st = st ? st : tmx_cta_report_create(&s->report, call->out_dir != NULL, err);
    return st ? st : tmx_paper_create(&s->paper, err);
}

void tmx_cta_suite_end(struct tmx_cta_suite *s)
{
    free(s->program);
    tmx_cta_report_finish(&s->report);
    tmx_table_destroy(s->paper);
    tmx_table_destroy(s->cores);
}

enum tmx_status tmx_cta_suite_run(const struct tmx_cta_suite *s, const struct tmx_cta_chip *chip,
                                  const char *const *policies, struct tmx_cta_report *report,
                                  struct tmx_err *err)
{
    struct tmx_cta_policy_spec p[TMX_CTA_LIST] = {{0}};
    enum tmx_status st = TMX_OK;
    size_t n = 0;
    while (policies[n] && !st) {
        tmx_assert(n < TMX_CTA_LIST);
        st = tmx_cta_policy_parse(policies[n], &p[n], err);
        n++;
    }
    for (size_t k = 0; k < s->n && !st; k++) {
        const struct tmx_memory_program *list[] = {&s->program[k]};
        st = tmx_cta_report_kernel(report, chip, list, 1, p, n, &s->options, err);
    }
    for (size_t i = 0; i < n; i++) {
        tmx_cta_policy_finish(&p[i]);
    }
    return st;
}

static double field_of(const struct tmx_cta_suite *s, const char *policy, size_t kernel, size_t field)
{
    const struct tmx_cta_row *r = tmx_cta_report_find(&s->report, s->program[kernel].name, policy);
    double v = NAN;
    if (r) {
        memcpy(&v, (const char *)r + field, sizeof v);
    }
    return v;
}

double tmx_cta_suite_mean(const struct tmx_cta_suite *s, const char *policy, size_t first, size_t last,
                          size_t field)
{
    double sum = 0;
    for (size_t k = first; k < last; k++) {
        sum += field_of(s, policy, k, field);
    }
    return sum / (double)(last - first);
}

double tmx_cta_suite_extreme(const struct tmx_cta_suite *s, const char *policy, size_t first, size_t last,
                             size_t field, int sign)
{
    double best = -INFINITY;
    for (size_t k = first; k < last; k++) {
        best = fmax(best, sign * field_of(s, policy, k, field));
    }
    return sign * best;
}

void tmx_cta_suite_paper(struct tmx_cta_suite *s, const char *figure, const char *quantity,
                         const char *condition, const char *unit, double paper_value, double ours,
                         double band, enum tmx_paper_status status)
{
    const bool missed =
        !isnan(paper_value) && status != TMX_PAPER_INPUT && !(fabs(ours - paper_value) <= band);
    tmx_paper_add(s->paper, &(struct tmx_paper_row){.paper = s->paper_number,
                                                    .figure = figure,
                                                    .quantity = quantity,
                                                    .condition = condition,
                                                    .unit = unit,
                                                    .paper_value = isnan(paper_value) ? NULL : &paper_value,
                                                    .ours = ours,
                                                    .status = missed ? TMX_PAPER_NOT_REPRODUCED : status});
}

enum tmx_status tmx_cta_suite_save(const struct tmx_cta_suite *s, const struct tmx_table *t, const char *name,
                                   struct tmx_err *err)
{
    char path[1024];
    if (!s->call->out_dir) {
        return TMX_OK;
    }
    snprintf(path, sizeof path, "%s/%s", s->call->out_dir, name);
    const enum tmx_status st = tmx_os_mkdirs(s->call->out_dir, err);
    return st ? st : tmx_table_save(t, TMX_FORMAT_CSV, path, err);
}

enum tmx_status tmx_cta_suite_write(struct tmx_cta_suite *s, struct tmx_err *err)
{
    enum tmx_status st = tmx_suite_write(s->call, s->report.table, s->paper, NULL, err);
    if (!s->call->out_dir) {
        return st;
    }
    st = st ? st : tmx_cta_report_save(&s->report, s->call->out_dir, err);
    st = st ? st : tmx_cta_suite_save(s, s->cores, "core.csv", err);
    return st;
}
