/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workload/mix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/config.h"
#include "base/csv.h"
#include "base/opt.h"
#include "base/plausible.h"
#include "base/rng.h"
#include "base/text.h"

static const double MAX_WORK_S = 1e7;
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

static void append(struct tmx_mix *mix, const struct tmx_mix_entry *e, struct tmx_err *err)
{
    if (!err->code && (mix->n_entry & (mix->n_entry - 1)) == 0) { /* room doubles at powers of two */
        const size_t room = mix->n_entry ? 2 * mix->n_entry : 1;
        struct tmx_mix_entry *p = realloc(mix->entry, room * sizeof *p);
        if (!p) {
            tmx_error(err, TMX_ENOMEM, "mix of %zu kernels", room);
            return;
        }
        mix->entry = p;
    }
    if (!err->code) {
        mix->entry[mix->n_entry] = *e;
        mix->entry[mix->n_entry].order = mix->n_entry; /* equal arrivals keep their written order */
        mix->n_entry++;
    }
}

/* Name and place of a kernel that the group lists. */
static void set_kernel(struct tmx_mix_entry *e, const struct tmx_setting *kernel,
                       const struct tmx_setting *place, struct tmx_err *err)
{
    const char *name = tmx_setting_text(kernel);
    if (strlen(name) >= sizeof e->kernel) {
        tmx_error_setting(err, place, "kernels: \"%.40s...\": no kernel has so long a name", name);
    } else {
        memcpy(e->kernel, name, strlen(name) + 1);
    }
}

static void poisson(struct tmx_mix *mix, const struct arrivals *a, const struct tmx_setting *group,
                    uint64_t seed, struct tmx_err *err)
{
    const struct tmx_setting *names = tmx_setting_texts(group, "kernels", 1, MAX_NAMES, err);
    struct tmx_rng *rng = NULL;
    double t = 0;
    err->code = err->code ? err->code : tmx_rng_create(&rng, seed, "arrivals", err);
    for (int i = 0; i < a->count && !err->code; i++) {
        const struct tmx_setting *s = tmx_setting_at(names, tmx_rng_below(rng, tmx_setting_length(names)));
        struct tmx_mix_entry e = {
            .work_s = a->work_s, .gpus = a->gpus, .file = tmx_setting_file(s), .line = tmx_setting_line(s)};
        set_kernel(&e, s, names, err);
        t += tmx_rng_exponential(rng, a->mean_s);
        e.arrival_s = t;
        append(mix, &e, err);
    }
    tmx_rng_destroy(rng);
}

/* Columns of a trace of ours. */
static const struct tmx_opt trace_opts[] = {
    TMX_ROW_REAL(tmx_mix_entry, arrival_s, "s", 0, 1e9, NAN, "when it is submitted"),
    TMX_ROW_TEXT(tmx_mix_entry, kernel, NULL, "kernel's name"),
    TMX_ROW_REAL(tmx_mix_entry, work_s, "s", 0, 1e7, NAN, "time the whole GPU needs; 0: one launch"),
    TMX_ROW_INT(tmx_mix_entry, priority, "1", -100, 100, 0, "higher is served first"),
    TMX_ROW_INT(tmx_mix_entry, gpus, "1", 1, 4096, 1, "number of GPUs that it runs on side by side"),
    {0},
};
enum { N_TRACE_COLUMN = sizeof trace_opts / sizeof trace_opts[0] - 1 };

/* ---- jobs of a cluster, which name no kernel ---- */

enum job_column { SUBMIT, RUN_TIME, GPUS, JOB_ID, N_JOB_COLUMN };

/* Logs by the columns that count; those of the same job in each may be one of several. */
static const struct job_log {
    const char *name, *column[N_JOB_COLUMN][3];
    const char
        *skipped; /* columns without an effect, words; NULL: any, as its author chooses among hundreds */
    bool steps;   /* has rows of a job's steps: 123.batch */
} job_logs[] = {
    {"Acme",
     {{"submit_time"}, {"duration"}, {"gpu_num"}, {"job_id"}},
     "user vc jobname node_num cpu_num mem_per_pod_GB shared_mem_per_pod type state start_time "
     "end_time fail_time stop_time queue gpu_time ",
     false},
    {"sacct",
     {{"Submit"}, {"ElapsedRaw", "Elapsed"}, {"AllocTRES", "AllocGRES", "ReqTRES"}, {"JobID", "JobIDRaw"}},
     NULL,
     true},
};
enum { N_JOB_LOG = sizeof job_logs / sizeof job_logs[0] };

struct jobs { /* what is read of a log */
    struct tmx_mix *mix;
    const struct job_log *log; /* NULL: SWF */
    const struct tmx_setting *kernels;
    struct tmx_rng *rng; /* of several kernels */
    struct tmx_moment first;
    bool date;                       /* of the first row: the others are written so, too */
    size_t n_read, n_listed;         /* rows; entries of the mix before them */
    size_t n, n_cpu, n_idle, n_step; /* jobs; left out: those of no GPU, of no time, steps of a job */
};

/* "8", "gpu:a100:8(IDX:0-7)", "billing=64,cpu=128,gres/gpu=8,mem=1T", which may have its kinds of GPUs
 * ("gres/gpu:a100=8") beside their sum or in place of it; 0: no GPU. */
static bool gpus_of(const char *text, double *gpus)
{
    double kinds = 0, sum = NAN;
    if (tmx_text_real(text, gpus)) {
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
    if (tmx_text_real(text, s)) {
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
    return (n == 3 && part[2] < 60 && part[3] < 60) || (n == 2 && !dash && part[2] < 60);
}

static void add_job(struct jobs *j, const char *path, unsigned line, double arrival_s, double work_s,
                    double gpus, uint64_t id, uint64_t row, struct tmx_err *err)
{
    const size_t n = tmx_setting_length(j->kernels), k = n > 1 ? tmx_rng_below(j->rng, n) : 0;
    const struct tmx_setting *kernel = tmx_setting_at(j->kernels, k);
    struct tmx_mix_entry e = {.work_s = work_s,
                              .arrival_s = arrival_s,
                              .gpus = (int)gpus,
                              .id = id,
                              .row = row,
                              .file = j->mix->arrivals,
                              .line = line,
                              .kernel_from = tmx_setting_file(kernel)};
    j->n_cpu += gpus == 0;
    j->n_idle += gpus > 0 && work_s == 0;
    if (gpus == 0 || work_s == 0) {
        return;
    }
    if (j->mix->n_entry >= MAX_ENTRIES) {
        tmx_error_at(err, TMX_ERANGE, path, line, "more than %d arrivals", MAX_ENTRIES);
    } else if (gpus > 4096 || gpus != floor(gpus) || work_s > MAX_WORK_S) {
        tmx_error_at(err, TMX_EPARSE, path, line,
                     "a job of %g s on %g GPUs: expected at most %g s and 4096, a whole number", work_s, gpus,
                     MAX_WORK_S);
    }
    set_kernel(&e, kernel, kernel, err);
    j->n++;
    append(j->mix, &e, err);
}

/* A row of a log by its columns: seconds or a date, then a time, then GPUs. */
static void job_row(struct jobs *j, const struct tmx_csv *csv, size_t row, const size_t column[N_JOB_COLUMN],
                    struct tmx_err *err)
{
    const char *cell[N_JOB_COLUMN], *wrong = NULL;
    double arrival_s, work_s = 0, gpus = 0;
    struct tmx_moment m = {0};
    size_t at = SUBMIT;
    uint64_t all = 0;
    for (size_t c = 0; c < N_JOB_COLUMN; c++) {
        cell[c] = column[c] < csv->n_column ? tmx_csv_cell(csv, row, column[c]) : "";
    }
    for (size_t c = 0; c < csv->n_column; c++) {
        all = XXH3_64bits_withSeed(tmx_csv_cell(csv, row, c), strlen(tmx_csv_cell(csv, row, c)) + 1, all);
    }
    if (j->log->steps && strchr(cell[JOB_ID], '.')) {
        j->n_step++;
        return;
    }
    const bool date = !tmx_csv_real(csv, row, column[SUBMIT], &arrival_s), first = j->n_read++ == 0;
    j->date = first ? date : j->date;
    if (date && !tmx_moment_read(cell[SUBMIT], &m)) {
        wrong = "expected seconds, or a date and a time, 2023-11-16 18:17:03";
    } else if (date != j->date) {
        wrong = "some rows have a date and others seconds";
    } else if (date) {
        j->first = first ? m : j->first;
        arrival_s = tmx_moment_since(&m, &j->first) - 60.0 * (m.zone_min - j->first.zone_min);
        wrong = m.zoned != j->first.zoned ? "some rows have a zone and others none" : NULL;
    }
    if (!wrong && !run_time(cell[RUN_TIME], &work_s)) {
        at = RUN_TIME;
        wrong = "expected seconds, or days-hours:minutes:seconds";
    } else if (!wrong && !gpus_of(cell[GPUS], &gpus)) {
        at = GPUS;
        wrong = "expected a number of GPUs, gres/gpu=8, or neither";
    }
    if (wrong) {
        tmx_error_at(err, TMX_EPARSE, csv->source, csv->line[row], "%s = \"%.40s\": %s",
                     csv->column[column[at]], cell[at], wrong);
    } else {
        const uint64_t id = *cell[JOB_ID] ? XXH3_64bits(cell[JOB_ID], strlen(cell[JOB_ID])) : 0;
        add_job(j, csv->source, csv->line[row], arrival_s, work_s, gpus, id, all, err);
    }
}

/* The log whose columns the table has, and no other that counts; NULL: none. */
static const struct job_log *find_log(const struct tmx_csv *csv, size_t column[N_JOB_COLUMN],
                                      struct tmx_err *err)
{
    const struct job_log *log = job_logs, *end = job_logs + N_JOB_LOG;
    for (size_t found = 0; log < end; log++, found = 0) {
        for (size_t c = 0; c < N_JOB_COLUMN; c++) {
            column[c] = csv->n_column;
            for (size_t k = 0; k < 3 && log->column[c][k] && column[c] == csv->n_column; k++) {
                column[c] = tmx_csv_column(csv, log->column[c][k]);
            }
            found += c < JOB_ID && column[c] < csv->n_column;
        }
        if (found == JOB_ID) {
            break;
        }
    }
    for (size_t c = 0; log < end && log->skipped && c < csv->n_column; c++) {
        const char *name = csv->column[c];
        bool counts = !*name;
        for (size_t k = 0; k < N_JOB_COLUMN; k++) {
            counts = counts || c == column[k];
        }
        if (!counts && !tmx_words_have(log->skipped, name)) {
            tmx_error_at(err, TMX_EPARSE, csv->source, csv->head_line,
                         "unknown column \"%.60s\" of a log of %s", name, log->name);
        }
    }
    if (log < end && !err->code) {
        tmx_csv_idle(csv, column, N_JOB_COLUMN);
    }
    return log < end ? log : NULL;
}

/* Standard Workload Format: 18 numbers a line behind comments that begin with ;. Number, submit, wait and run
 * time [s], processors allocated, ..., processors asked for. -1: unknown. */
static void read_swf(struct jobs *j, const struct tmx_text_file *text, struct tmx_err *err)
{
    enum { FIELDS = 18 };
    struct tmx_lines lines = {0};
    while (!err->code && tmx_lines_next_filled(&lines, text)) {
        struct tmx_span rest = lines.line, field;
        double v[FIELDS] = {0};
        size_t n = 0;
        for (; !err->code && tmx_span_field(&rest, &field) && *field.begin != ';'; n++) {
            if (n == FIELDS || !tmx_span_real(field, &v[n])) {
                tmx_error_at(err, TMX_EPARSE, text->name, lines.number,
                             "field %zu, \"%.*s\": expected 18 numbers, as the Standard Workload Format has",
                             n + 1, TMX_SPAN_ARG(field));
            }
        }
        if (n > 0 && n < FIELDS) {
            tmx_error_at(err, TMX_EPARSE, text->name, lines.number,
                         "%zu numbers; expected 18, as the Standard Workload Format has", n);
        }
        if (n > 0 && !err->code) {
            add_job(j, text->name, lines.number, v[1], fmax(v[3], 0), v[4] >= 0 ? v[4] : fmax(v[7], 0),
                    v[0] >= 0 ? XXH3_64bits(&v[0], sizeof v[0]) : 0, XXH3_64bits(v, sizeof v), err);
        }
    }
    if (!err->code) {
        tmx_warn("%s: its processors are taken for GPUs", text->name);
    }
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

static int by_job(const void *a, const void *b)
{
    const struct tmx_mix_entry *x = a, *y = b;
    const int id = (x->id > y->id) - (x->id < y->id), row = (x->row > y->row) - (x->row < y->row);
    return id ? id : row ? row : (x->line > y->line) - (x->line < y->line);
}

/* Times from the first job on; what was left out is printed. A log that was merged from two has a job twice,
 * equal in all columns; one that was queued again has other times. */
static void end_jobs(const struct jobs *j, const char *path, struct tmx_err *err)
{
    double first_s = INFINITY;
    size_t n_again = 0;
    struct tmx_mix_entry *e = j->mix->entry + (j->n > 0 ? j->n_listed : 0), *twice = NULL;
    if (j->n > 0) {
        qsort(e, j->n, sizeof *e, by_job);
    }
    for (size_t i = 1; i < j->n; i++) {
        const bool again = e[i].id != 0 && e[i].id == e[i - 1].id, equal = again && e[i].row == e[i - 1].row;
        n_again += again;
        twice = equal && (!twice || e[i].line < twice->line) ? &e[i] : twice;
    }
    if (twice) {
        tmx_error_at(err, TMX_EPARSE, path, twice->line,
                     "the job of line %u again, equal in all columns: expected each job once",
                     twice[-1].line);
    } else if (n_again > 0) {
        tmx_warn("%s: %zu jobs have the id of another and differ from it: each runs (queued again?)", path,
                 n_again);
    }
    for (size_t i = 0; i < j->n; i++) {
        first_s = fmin(first_s, e[i].arrival_s);
    }
    for (size_t i = 0; i < j->n; i++) {
        e[i].arrival_s -= first_s;
    }
    if (j->n_cpu + j->n_idle + j->n_step > 0) {
        tmx_warn("%s: left out are %zu jobs of no GPU, %zu of no time and %zu steps of jobs; %zu are taken",
                 path, j->n_cpu, j->n_idle, j->n_step, j->n);
    }
}

/* A table of ours, or a log of jobs. */
static void read_trace(struct tmx_mix *mix, const struct arrivals *a, const struct tmx_setting *group,
                       uint64_t seed, struct tmx_err *err)
{
    char path[1024], places[2048];
    const struct tmx_setting *file = tmx_setting_member(group, "file"),
                             *kernels = tmx_setting_member(group, "kernels");
    struct tmx_text_file text = {0};
    struct tmx_csv csv = {0};
    struct jobs j = {.mix = mix};
    struct tmx_err why = {0};
    size_t job_column[N_JOB_COLUMN];
    if (!a->file[0]) {
        tmx_error_setting(err, group, "trace arrivals: missing file = \"ARRIVALS.csv\"");
    } else if (!tmx_beside(tmx_setting_file(file), a->file, path, sizeof path)) {
        tmx_error_setting(err, file, "file = \"%s\": no such file; looked for %s", a->file,
                          tmx_beside_places(tmx_setting_file(file), a->file, places, sizeof places));
    } else if (!(mix->arrivals = tmx_text_dup(path))) {
        tmx_error(err, TMX_ENOMEM, "arrivals of %s", path);
    }
    if (err->code) {
        return;
    }
    tmx_text_load(&text, path, &why);
    const bool swf = !why.code && is_swf(&text);
    why.code = why.code || swf ? why.code : tmx_csv_read(&csv, path, &why);
    j.log = why.code || swf ? NULL : find_log(&csv, job_column, &why);
    const bool jobs = swf || j.log;
    if (jobs) {
        /* Jobs name no kernel: those that the group lists run in them, drawn where they are several. */
        j.n_listed = mix->n_entry;
        if (!tmx_setting_member(group, "kernels")) {
            tmx_error_setting(&why, group,
                              "arrivals: the jobs of this log name no kernel; expected kernels = [\"NAME\", "
                              "...], one of which each runs");
        }
        j.kernels = tmx_setting_texts(group, "kernels", 1, MAX_NAMES, &why);
        why.code = why.code ? why.code : tmx_rng_create(&j.rng, seed, "arrivals", &why);
    } else if (!why.code) {
        /* Columns go by their names, in any order. */
        const char *names[N_TRACE_COLUMN];
        for (size_t i = 0; i < N_TRACE_COLUMN; i++) {
            names[i] = trace_opts[i].key;
            if (!tmx_opt_has_default(&trace_opts[i]) && tmx_csv_column(&csv, names[i]) == csv.n_column) {
                tmx_error_at(&why, TMX_EPARSE, csv.source, csv.head_line,
                             "no column %s; expected a first line with arrival_s,kernel,work_s[,priority]"
                             "[,gpus], or jobs of sacct -P (Submit, ElapsedRaw, AllocTRES), Acme "
                             "(submit_time, duration, gpu_num) or the Standard Workload Format",
                             names[i]);
            }
        }
        for (size_t c = 0; c < csv.n_column; c++) {
            if (tmx_names_find(csv.column[c], names, N_TRACE_COLUMN) == N_TRACE_COLUMN) {
                char hint[TMX_HINT_SIZE];
                tmx_error_at(&why, TMX_EPARSE, csv.source, csv.head_line, "unknown column \"%.60s\"%s",
                             csv.column[c], tmx_suggest(hint, csv.column[c], names, N_TRACE_COLUMN));
            }
        }
        if (kernels) {
            tmx_error_setting(&why, kernels,
                              "kernels does nothing here: the trace names the kernel of each row");
        }
        if (csv.n_row > MAX_ENTRIES) {
            tmx_error_at(&why, TMX_ERANGE, path, 0, "%zu arrivals; at most %d", csv.n_row, MAX_ENTRIES);
        }
    }
    if (swf) {
        read_swf(&j, &text, &why);
    }
    for (size_t r = 0; !why.code && r < csv.n_row; r++) {
        struct tmx_mix_entry e = {.file = mix->arrivals, .line = csv.line[r]};
        if (jobs) {
            job_row(&j, &csv, r, job_column, &why);
        } else if (!tmx_opt_cells(trace_opts, &e, &csv, r, &why)) {
            append(mix, &e, &why);
        }
    }
    if (jobs && !why.code) {
        end_jobs(&j, path, &why);
    }
    tmx_rng_destroy(j.rng);
    tmx_csv_finish(&csv);
    tmx_text_finish(&text);
    if (why.code == TMX_EIO) {
        tmx_error_setting(err, file, "file = \"%s\": %s", path, why.msg);
    } else {
        (void)tmx_error_give(err, &why);
    }
}

static int by_arrival(const void *a, const void *b)
{
    const struct tmx_mix_entry *x = a, *y = b;
    const int later = (x->arrival_s > y->arrival_s) - (x->arrival_s < y->arrival_s);
    return later ? later : (x->order > y->order) - (x->order < y->order);
}

enum tmx_status tmx_mix_load(struct tmx_mix *mix, const char *path, uint64_t seed, struct tmx_err *err)
{
    static const char *const also[] = {"kernels", "arrivals", "job", NULL};
    static const char *const arrivals_also[] = {"kernels", NULL};
    struct tmx_err own = {0};
    struct arrivals a = {0};
    *mix = (struct tmx_mix){0};
    tmx_config_load(&mix->config, path, NULL, &own);
    const struct tmx_setting *root = tmx_config_root(mix->config);
    const struct tmx_setting *group = tmx_setting_member(root, "arrivals");
    tmx_opt_read(root_opts, mix, root, also, &own);
    const struct tmx_setting *list = tmx_setting_list(root, "kernels", 0, MAX_ENTRIES, &own);
    for (size_t i = 0; i < tmx_setting_length(list) && !own.code; i++) {
        const struct tmx_setting *s = tmx_setting_at(list, i);
        struct counted_entry e = {.count = 0};
        tmx_opt_read(entry_opts, &e, s, NULL, &own);
        e.entry.file = tmx_setting_file(s);
        e.entry.line = tmx_setting_line(s);
        if (mix->n_entry + (size_t)e.count > MAX_ENTRIES) {
            tmx_error_setting(&own, s, "more than %d kernels", MAX_ENTRIES);
        }
        for (int k = 0; k < e.count && !own.code; k++) {
            append(mix, &e.entry, &own);
        }
    }
    if (group && !own.code) {
        tmx_opt_read(arrival_opts, &a, group, arrivals_also, &own);
        const bool drawn = a.process == POISSON;
        const struct tmx_setting *idle =
            own.code ? NULL
                     : tmx_opt_given(arrival_opts, &a, drawn ? "file" : "mean_s count work_s gpus", group);
        if (idle) {
            tmx_error_setting(&own, idle, "arrivals.%s does nothing here: arrivals are %s (process)",
                              tmx_setting_name(idle), drawn ? "drawn" : "those of a trace");
        }
        if (!own.code) {
            (drawn ? poisson : read_trace)(mix, &a, group, seed, &own);
        }
    }
    if (mix->n_entry == 0) {
        tmx_error_setting(&own, root, "no kernels: expected kernels = ( ... ) or arrivals = { ... }");
    }
    if (mix->n_entry > 1) {
        qsort(mix->entry, mix->n_entry, sizeof *mix->entry, by_arrival);
    }
    if (own.code) {
        tmx_mix_finish(mix);
    }
    return tmx_error_give(err, &own);
}

void tmx_mix_finish(struct tmx_mix *mix)
{
    free(mix->entry);
    free(mix->arrivals);
    tmx_config_close(mix->config);
    *mix = (struct tmx_mix){0};
}

const struct tmx_keys tmx_mix_keys[] = {TMX_KEYS("", root_opts),
                                        TMX_KEYS("kernels", entry_opts),
                                        TMX_KEYS("arrivals", arrival_opts),
                                        TMX_KEYS("arrivals.file", trace_opts), /* its columns */
                                        {0}};
