/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workload/kernel.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/csv.h"
#include "base/opt.h"

static const struct tmx_opt root_opts[] = {
    TMX_ROW_TEXT(tmx_kernel, name, NULL, "name used in mixes"),
    TMX_ROW_TEXT(tmx_kernel, doc, "", "one sentence"),
    TMX_ROW_TEXT(tmx_kernel, source, "", "where the numbers are from"),
    {0},
};

static const struct tmx_opt launch_opts[] = {
    TMX_ROW_INT(tmx_kernel_launch, thread_blocks, "1", 1, 1e9, 1024, "thread blocks of one launch"),
    TMX_ROW_INT(tmx_kernel_launch, threads_per_block, "1", 1, 2048, 256, "threads per block"),
    TMX_ROW_INT(tmx_kernel_launch, registers_per_thread, "1", 0, 255, 16, "32-bit registers per thread"),
    TMX_ROW_INT(tmx_kernel_launch, shared_bytes, "B", 0, 1048576, 0, "shared memory per block"),
    {0},
};

#define RATE(index, key_)                                                                                 \
    {                                                                                                     \
        .key = (key_), .type = TMX_OPT_REAL,                                                              \
        .offset = offsetof(struct tmx_kernel_power, access_rate) + (index) * sizeof(double), .unit = "1", \
        .min = 0, .max = 1, .def = 0, .doc = "access rate of the unit, equation 1"                        \
    }

static const struct tmx_opt power_opts[] = {
    TMX_ROW_REAL(tmx_kernel_power, sm_power_w, "W", 0, 1000, 0,
                 "dynamic power of all SMs at the nominal clock; 0: by equation 1, from rate_* and the "
                 "chip's max_*_w"),
    TMX_ROW_REAL(tmx_kernel_power, block_lifetime_s, "s", 1e-7, 10, 1e-4, "lifetime of one thread block"),
    TMX_ROW_REAL(tmx_kernel_power, memory_bound, "1", 0, 1, 0,
                 "share of a block's time that does not follow the core clock"),
    TMX_ROW_REAL(tmx_kernel_power, remote_weight, "1", 0, 100, 0.04,
                 "extra lifetime of a block on a GPU away from its data, over link T3"),
    RATE(TMX_INT, "rate_int"),
    RATE(TMX_FP, "rate_fp"),
    RATE(TMX_SFU, "rate_sfu"),
    RATE(TMX_ALU, "rate_alu"),
    RATE(TMX_FDS, "rate_fds"),
    RATE(TMX_REG, "rate_reg"),
    RATE(TMX_CACHE, "rate_cache"),
    RATE(TMX_SHM, "rate_shm"),
    {0},
};

#define WATTS(index, key_, doc_)                                                                           \
    {                                                                                                      \
        .key = (key_), .type = TMX_OPT_REAL, .offset = (index) * sizeof(double), .unit = "W", .max = 1000, \
        .doc = (doc_)                                                                                      \
    }
#define SM_WATTS(index, key_) WATTS(index, key_, "in the SMs, of the whole chip at the nominal clock")
/* In the order of enum tmx_component. */
const struct tmx_opt tmx_component_opts[] = {
    SM_WATTS(0, "instruction_buffer_w"),
    SM_WATTS(1, "instruction_cache_w"),
    SM_WATTS(2, "data_cache_w"),
    SM_WATTS(3, "constant_cache_w"),
    SM_WATTS(4, "shared_memory_w"),
    SM_WATTS(5, "register_file_w"),
    SM_WATTS(6, "int_w"),
    SM_WATTS(7, "fp_w"),
    SM_WATTS(8, "dp_w"),
    SM_WATTS(9, "int_mul_w"),
    SM_WATTS(10, "fp_mul_w"),
    SM_WATTS(11, "fp_sqrt_w"),
    SM_WATTS(12, "fp_log_w"),
    SM_WATTS(13, "fp_sin_w"),
    SM_WATTS(14, "fp_exp_w"),
    SM_WATTS(15, "dp_mul_w"),
    SM_WATTS(16, "tensor_w"),
    SM_WATTS(17, "texture_w"),
    SM_WATTS(18, "scheduler_w"),
    SM_WATTS(19, "pipeline_w"),
    SM_WATTS(20, "idle_sm_w"),
    WATTS(21, "l2_w", "in the chip's units, at the nominal clock"),
    WATTS(22, "dram_w", "in the chip's units, at the nominal clock"),
    WATTS(23, "static_w", "leakage under this kernel, with the chip's static_reference_w"),
    {0},
};
_Static_assert(sizeof tmx_component_opts / sizeof tmx_component_opts[0] == TMX_N_COMPONENT + 1, "a key each");

static const struct tmx_keys power_inner[] = {TMX_KEYS("phases", NULL), {0}};
static const struct tmx_keys inner[] = {
    TMX_KEYS_GROUP(tmx_kernel, launch, launch_opts),
    {.group = "power",
     .opts = power_opts,
     .inner = power_inner,
     .offset = offsetof(struct tmx_kernel, power)},
    TMX_KEYS("components", NULL),
    TMX_KEYS("instructions", NULL),
    TMX_KEYS("code", NULL),
    TMX_KEYS("memory", NULL),
    TMX_KEYS("job", NULL),
    {0},
};
static const char *const axes[] = {"work", "time", "work_s", NULL};

struct head {
    int over;
    bool repeat;
    char file[256];
    struct step {
        double until, power_w, waits;
    } * step;
    size_t n_step;
};
static const struct tmx_opt head_opts[] = {
    TMX_ROW_CHOICE(head, over, axes, "work",
                   "what `until` counts: share of the kernel's work, seconds since its first block, or "
                   "seconds of its work on the whole chip at the nominal clock"),
    TMX_ROW_BOOL(head, repeat, 0, "over seconds: begin again after the last step"),
    TMX_ROW_TEXT(head, file, "",
                 "CSV with the columns until,power_w[,waits], in place of list; relative to the kernel"),
    {0},
};

static const struct tmx_opt step_opts[] = {
    TMX_ROW_REAL(step, until, "1 or s", 0, 1e7, NAN, "where the step ends"),
    TMX_ROW_REAL(step, power_w, "W", 0, 1000, NAN, "dynamic power of all SMs at the nominal clock"),
    TMX_ROW_REAL(step, waits, "1", -1, 1, -1,
                 "share of its time that does not follow the clock; -1: the kernel's memory_bound"),
    {0},
};

static const struct tmx_keys phase_inner[] = {
    {TMX_KEYS_LIST(head, "list", step, n_step, step_opts, 0, TMX_MAX_PHASE), .owned = true},
    {0},
};
static const struct tmx_keys phases = {.group = "power.phases", .opts = head_opts, .inner = phase_inner};

/* Adds a step; why it cannot follow those before it, NULL: it can. */
static const char *add(struct tmx_phases *p, const struct step *s)
{
    const double before = p->n > 0 ? p->until[p->n - 1] : 0;
    const char *why = p->n == TMX_MAX_PHASE  ? "more than 256 steps"
                      : !(s->until > before) ? "until: expected more than the step before it, and than 0"
                      : p->over == TMX_PHASE_WORK && s->until > 1 + 1e-12 ? "until: over work it ends at 1"
                                                                          : NULL;
    if (!why) {
        p->until[p->n] = s->until;
        p->waits[p->n] = s->waits;
        p->power_w[p->n++] = s->power_w;
    }
    return why;
}

/* Group `phases` of a kernel: `over`, `repeat`, and `list = ( { until; power_w; waits; }, ... )` or `file`, a
 * CSV with the columns until,power_w[,waits], relative to the folder of kernel_path. */
static void read_phases(struct tmx_phases *p, const struct tmx_setting *group, const char *kernel_path,
                        struct tmx_err *err)
{
    const struct tmx_setting *list = tmx_setting_member(group, "list");
    const char *slash = strrchr(kernel_path, '/');
    struct head h = {0};
    char path[1280];
    tmx_keys_read(&phases, &h, group, err);
    if ((list != NULL) == (h.file[0] != '\0')) {
        tmx_error_setting(err, group, "phases: expected either list = ( { until; power_w; }, ... ) or file");
    }
    p->over = h.over;
    p->repeat = h.repeat;
    snprintf(path, sizeof path, "%.*s%s", h.file[0] == '/' || !slash ? 0 : (int)(slash - kernel_path + 1),
             kernel_path, h.file);
    for (size_t i = 0; i < h.n_step && !err->code; i++) {
        const char *why = add(p, &h.step[i]);
        if (why) {
            tmx_error_setting(err, tmx_setting_at(list, i), "phases: %s", why);
        }
    }
    free(h.step);
    if (!list && !err->code) {
        struct tmx_csv csv = {0};
        tmx_csv_read(&csv, path, err);
        err->code = err->code ? err->code : tmx_opt_columns(step_opts, &csv, err);
        for (size_t r = 0; !err->code && r < csv.n_row; r++) {
            struct step s;
            const char *why = tmx_opt_cells(step_opts, &s, &csv, r, err) ? NULL : add(p, &s);
            if (why) {
                tmx_error_at(err, TMX_EPARSE, path, csv.line[r], "phases: %s", why);
            }
        }
        tmx_csv_finish(&csv);
    }
    if (p->n == 0 || (p->over == TMX_PHASE_WORK && fabs(p->until[p->n - 1] - 1) > 1e-9)) {
        tmx_error_setting(err, group, "phases: %s",
                          p->n == 0 ? "no step" : "over work the last step ends at 1");
    } else if (p->repeat && p->over == TMX_PHASE_WORK) {
        tmx_error_setting(
            err, group,
            "phases: repeat does nothing over work, whose steps end at 1; over = \"work_s\" repeats");
    }
    for (size_t i = 0; i < p->n; i++) {
        p->mean_w += p->power_w[i] * (p->until[i] - (i > 0 ? p->until[i - 1] : 0)) / p->until[p->n - 1];
    }
    if (!(p->mean_w > 0)) {
        tmx_error_setting(err, group, "phases: all steps have no power");
    }
}

enum tmx_status tmx_kernel_load(struct tmx_kernel *k, const char *path, struct tmx_err *err)
{
    struct tmx_config *cfg = NULL;
    struct tmx_err own = {0};
    *k = (struct tmx_kernel){0};
    if (!tmx_keys_load(tmx_kernel_keys, k, path, NULL, &cfg, &own)) {
        const struct tmx_setting *components = tmx_config_find(cfg, "components");
        const struct tmx_setting *steps = tmx_config_find(cfg, "power.phases");
        double sm_w = 0; /* watts of the SMs by component */
        if (!components && !tmx_config_find(cfg, "power")) {
            k->power = (struct tmx_kernel_power){0};
        }
        if (steps) {
            read_phases(&k->phases, steps, path, &own);
        }
        if (steps && !components && k->power.sm_power_w <= 0) {
            k->power.sm_power_w = k->phases.mean_w;
        }
        if (components) {
            tmx_opt_read(tmx_component_opts, k->component_w, components, NULL, &own);
        }
        for (size_t i = 0; i < TMX_COMPONENT_L2; i++) {
            sm_w += k->component_w[i];
        }
        if (components && k->power.sm_power_w > 0 && fabs(k->power.sm_power_w - sm_w) > 1e-6 * (1 + sm_w)) {
            tmx_error_setting(&own, components,
                              "components: those of the SMs add up to %g W, power.sm_power_w = %g", sm_w,
                              k->power.sm_power_w);
        }
        k->power.sm_power_w = components ? sm_w : k->power.sm_power_w;
    }
    tmx_config_close(cfg);
    return tmx_error_give(err, &own);
}

static int fit(int limit, int room, int per_block)
{
    const int n = per_block > 0 ? room / per_block : limit;
    return n < limit ? n : limit;
}

int tmx_kernel_occupancy(const struct tmx_kernel *k, const struct tmx_sm_limits *limits)
{
    const struct tmx_kernel_launch *l = &k->launch;
    int n = limits->blocks;
    n = fit(n, limits->threads, l->threads_per_block);
    n = fit(n, limits->registers, l->registers_per_thread * l->threads_per_block);
    return fit(n, limits->shared_bytes, l->shared_bytes);
}

double tmx_kernel_equation1_w(const struct tmx_kernel *k, const double max_power_w[TMX_N_PART])
{
    double w = 0;
    for (int i = 0; i < TMX_N_PART; i++) {
        w += max_power_w[i] * k->power.access_rate[i];
    }
    return w;
}

/* The phase of *x, which becomes its place in the list. */
static size_t find_phase(const struct tmx_phases *p, double *x)
{
    const double last = p->until[p->n - 1];
    size_t low = 0, high = p->n - 1; /* the first step that ends beyond x, or the last */
    *x = p->repeat && *x >= last ? fmod(*x, last) : *x;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (p->until[mid] > *x) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return low;
}

double tmx_phases_at(const struct tmx_phases *p, double x)
{
    return p->power_w[find_phase(p, &x)];
}

size_t tmx_phases_index(const struct tmx_phases *p, double x)
{
    return find_phase(p, &x);
}

double tmx_phases_left(const struct tmx_phases *p, double x)
{
    const size_t i = find_phase(p, &x);
    return i + 1 < p->n || p->repeat ? p->until[i] - x : INFINITY;
}

const struct tmx_keys tmx_kernel_keys[] = {{.group = "", .opts = root_opts, .inner = inner},
                                           {.group = "power.phases", .opts = head_opts, .inner = phase_inner},
                                           TMX_KEYS("components", tmx_component_opts),
                                           {0}};
