/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AccelWattch's two files, as src/accelwattch/gpgpu_sim_wrapper.cc of GPGPU-Sim writes them. Both have the
 * same 33 labels with a comma at the end of all but two: "gpu_avg_IBP, = 1.17" in the report, and a header
 * "power,IBP,...,IDLE_COREP,CONSTPSTATICP" above the samples of the trace, whose rows end in a comma.
 * GPUWattch, its predecessor, has 18: one for all of an SP's units, one for the SFUs, and no leakage. */
#include "measure/measure.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/os.h"
#include "base/output.h"
#include "base/text.h"
#include "base/trace.h"
#include "core/workload/kernel.h"
#include "measure/log/collect.h"
#include "power/power.h"
#include "run/load/data.h"

enum { ACCELWATTCH = 1, GPUWATTCH = 2, BOTH = 3, N_LABEL = 36 };
static const char *const programs[] = {"", "AccelWattch", "GPUWattch"};
static const size_t n_label[] = {0, 33, 18};

/* In the order of the programs: which of a kernel's components (core/workload/kernel.h) a label belongs to.
 * Dividers are counted with their multipliers, the memory controller with the memory, the interconnect with
 * the L2, as in AccelWattch's own tables. */
static const struct {
    const char *name, *key; /* NULL: the chip's constant power */
    int program;
} labels[N_LABEL] = {
    {"IBP", "instruction_buffer_w", BOTH},
    {"ICP", "instruction_cache_w", BOTH},
    {"DCP", "data_cache_w", BOTH},
    {"TCP", "texture_w", BOTH},
    {"CCP", "constant_cache_w", BOTH},
    {"SHRDP", "shared_memory_w", BOTH},
    {"RFP", "register_file_w", BOTH},
    {"SPP", "int_w", GPUWATTCH},
    {"SFUP", "fp_sin_w", GPUWATTCH},
    {"INTP", "int_w", ACCELWATTCH},
    {"FPUP", "fp_w", BOTH},
    {"DPUP", "dp_w", ACCELWATTCH},
    {"INT_MUL24P", "int_mul_w", ACCELWATTCH},
    {"INT_MUL32P", "int_mul_w", ACCELWATTCH},
    {"INT_MULP", "int_mul_w", ACCELWATTCH},
    {"INT_DIVP", "int_mul_w", ACCELWATTCH},
    {"FP_MULP", "fp_mul_w", ACCELWATTCH},
    {"FP_DIVP", "fp_mul_w", ACCELWATTCH},
    {"FP_SQRTP", "fp_sqrt_w", ACCELWATTCH},
    {"FP_LGP", "fp_log_w", ACCELWATTCH},
    {"FP_SINP", "fp_sin_w", ACCELWATTCH},
    {"FP_EXP", "fp_exp_w", ACCELWATTCH},
    {"DP_MULP", "dp_mul_w", ACCELWATTCH},
    {"DP_DIVP", "dp_mul_w", ACCELWATTCH},
    {"TENSORP", "tensor_w", ACCELWATTCH},
    {"TEXP", "texture_w", ACCELWATTCH},
    {"SCHEDP", "scheduler_w", BOTH},
    {"L2CP", "l2_w", BOTH},
    {"MCP", "dram_w", BOTH},
    {"NOCP", "l2_w", BOTH},
    {"DRAMP", "dram_w", BOTH},
    {"PIPEP", "pipeline_w", BOTH},
    {"IDLE_COREP", "idle_sm_w", BOTH},
    {"CONST_DYNAMICP", NULL, GPUWATTCH},
    {"CONSTP", NULL, ACCELWATTCH},
    {"STATICP", "static_w", ACCELWATTCH},
};

/* What else a report prints of a kernel: counts of events, which are not watts. */
static const char *const counters[] = {
    "TOT_INST",    "FP_INT",         "IC_H",          "IC_M",        "DC_RH",         "DC_RM",
    "DC_WH",       "DC_WM",          "TC_H",          "TC_M",        "CC_H",          "CC_M",
    "SHRD_ACC",    "REG_RD",         "REG_WR",        "NON_REG_OPs", "INT_ACC",       "FPU_ACC",
    "DPU_ACC",     "INT_MUL24_ACC",  "INT_MUL32_ACC", "INT_MUL_ACC", "INT_DIV_ACC",   "FP_MUL_ACC",
    "FP_DIV_ACC",  "FP_SQRT_ACC",    "FP_LG_ACC",     "FP_SIN_ACC",  "FP_EXP_ACC",    "DP_MUL_ACC",
    "DP_DIV_ACC",  "TENSOR_ACC",     "TEX_ACC",       "MEM_RD",      "MEM_WR",        "MEM_PRE",
    "L2_RH",       "L2_RM",          "L2_WH",         "L2_WM",       "NOC_A",         "PIPE_A",
    "IDLE_CORE_N", "constant_power", "SP_ACC",        "SFU_ACC",     "CONST_DYNAMICN"};

struct watts { /* of a launch or a sample */
    double component[TMX_N_COMPONENT], constant, total;
};

static void add(struct watts *w, size_t label, double v)
{
    int i = 0;
    while (labels[label].key && i < TMX_N_COMPONENT &&
           strcmp(tmx_component_opts[i].key, labels[label].key) != 0) {
        i++;
    }
    *(labels[label].key && i < TMX_N_COMPONENT ? &w->component[i] : &w->constant) += v;
}

static double sm_w(const struct watts *w)
{
    double sum = 0;
    for (size_t i = 0; i < TMX_COMPONENT_L2; i++) {
        sum += w->component[i];
    }
    return sum;
}

/* AccelWattch checks its sum before it prints six digits of each. */
static void check_sum(const struct watts *w, const char *name, unsigned line, struct tmx_err *err)
{
    const double sum = sm_w(w) + w->component[TMX_COMPONENT_L2] + w->component[TMX_COMPONENT_DRAM] +
                       w->component[TMX_COMPONENT_STATIC] + w->constant;
    if (!(fabs(sum - w->total) <= 0.01 * fabs(w->total) + 0.01)) {
        tmx_error_at(err, TMX_EPARSE, name, line, "the components add up to %.6g W, the total is %.6g W", sum,
                     w->total);
    }
}

/* The report. */

struct kernel { /* sums over its launches */
    struct tmx_span name;
    struct watts sum;
    int64_t launches;
};

struct report {
    struct tmx_arena arena;
    struct kernel *kernel;
    size_t n_kernel;
    struct tmx_span name; /* of the launch that is read */
    struct watts launch;
    uint64_t seen;      /* labels of it; the bit above them: its total */
    unsigned line;      /* of its name */
    struct tmx_err err; /* the first stays */
};

static void end_launch(struct report *r, const char *path)
{
    int program = ACCELWATTCH;
    for (size_t i = 0; i < N_LABEL; i++) {
        program = labels[i].program == GPUWATTCH && r->seen >> i & 1 ? GPUWATTCH : program;
    }
    for (size_t i = 0; i <= N_LABEL; i++) {
        const bool its = i == N_LABEL || labels[i].program & program;
        if (its != (r->seen >> i & 1)) {
            tmx_error_at(&r->err, TMX_EPARSE, path, r->line,
                         "%s %s of the kernel's average power: the report is cut or of another version of %s",
                         its ? "no" : "also", i < N_LABEL ? labels[i].name : "kernel_avg_power",
                         programs[program]);
        }
    }
    check_sum(&r->launch, path, r->line, &r->err);
    size_t at = 0;
    while (at < r->n_kernel && !tmx_span_same(r->kernel[at].name, r->name)) {
        at++;
    }
    if (at == r->n_kernel && TMX_GROW(&r->arena, r->kernel, at)) {
        r->kernel[r->n_kernel++] = (struct kernel){.name = r->name};
    }
    tmx_arena_check(&r->arena, &r->err);
    if (r->err.code) {
        return;
    }
    struct kernel *k = &r->kernel[at];
    for (size_t i = 0; i < TMX_N_COMPONENT; i++) {
        k->sum.component[i] += r->launch.component[i];
    }
    k->sum.constant += r->launch.constant;
    k->sum.total += r->launch.total;
    k->launches++;
}

/* "key[,] = value" */
static void report_line(struct report *r, const char *path, const struct tmx_lines *l)
{
    const char *sign = memchr(l->line.begin, '=', tmx_span_length(l->line));
    struct tmx_span key = {l->line.begin, sign ? sign : l->line.begin};
    const struct tmx_span value =
        tmx_span_trim((struct tmx_span){sign ? sign + 1 : l->line.end, l->line.end});
    size_t label = N_LABEL;
    double v;
    key = tmx_span_trim(key);
    key.end -= key.end > key.begin && key.end[-1] == ',';
    const bool total = tmx_span_is(key, "kernel_avg_power");
    if (tmx_span_is(key, "kernel_name")) {
        if (r->line) {
            end_launch(r, path);
        }
        r->name = value;
        r->launch = (struct watts){0};
        r->seen = 0;
        r->line = l->number;
        return;
    }
    if (!total && (tmx_span_length(key) <= 8 || memcmp(key.begin, "gpu_avg_", 8) != 0)) {
        return;
    }
    if (!total) {
        key.begin += 8;
        for (label = 0; label < N_LABEL && !tmx_span_is(key, labels[label].name); label++) {
        }
    }
    for (size_t i = 0; !total && label == N_LABEL && i < sizeof counters / sizeof counters[0]; i++) {
        if (tmx_span_is(key, counters[i])) {
            return;
        }
    }
    if (!total && label == N_LABEL) {
        tmx_error_at(
            &r->err, TMX_EPARSE, path, l->number,
            "unknown component %.*s = %.*s W: expected one of AccelWattch's 33 or GPUWattch's 18; add "
            "its watts to the one it belongs to, such as NOCP",
            TMX_SPAN_ARG(key), TMX_SPAN_ARG(value));
    } else if (!tmx_span_real(value, &v)) {
        tmx_error_at(&r->err, TMX_EPARSE, path, l->number, "\"%.*s\" %s", TMX_SPAN_ARG(value),
                     tmx_span_real_fault(value));
    } else if (r->seen >> label & 1) {
        tmx_error_at(&r->err, TMX_EPARSE, path, l->number, "\"%.*s\" again for this kernel",
                     TMX_SPAN_ARG(key));
    } else if (total) {
        r->launch.total = v;
    } else {
        add(&r->launch, label, v);
    }
    r->seen |= UINT64_C(1) << label;
}

/* The name of a file for a name of C++: letters, digits and _, with a number behind where it is taken. */
static void file_name(const struct report *r, size_t k, char name[64])
{
    const struct tmx_span s = r->kernel[k].name;
    size_t n = 0, same = 1;
    for (const char *p = s.begin; p < s.end && n < 48; p++) {
        name[n++] = (char)(isalnum((unsigned char)*p) ? *p : '_');
    }
    n += n == 0 ? (size_t)snprintf(name, 64, "kernel") : 0; /* a launch without a name */
    name[n] = '\0';
    for (size_t i = 0; i < k; i++) {
        char other[64];
        file_name(&(struct report){.kernel = &r->kernel[i]}, 0, other);
        same += strcmp(other, name) == 0;
    }
    if (same > 1) {
        snprintf(name + n, 64 - n, "_%zu", same);
    }
}

static void write_kernel(const struct kernel *k, const char *dir, const char *name, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE], file[80];
    struct tmx_output o;
    const double n = (double)k->launches;
    snprintf(file, sizeof file, "%s.cfg", name);
    tmx_path_join(path, dir, file, err);
    if (!tmx_output_open(&o, path, err)) {
        fprintf(o.file,
                "name = \"%s\";\ndoc = \"mean of %lld launches, watts by component\";\n"
                "source = \"AccelWattch's report; launch and block lifetime assumed\";\n"
                "launch = { thread_blocks = 1024; threads_per_block = 256; registers_per_thread = 32; }; # "
                "assumed\npower = { block_lifetime_s = 1.0e-4; }; # assumed\n"
                "components = { # the constant %.6g W are the chip's: power.baseline_w\n",
                name, (long long)k->launches, k->sum.constant / n);
        for (size_t i = 0; i < TMX_N_COMPONENT; i++) {
            if (k->sum.component[i] != 0) {
                char v[TMX_REAL_SIZE];
                tmx_real_print(v, k->sum.component[i] / n);
                fprintf(o.file, "    %s = %s%s;\n", tmx_component_opts[i].key, v,
                        strpbrk(v, ".e") ? "" : ".0");
            }
        }
        fputs("};\n", o.file);
        (void)!tmx_output_commit(&o, err);
    }
}

static void import_report(const struct tmx_text_file *text, const char *dir, struct tmx_table **t,
                          struct tmx_err *err)
{
    struct report r = {0};
    struct tmx_lines lines = {0};
    while (!r.err.code && tmx_lines_next(&lines, text)) {
        report_line(&r, text->name, &lines);
    }
    if (!r.err.code) {
        end_launch(&r, text->name);
    }
    (void)(dir && (tmx_os_mkdirs(dir, &r.err) || tmx_folder_open(dir, TMX_FOLDER_RESULTS, &r.err)));
    *t = r.err.code
             ? NULL
             : tmx_table_of("kernel launches:d power_w:1 sm_w:1 l2_w:1 dram_w:1 static_w:1 constant_w:1");
    for (size_t i = 0; !r.err.code && i < r.n_kernel; i++) {
        const struct kernel *k = &r.kernel[i];
        const double n = (double)k->launches, *w = k->sum.component;
        char name[64];
        file_name(&r, i, name);
        tmx_table_row(*t, "%s %zu %g %g %g %g %g %g", name, (size_t)k->launches, k->sum.total / n,
                      sm_w(&k->sum) / n, w[TMX_COMPONENT_L2] / n, w[TMX_COMPONENT_DRAM] / n,
                      w[TMX_COMPONENT_STATIC] / n, k->sum.constant / n);
        if (dir) {
            write_kernel(k, dir, name, &r.err);
        }
    }
    tmx_arena_finish(&r.arena);
    tmx_error_give(err, &r.err);
    tmx_table_check(*t, err);
}

/* The trace. */

static void trace_row(const struct tmx_text_file *text, int program, const struct tmx_lines *l,
                      struct watts *w, struct tmx_err *err)
{
    struct tmx_span rest = l->line, cell;
    size_t n = 0, label = 0;
    *w = (struct watts){0};
    for (; tmx_span_cell(&rest, &cell) && (rest.begin || cell.begin < cell.end); n++) { /* "1.2,3.4," */
        double v = 0;
        if (!tmx_span_real(cell, &v)) {
            tmx_error_at(err, TMX_EPARSE, text->name, l->number, "value %zu: \"%.*s\" %s", n + 1,
                         TMX_SPAN_ARG(cell), tmx_span_real_fault(cell));
        }
        w->total = n == 0 ? v : w->total;
        while (n > 0 && label < N_LABEL && !(labels[label].program & program)) {
            label++;
        }
        if (n > 0 && label < N_LABEL) {
            add(w, label++, v);
        }
    }
    if (n != n_label[program] + 1) {
        tmx_error_at(err, TMX_EPARSE, text->name, l->number,
                     "%zu values; expected the total and %zu components", n, n_label[program]);
    }
    check_sum(w, text->name, l->number, err);
}

/* Whose names has the header? Without their commas, since AccelWattch runs the last two together. */
static int program_of(const struct tmx_text_file *text, const struct tmx_lines *l, struct tmx_err *err)
{
    char got[512];
    size_t n = 0;
    for (const char *p = l->line.begin; p < l->line.end && n < sizeof got - 1; p++) {
        got[n] = *p;
        n += *p != ',' && *p != ' ';
    }
    got[n] = '\0';
    for (int program = ACCELWATTCH; program <= GPUWATTCH; program++) {
        char expected[512] = "power";
        for (size_t i = 0; i < N_LABEL; i++) {
            tmx_text_add(expected, sizeof expected, "%s", labels[i].program & program ? labels[i].name : "");
        }
        if (strcmp(got, expected) == 0) {
            return program;
        }
    }
    tmx_error_at(err, TMX_EPARSE, text->name, l->number,
                 "expected the header of a power trace of AccelWattch: power, IBP, ICP, ... CONSTP, STATICP "
                 "(33 components), or of GPUWattch: power, IBP, ... CONST_DYNAMICP (18)");
    return ACCELWATTCH;
}

static void import_trace(const struct tmx_text_file *text, const struct tmx_chip *c, FILE *out,
                         struct tmx_table **t, struct tmx_err *err)
{
    const size_t n = c->floorplan.n_unit;
    struct tmx_lines lines = {0};
    struct tmx_arena arena = {0};
    double *block, sum = 0, peak = 0;
    const char **name;
    size_t rows = 0;
    TMX_TAKE(&arena, block, 7 * n);
    TMX_TAKE(&arena, name, n);
    tmx_arena_check(&arena, err);
    const int program =
        !err->code && tmx_lines_next_filled(&lines, text) ? program_of(text, &lines, err) : ACCELWATTCH;
    if (!err->code) {
        const struct tmx_power_shares s = {block,         block + n,     block + 2 * n,
                                           block + 3 * n, block + 4 * n, block + 5 * n};
        tmx_power_share_out(c, 1, 1, &s);
        for (size_t u = 0; u < n; u++) {
            name[u] = c->floorplan.unit[u].name;
        }
        if (out) {
            tmx_trace_print_names(name, n, out);
        }
        while (!err->code && tmx_lines_next_filled(&lines, text)) {
            struct watts w;
            trace_row(text, program, &lines, &w, err);
            for (size_t u = 0; u < n; u++) {
                block[6 * n + u] =
                    sm_w(&w) / (double)c->n_sm * c->part_share[u] + w.component[TMX_COMPONENT_L2] * s.l2[u] +
                    w.component[TMX_COMPONENT_DRAM] * s.dram[u] +
                    w.component[TMX_COMPONENT_STATIC] * s.leakage_w[u] + w.constant * s.baseline_w[u];
            }
            if (out && !err->code) {
                tmx_trace_print_row(block + 6 * n, n, TMX_TRACE_LOSSLESS, out);
            }
            sum += w.total;
            peak = fmax(peak, w.total);
            rows++;
        }
    }
    if (rows == 0) {
        tmx_error_at(err, TMX_EPARSE, text->name, 1, "no samples below the header");
    }
    if (!err->code) {
        *t = tmx_table_of("rows:d units:d mean_w:1 peak_w:1");
        tmx_table_row(*t, "%zu %zu %g %g", rows, n, sum / (double)rows, peak);
        tmx_table_check(*t, err);
    }
    tmx_arena_finish(&arena);
}

enum tmx_status tmx_accelwattch_import(const char *path, const char *chip, const char *out,
                                       struct tmx_table **t, struct tmx_err *err)
{
    struct tmx_text_file text = {0};
    struct tmx_measured notes = {0}; /* of the reader of logs */
    struct tmx_chip c = {0};
    struct tmx_output o;
    char folder[TMX_PATH_SIZE];
    *t = NULL;
    const bool read = !tmx_log_text(&text, path, &notes, err),
               trace = read && strncmp(text.data, "power,", 6) == 0;
    if (trace && !out) {
        import_trace(&text, &c, NULL, t, err);
    } else if (trace) {
        if (!chip) {
            tmx_error(err, TMX_ECONFIG, "a power trace needs --chip, whose units get the watts");
        }
        (void)(tmx_data_find(TMX_DATA_CHIP, chip, folder, err) || tmx_chip_open(&c, folder, err));
        tmx_os_mkdirs_for(out, err);
        if (!tmx_output_open(&o, out, err)) {
            import_trace(&text, &c, o.file, t, err);
        }
        tmx_output_end(&o, err);
    } else if (read && strstr(text.data, "kernel_name") && chip) {
        tmx_error(err, TMX_ECONFIG, "--chip does nothing: a report of kernels names no units");
    } else if (read && strstr(text.data, "kernel_name")) {
        import_report(&text, out, t, err);
    } else {
        tmx_error_at(err, TMX_EPARSE, path, 1,
                     "neither AccelWattch's report of kernels (\"kernel_name = ...\") nor its power trace "
                     "(\"power,IBP,...\")");
    }
    tmx_chip_finish(&c);
    tmx_measured_finish(&notes);
    tmx_text_finish(&text);
    return err->code;
}
