/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workload/mix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/csv.h"
#include "core/base/opt.h"
#include "core/base/plausible.h"
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
    TMX_ROW_TEXT(
        arrivals, file, "",
        "trace: CSV of arrival_s,kernel,work_s[,priority][,gpus], or a cluster's jobs, relative to the mix"),
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

/* ---- jobs of a cluster, which name no kernel ---- */

enum job_column { SUBMIT, RUN_TIME, GPUS, JOB_ID, N_JOB_COLUMN };

/* Logs by the columns that count; those of the same job in each may be one of several. */
static const struct job_log {
    const char *name, *column[N_JOB_COLUMN][3];
    const char
        *skipped; /* columns without an effect, words; NULL: any, as its author chooses among hundreds */
} job_logs[] = {
    {"Acme",
     {{"submit_time"}, {"duration"}, {"gpu_num"}, {NULL}},
     " job_id user vc jobname node_num cpu_num mem_per_pod_GB shared_mem_per_pod type state start_time "
     "end_time fail_time stop_time queue gpu_time "},
    {"sacct",
     {{"Submit"}, {"ElapsedRaw", "Elapsed"}, {"AllocTRES", "AllocGRES", "ReqTRES"}, {"JobID", "JobIDRaw"}},
     NULL},
};
enum { N_JOB_LOG = sizeof job_logs / sizeof job_logs[0] };

struct jobs { /* what is read of a log */
    struct tmx_mix *mix;
    const struct tmx_setting *kernels;
    struct tmx_rng *rng; /* of several kernels */
    struct tmx_moment first;
    size_t n, n_cpu, n_idle, n_step; /* jobs; left out: those of no GPU, of no time, steps of a job */
};

/* "8", "gpu:a100:8(IDX:0-7)", "billing=64,cpu=128,gres/gpu=8,mem=1T", which may have its kinds of GPUs
 * ("gres/gpu:a100=8") beside their sum or in place of it; 0: no GPU. */
static bool gpus_of(const char *text, double *gpus)
{
    const struct tmx_span whole = {text, text + strlen(text)};
    double kinds = 0, sum = NAN;
    if (tmx_span_real(whole, gpus)) {
        return *gpus >= 0 && *gpus == floor(*gpus);
    }
    if (*text && strcmp(text, "(null)") != 0 && !strchr(text, '=') && strncmp(text, "gpu:", 4) != 0) {
        return false;
    }
    for (const char *at = text; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        const bool tres = strncmp(at, "gres/", 5) == 0;
        const char *p = tres ? at + 5 : at;
        if (strncmp(p, "gpu", 3) != 0 || !strchr(tres ? ":=" : ":", p[3]) || !p[3]) {
            continue;
        }
        const bool typed = p[3] == ':' && !(p[4] >= '0' && p[4] <= '9' && !tres);
        const char *number = typed ? p + 4 + strcspn(p + 4, tres ? "=," : ":,") : p + 3;
        const size_t n = *number ? strspn(number + 1, "0123456789") : 0;
        double v;
        if (!tmx_span_real((struct tmx_span){number + 1, number + 1 + n}, &v)) {
            return false;
        }
        sum = typed ? sum : v;
        kinds += typed ? v : 0;
    }
    *gpus = isnan(sum) ? kinds : sum;
    return true;
}

/* Seconds, or [days-][hours:]minutes:seconds. */
static bool run_time(const char *text, double *s)
{
    double part[4] = {0}; /* days, hours, minutes, seconds */
    const char *dash = strchr(text, '-');
    const struct tmx_span whole = {text, text + strlen(text)};
    if (tmx_span_real(whole, s)) {
        return *s >= 0;
    }
    if (dash && (dash == text || !tmx_span_real((struct tmx_span){text, dash}, &part[0]))) {
        return false;
    }
    size_t n = 0;
    for (const char *p = dash ? dash + 1 : text; p; n++) {
        const char *colon = strchr(p, ':');
        if (n == 3 || !tmx_span_real((struct tmx_span){p, colon ? colon : p + strlen(p)}, &part[1 + n])) {
            return false;
        }
        p = colon ? colon + 1 : NULL;
    }
    *s = n == 3 ? 86400 * part[0] + 3600 * part[1] + 60 * part[2] + part[3] : 60 * part[1] + part[2];
    return n == 3 || (n == 2 && !dash);
}

static enum tmx_status add_job(struct jobs *j, const char *path, unsigned line, double arrival_s,
                               double work_s, double gpus, struct tmx_err *err)
{
    const size_t n = tmx_setting_length(j->kernels), k = n > 1 ? tmx_rng_below(j->rng, n) : 0;
    const struct tmx_setting *kernel = tmx_setting_at(j->kernels, k);
    struct tmx_mix_entry e = {.work_s = work_s,
                              .arrival_s = arrival_s,
                              .gpus = (int)gpus,
                              .file = j->mix->arrivals,
                              .line = line,
                              .kernel_from = tmx_setting_file(kernel)};
    j->n_cpu += gpus == 0;
    j->n_idle += gpus > 0 && work_s == 0;
    if (gpus == 0 || work_s == 0) {
        return TMX_OK;
    }
    if (gpus > 4096 || work_s > MAX_WORK_S || j->mix->n_entry >= MAX_ENTRIES) {
        return j->mix->n_entry >= MAX_ENTRIES
                   ? tmx_fail_at(err, TMX_ERANGE, path, line, "more than %d arrivals", MAX_ENTRIES)
                   : tmx_fail_at(err, TMX_EPARSE, path, line,
                                 "a job of %g s on %g GPUs: expected at most %g s and 4096", work_s, gpus,
                                 MAX_WORK_S);
    }
    if (strlen(tmx_setting_text(kernel)) >= sizeof e.kernel) {
        return tmx_fail_setting(err, kernel, "kernels: \"%.40s...\": no kernel has so long a name",
                                tmx_setting_text(kernel));
    }
    snprintf(e.kernel, sizeof e.kernel, "%s", tmx_setting_text(kernel));
    j->n++;
    return append(j->mix, &e, err);
}

/* A row of a log by its columns: seconds or a date, then a time, then GPUs. */
static enum tmx_status job_row(struct jobs *j, const struct tmx_csv *csv, size_t row,
                               const size_t column[N_JOB_COLUMN], struct tmx_err *err)
{
    const char *cell[N_JOB_COLUMN];
    double arrival_s, work_s, gpus;
    struct tmx_moment m = {0};
    for (size_t c = 0; c < N_JOB_COLUMN; c++) {
        cell[c] = column[c] < csv->n_column ? tmx_csv_cell(csv, row, column[c]) : "";
    }
    if (strchr(cell[JOB_ID], '.')) { /* 123.batch */
        j->n_step++;
        return TMX_OK;
    }
    const bool date = !tmx_csv_real(csv, row, column[SUBMIT], &arrival_s);
    if (date && !tmx_moment_read(cell[SUBMIT], &m)) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, csv->line[row],
                           "%s = \"%.40s\": expected seconds, or a date and a time, 2023-11-16 18:17:03",
                           csv->column[column[SUBMIT]], cell[SUBMIT]);
    }
    if (date) {
        j->first = row == 0 ? m : j->first;
        arrival_s = tmx_moment_since(&m, &j->first) - 60.0 * (m.zone_min - j->first.zone_min);
    }
    if (date && m.zoned != j->first.zoned) {
        return tmx_fail_at(err, TMX_EPARSE, csv->source, csv->line[row],
                           "%s = \"%.40s\": some rows have a zone and others none",
                           csv->column[column[SUBMIT]], cell[SUBMIT]);
    }
    if (!run_time(cell[RUN_TIME], &work_s) || !gpus_of(cell[GPUS], &gpus)) {
        const size_t c = run_time(cell[RUN_TIME], &work_s) ? GPUS : RUN_TIME;
        return tmx_fail_at(err, TMX_EPARSE, csv->source, csv->line[row], "%s = \"%.40s\": expected %s",
                           csv->column[column[c]], cell[c],
                           c == GPUS ? "a number of GPUs, gres/gpu=8, or neither"
                                     : "seconds, or days-hours:minutes:seconds");
    }
    return add_job(j, csv->source, csv->line[row], arrival_s, work_s, gpus, err);
}

/* The log whose columns the table has; NULL: none. *skipped: its other columns, for a line. */
static const struct job_log *find_log(const struct tmx_csv *csv, size_t column[N_JOB_COLUMN])
{
    for (const struct job_log *log = job_logs; log < job_logs + N_JOB_LOG; log++) {
        size_t found = 0;
        for (size_t c = 0; c < N_JOB_COLUMN; c++) {
            column[c] = csv->n_column;
            for (size_t k = 0; k < 3 && log->column[c][k] && column[c] == csv->n_column; k++) {
                column[c] = tmx_csv_column(csv, log->column[c][k]);
            }
            found += c < JOB_ID && column[c] < csv->n_column;
        }
        if (found == JOB_ID) {
            return log;
        }
    }
    return NULL;
}

static enum tmx_status check_log(const struct tmx_csv *csv, const struct job_log *log,
                                 const size_t column[N_JOB_COLUMN], struct tmx_err *err)
{
    char skipped[200] = "", word[64];
    size_t used = 0;
    for (size_t c = 0; c < csv->n_column; c++) {
        const char *name = csv->column[c];
        snprintf(word, sizeof word, " %.60s ", name);
        bool counts = !*name;
        for (size_t k = 0; k < N_JOB_COLUMN; k++) {
            counts = counts || c == column[k];
        }
        if (!counts && log->skipped && !strstr(log->skipped, word)) {
            return tmx_fail_at(err, TMX_EPARSE, csv->source, csv->head_line,
                               "unknown column \"%.60s\" of a log of %s", name, log->name);
        }
        if (!counts && used < sizeof skipped - 70) {
            used +=
                (size_t)snprintf(skipped + used, sizeof skipped - used, "%s%.60s", used ? ", " : "", name);
        }
    }
    if (used > 0) {
        tmx_doubt("%s: columns without an effect: %s", csv->source, skipped);
    }
    return TMX_OK;
}

/* Standard Workload Format: 18 numbers a line behind comments that begin with ;. Number, submit, wait and run
 * time [s], processors allocated, ..., processors asked for. -1: unknown. */
static enum tmx_status read_swf(struct jobs *j, const struct tmx_text_file *text, struct tmx_err *err)
{
    enum { FIELDS = 18 };
    struct tmx_lines lines = {0};
    enum tmx_status st = TMX_OK;
    while (!st && tmx_lines_next_filled(&lines, text)) {
        struct tmx_span rest = lines.line, field;
        double v[FIELDS] = {0};
        size_t n = 0;
        while (tmx_span_field(&rest, &field) && *field.begin != ';') {
            if (n == FIELDS || !tmx_span_real(field, &v[n])) {
                return tmx_fail_at(
                    err, TMX_EPARSE, text->name, lines.number,
                    "field %zu, \"%.*s\": expected 18 numbers, as the Standard Workload Format has", n + 1,
                    TMX_SPAN_ARG(field));
            }
            n++;
        }
        if (n > 0 && n < FIELDS) {
            return tmx_fail_at(err, TMX_EPARSE, text->name, lines.number,
                               "%zu numbers; expected 18, as the Standard Workload Format has", n);
        }
        const double gpus = v[4] >= 0 ? v[4] : fmax(v[7], 0);
        st = n == 0 ? TMX_OK : add_job(j, text->name, lines.number, v[1], fmax(v[3], 0), gpus, err);
    }
    if (!st) {
        tmx_doubt("%s: its processors are taken for GPUs", text->name);
    }
    return st;
}

/* Behind the first line that is not blank: is it a comment of SWF, or its 18 numbers? */
static bool is_swf(const struct tmx_text_file *text)
{
    struct tmx_lines lines = {0};
    struct tmx_span rest, field;
    double v;
    size_t n = 0;
    if (!tmx_lines_next_filled(&lines, text)) {
        return false;
    }
    for (rest = lines.line; tmx_span_field(&rest, &field); n++) {
        if (*field.begin == ';' || !tmx_span_real(field, &v)) {
            return n == 0 && *field.begin == ';';
        }
    }
    return n == 18;
}

/* Times from the first job on; what was left out is printed. */
static void end_jobs(const struct jobs *j, const char *path)
{
    double first_s = INFINITY;
    for (size_t i = 0; i < j->mix->n_entry; i++) {
        first_s = fmin(first_s, j->mix->entry[i].arrival_s);
    }
    for (size_t i = 0; i < j->mix->n_entry; i++) {
        j->mix->entry[i].arrival_s -= first_s;
    }
    if (j->n_cpu + j->n_idle + j->n_step > 0) {
        tmx_doubt("%s: left out are %zu jobs of no GPU, %zu of no time and %zu steps of jobs; %zu are taken",
                  path, j->n_cpu, j->n_idle, j->n_step, j->n);
    }
}

/* Jobs name no kernel: those that the group lists run in them, drawn where they are several. */
static enum tmx_status begin_jobs(struct jobs *j, const struct tmx_setting *group, uint64_t seed,
                                  struct tmx_err *err)
{
    if (!tmx_setting_member(group, "kernels")) {
        return tmx_fail_setting(err, group,
                                "arrivals: the jobs of this log name no kernel; expected kernels = "
                                "[\"NAME\", ...], one of which each runs");
    }
    const enum tmx_status st = tmx_setting_texts(group, "kernels", 1, MAX_NAMES, &j->kernels, err);
    return st ? st : tmx_rng_create(&j->rng, seed, "arrivals", err);
}

/* Columns go by their names, in any order. */
static enum tmx_status read_columns(const struct tmx_csv *csv, size_t column[5], struct tmx_err *err)
{
    static const char *const names[5] = {"arrival_s", "kernel", "work_s", "priority", "gpus"};
    for (size_t i = 0; i < 5; i++) {
        column[i] = tmx_csv_column(csv, names[i]);
        if (column[i] == csv->n_column && i < 3) {
            return tmx_fail_at(
                err, TMX_EPARSE, csv->source, csv->head_line,
                "no column %s; expected a first line with arrival_s,kernel,work_s[,priority][,gpus], or jobs "
                "of sacct -P (Submit, ElapsedRaw, AllocTRES), Acme (submit_time, duration, gpu_num) or the "
                "Standard Workload Format",
                names[i]);
        }
    }
    for (size_t c = 0; c < csv->n_column; c++) {
        if (tmx_names_find(csv->column[c], names, 5) == 5) {
            char hint[TMX_HINT_SIZE];
            return tmx_fail_at(err, TMX_EPARSE, csv->source, csv->head_line, "unknown column \"%.60s\"%s",
                               csv->column[c], tmx_suggest(hint, csv->column[c], names, 5));
        }
    }
    return TMX_OK;
}

/* A table: of ours, or a log of jobs. */
static enum tmx_status read_table(struct tmx_mix *mix, const char *path, const struct tmx_setting *group,
                                  uint64_t seed, struct tmx_err *err)
{
    struct tmx_csv csv = {0};
    struct jobs j = {.mix = mix};
    size_t column[5], job_column[N_JOB_COLUMN];
    enum tmx_status st = tmx_csv_read(&csv, path, err);
    const struct job_log *log = st ? NULL : find_log(&csv, job_column);
    const struct tmx_setting *kernels = tmx_setting_member(group, "kernels");
    if (log) {
        st = check_log(&csv, log, job_column, err);
        st = st ? st : begin_jobs(&j, group, seed, err);
    } else {
        st = st ? st : read_columns(&csv, column, err);
        if (!st && kernels) {
            st = tmx_fail_setting(err, kernels,
                                  "kernels does nothing here: the trace names the kernel of each row");
        }
    }
    if (!st && csv.n_row > MAX_ENTRIES && !log) {
        st = tmx_fail_at(err, TMX_ERANGE, path, 0, "%zu arrivals; at most %d", csv.n_row, MAX_ENTRIES);
    }
    for (size_t r = 0; !st && r < csv.n_row; r++) {
        st = log ? job_row(&j, &csv, r, job_column, err) : trace_row(mix, &csv, r, column, err);
    }
    if (!st && log) {
        end_jobs(&j, path);
    }
    tmx_rng_destroy(j.rng);
    tmx_csv_finish(&csv);
    return st;
}

static enum tmx_status read_trace(struct tmx_mix *mix, const struct arrivals *a,
                                  const struct tmx_setting *group, uint64_t seed, struct tmx_err *err)
{
    char path[1024], places[2048];
    const struct tmx_setting *file = tmx_setting_member(group, "file");
    struct tmx_text_file text = {0};
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
    enum tmx_status st = tmx_text_load(&text, path, &why);
    if (!st && is_swf(&text)) {
        struct jobs j = {.mix = mix};
        st = begin_jobs(&j, group, seed, &why);
        st = st ? st : read_swf(&j, &text, &why);
        if (!st) {
            end_jobs(&j, path);
        }
        tmx_rng_destroy(j.rng);
    } else {
        st = st ? st : read_table(mix, path, group, seed, &why);
    }
    tmx_text_finish(&text);
    if (st == TMX_EIO) {
        return tmx_fail_setting(err, file, "file = \"%s\": %s", path, why.msg);
    }
    if (st && err) {
        *err = why;
    }
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
        const struct tmx_setting *idle =
            st ? NULL
               : tmx_opt_given(arrival_opts, &a, a.process == POISSON ? "file" : "mean_s count work_s gpus",
                               group);
        if (idle) {
            st =
                tmx_fail_setting(err, idle, "arrivals.%s does nothing here: arrivals are %s (process)",
                                 tmx_setting_name(idle), a.process == POISSON ? "drawn" : "those of a trace");
        }
        if (!st) {
            st = a.process == POISSON ? poisson(mix, &a, group, seed, err)
                                      : read_trace(mix, &a, group, seed, err);
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

const struct tmx_keys tmx_mix_keys[] = {
    TMX_KEYS("", root_opts), TMX_KEYS("kernels", entry_opts), TMX_KEYS("arrivals", arrival_opts), {0}};
