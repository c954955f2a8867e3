/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power of every floorplan unit:
 *
 *   dynamic   in the SMs: sum over resident kernels of busy * P_kernel * part, times V^2 f relative to the
 * nominal level (dvfs_power = "f": f alone; a kernel that waits for memory: its own speed in place of f)
 *   leakage   L_unit * r(T) * V * (1 - saved)        (dvfs_leakage = false: without V)
 *   baseline  constant, outside the SMs, and what a resident kernel keeps awake there
 *
 * Paper 003, section 4.1: dynamic power from Hong and Kim (its reference 10), leakage that
 * depends on temperature, a baseline of the chip. Sharing out leakage and baseline by area is
 * assumed (the paper does not say). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/os.h"
#include "power/leakage.h"
#include "power/power.h"
#include "power/watts.h"

struct unit_options {
    bool leakage;
};

static const struct tmx_opt opts[] = {
    TMX_ROW_BOOL(unit_options, leakage, 1, "count leakage"),
    {0},
};

struct unit_model {
    tmx_watts_kernel kernel;       /* for this processor */
    struct tmx_leakage *leakage;   /* [n_gpu] */
    double *leak_ref_w;            /* [n_unit] at the reference temperature and nominal voltage */
    double *baseline_w;            /* [n_unit] */
    double *area_share;            /* [n_unit] of the SM area of the GPU; transitions heat it */
    double *uncore_share;          /* [n_unit] of the other area; resident kernels keep it awake */
    double *l2_share, *dram_share; /* [n_unit] of the kernels' watts there */
    double *way_w;                 /* [TMX_WAYS * n_gpu] per SM, of each kernel in the last tick */
    double *awake_w;               /* [n_gpu] likewise, of shared structures */
};

static void destroy(void *model)
{
    struct unit_model *m = model;
    if (!m) {
        return;
    }
    free(m->leakage);
    free(m->leak_ref_w);
    free(m->baseline_w);
    free(m->area_share);
    free(m->uncore_share);
    free(m->l2_share);
    free(m->dram_share);
    free(m->way_w);
    free(m->awake_w);
    free(m);
}

/* Spread `total_w` of the chip: sm_share of it over SM area, the rest over the other area;
 * a negative sm_share spreads by area over the whole die. */
static double share_w(double total_w, double sm_share, bool is_sm, double area, double sm_area,
                      double die_area)
{
    const double other_area = die_area - sm_area;
    if (sm_share < 0) {
        return total_w * area / die_area;
    }
    if (other_area <= 1e-9 * die_area) {
        return total_w * area / sm_area;
    }
    return is_sm ? total_w * sm_share * area / sm_area : total_w * (1 - sm_share) * area / other_area;
}

static void share_out(struct unit_model *m, const struct tmx_gpu *gpu, bool leakage)
{
    const struct tmx_chip *c = gpu->chip;
    double sm_area = 0, die_area = 0, placed = 0;
    bool placed_l2 = false, placed_dram = false;
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        const double a = tmx_unit_area_m2(&c->floorplan.unit[u]);
        die_area += c->is_off[u] || c->off_die[u] ? 0 : a; /* what is fused off draws nothing */
        sm_area += c->sm_of_unit[u] == TMX_NO_SM ? 0 : a;
        placed += c->baseline_share[u];
        placed_l2 = placed_l2 || c->l2_share[u] > 0;
        placed_dram = placed_dram || c->dram_share[u] > 0;
    }
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        const double a = tmx_unit_area_m2(&c->floorplan.unit[u]);
        const bool is_sm = c->sm_of_unit[u] != TMX_NO_SM;
        const size_t i = gpu->unit0 + u;
        m->leak_ref_w[i] =
            leakage ? share_w(c->power.leakage_w, c->power.leakage_sm_share, is_sm, a, sm_area, die_area) : 0;
        m->baseline_w[i] = share_w(c->power.baseline_w * (1 - placed), c->power.baseline_sm_share, is_sm, a,
                                   sm_area, die_area);
        m->area_share[i] = is_sm ? a / sm_area : 0;
        m->uncore_share[i] = share_w(1, 0, is_sm, a, sm_area, die_area);
        if (c->is_off[u] || c->off_die[u]) {
            m->leak_ref_w[i] = m->baseline_w[i] = m->uncore_share[i] = 0;
        }
        m->baseline_w[i] += c->power.baseline_w * c->baseline_share[u];
        m->l2_share[i] = placed_l2 ? c->l2_share[u] : m->uncore_share[i];
        m->dram_share[i] = placed_dram ? c->dram_share[u] : m->uncore_share[i];
    }
}

static enum tmx_status create(const void *options, const struct tmx_machine *machine, void **model,
                              struct tmx_err *err)
{
    const struct unit_options *o = options;
    struct unit_model *m = calloc(1, sizeof *m);
    enum tmx_status st = TMX_OK;
    if (!m) {
        return tmx_fail(err, TMX_ENOMEM, "power model");
    }
    m->kernel = TMX_ISA_OF(tmx_watts_any, tmx_watts_v3, tmx_watts_v4);
    m->leakage = calloc(machine->n_gpu, sizeof *m->leakage);
    m->leak_ref_w = calloc(machine->n_unit, sizeof *m->leak_ref_w);
    m->baseline_w = calloc(machine->n_unit, sizeof *m->baseline_w);
    m->area_share = calloc(machine->n_unit, sizeof *m->area_share);
    m->uncore_share = calloc(machine->n_unit, sizeof *m->uncore_share);
    m->l2_share = calloc(machine->n_unit, sizeof *m->l2_share);
    m->dram_share = calloc(machine->n_unit, sizeof *m->dram_share);
    m->way_w = calloc(machine->n_gpu * TMX_WAYS, sizeof *m->way_w);
    m->awake_w = calloc(machine->n_gpu, sizeof *m->awake_w);
    if (!m->leakage || !m->leak_ref_w || !m->baseline_w || !m->area_share || !m->uncore_share ||
        !m->l2_share || !m->dram_share || !m->way_w || !m->awake_w) {
        st = tmx_fail(err, TMX_ENOMEM, "power model of %zu units", machine->n_unit);
    }
    for (size_t g = 0; !st && g < machine->n_gpu; g++) {
        share_out(m, &machine->gpu[g], o->leakage);
        m->leakage[g] = tmx_leakage_init(&machine->gpu[g].chip->power);
    }
    if (st) {
        destroy(m);
        return st;
    }
    *model = m;
    return TMX_OK;
}

/* What kernels draw in L2 and memory, added to the units and to the kernels' sums; leakage as above. Memory
 * has a clock and a voltage of its own: its watts follow the rate of work. */
static double outside_sms(const struct unit_model *m, const struct tmx_machine *machine, size_t g,
                          const double *busy_sms, double *sum_w, struct tmx_frame *f)
{
    const struct tmx_gpu *gpu = &machine->gpu[g];
    const double volt2 = gpu->chip->power.dvfs_power == TMX_DVFS_V2F ? machine->volt2[g] : 1;
    double l2_w = 0, dram_w = 0, busy = 0, leak = 0;
    for (size_t k = 0; k < gpu->n_run; k++) {
        const struct tmx_job *j = &machine->job[gpu->run[k]];
        const double rate = busy_sms[k] * tmx_machine_clock_speed(machine, j, g) * gpu->power_scale /
                            tmx_job_slowdown(j) * tmx_machine_remote_speed(machine, j, g);
        l2_w += rate * volt2 * j->l2_w;
        dram_w += rate * j->dram_w;
        sum_w[k] += rate * (volt2 * j->l2_w + j->dram_w);
        busy += busy_sms[k];
        leak += busy_sms[k] * (j->leak_factor > 0 ? j->leak_factor : 1);
    }
    for (size_t i = gpu->unit0; i < gpu->unit0 + gpu->chip->floorplan.n_unit; i++) {
        f->dynamic_w[i] += l2_w * m->l2_share[i] + dram_w * m->dram_share[i];
    }
    return busy > 0 ? leak / busy : 1;
}

/* Dynamic watts of each unit, n kernel slots; what each draws and how many SMs it keeps busy. */
static inline __attribute__((always_inline)) void in_sms(const struct tmx_machine *machine,
                                                         const struct tmx_gpu *gpu, size_t n,
                                                         const double *way_w, double *sum_w, double *busy_sms,
                                                         double *restrict dynamic_w)
{
    const struct tmx_chip *c = gpu->chip;
    double watts[TMX_WAYS] = {0}, sms[TMX_WAYS] = {0};
    for (size_t u = 0; u < c->floorplan.n_unit; u++) {
        const int sm = c->sm_of_unit[u];
        double w = 0;
        if (sm != TMX_NO_SM) {
            const double *busy = &machine->busy[gpu->sm0 + (size_t)sm];
            for (size_t k = 0; k < n; k++) {
                const double part_w = busy[k * machine->n_sm] * way_w[k] * c->part_share[u];
                watts[k] += part_w;
                sms[k] += busy[k * machine->n_sm] * c->part_share[u];
                w += part_w;
            }
        }
        dynamic_w[u] = w;
    }
    for (size_t k = 0; k < n; k++) {
        sum_w[k] = watts[k];
        busy_sms[k] = sms[k];
    }
}

/* Dynamic watts; the leakage of the GPU under its kernels, relative to leakage_w. */
static double dynamic(const struct unit_model *m, const struct tmx_machine *machine, size_t g,
                      struct tmx_frame *f)
{
    const struct tmx_gpu *gpu = &machine->gpu[g];
    const struct tmx_chip *c = gpu->chip;
    const double volt2 = c->power.dvfs_power == TMX_DVFS_V2F ? machine->volt2[g] : 1;
    double way_w[TMX_WAYS] = {0}, sum_w[TMX_WAYS] = {0}, busy_sms[TMX_WAYS] = {0};
    const size_t n_kernel_slot = tmx_machine_kernel_slots(gpu);
    bool outside = false;
    for (size_t k = 0; k < gpu->n_run; k++) {
        const struct tmx_job *j = &machine->job[gpu->run[k]];
        const double scale = volt2 * tmx_machine_clock_speed(machine, j, g) * gpu->power_scale;
        way_w[k] = tmx_job_power_w(j, machine->now_s) * scale /
                   tmx_job_slowdown(j) * /* the same work, spread over a longer time */
                   tmx_machine_remote_speed(machine, j, g);
        outside = outside || j->l2_w > 0 || j->dram_w > 0 || j->leak_factor > 0;
    }
    double *last_w = &m->way_w[TMX_WAYS * g];
    if (gpu->same && !outside && memcmp(last_w, way_w, sizeof way_w) == 0) {
        return 1; /* as in the last tick */
    }
    memcpy(last_w, way_w, sizeof way_w);
    if (n_kernel_slot == 2) { /* a constant: sums in registers */
        in_sms(machine, gpu, 2, way_w, sum_w, busy_sms, f->dynamic_w + gpu->unit0);
    } else {
        in_sms(machine, gpu, n_kernel_slot, way_w, sum_w, busy_sms, f->dynamic_w + gpu->unit0);
    }
    double leak = 1;
    if (outside) {
        leak = outside_sms(m, machine, g, busy_sms, sum_w, f);
    }
    for (size_t k = 0; k < TMX_WAYS; k++) {
        f->way_w[k * f->n_gpu + g] = sum_w[k];
    }
    return leak;
}

/* Shared structures serve all resident kernels at once. */
static double uncore_w(const struct tmx_machine *machine, const struct tmx_gpu *gpu)
{
    double most_w = 0;
    for (size_t k = 0; k < gpu->n_run; k++) {
        const struct tmx_job *j = &machine->job[gpu->run[k]];
        most_w = j->state == TMX_JOB_RUNNING && j->uncore_w > most_w ? j->uncore_w : most_w;
    }
    return most_w;
}

static enum tmx_status eval(void *model, const struct tmx_machine *machine, struct tmx_gpus span,
                            struct tmx_frame *f)
{
    const struct unit_model *m = model;
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *gpu = &machine->gpu[g];
        const size_t u0 = gpu->unit0;
        const double awake_w = uncore_w(machine, gpu), transition_w = gpu->transition_j / machine->dt_s,
                     volt = gpu->chip->power.dvfs_leakage ? machine->volt[g] : 1;
        const double leak = dynamic(m, machine, g, f);
        f->transition_w[g] = transition_w;
        const struct tmx_watts watts = {.leakage = &m->leakage[g],
                                        .n = gpu->chip->floorplan.n_unit,
                                        .volt = volt * leak,
                                        .awake_w = awake_w,
                                        .same_base = gpu->same && awake_w == m->awake_w[g],
                                        .transition_w = transition_w,
                                        .temp_k = f->temp_k + u0,
                                        .dynamic_w = f->dynamic_w + u0,
                                        .asleep = f->sleeps ? f->asleep + u0 : NULL,
                                        .unpowered = f->unpowered + u0,
                                        .leak_ref_w = m->leak_ref_w + u0,
                                        .fixed_w = m->baseline_w + u0,
                                        .uncore_share = m->uncore_share + u0,
                                        .area_share = m->area_share + u0,
                                        .leakage_w = f->leakage_w + u0,
                                        .saved_w = f->saved_w + u0,
                                        .baseline_w = f->baseline_w + u0,
                                        .power_w = f->power_w + u0};
        m->awake_w[g] = awake_w;
        if (!m->kernel(&watts)) {
            return TMX_ERUNAWAY;
        }
    }
    return TMX_OK;
}

static void factors(const void *leakage, size_t n, const double *temp_k, double *factor)
{
    enum { BLOCK = 64 };
    for (size_t from = 0; from < n; from += BLOCK) {
        const size_t m = n - from < BLOCK ? n - from : BLOCK;
        double in_range_k[BLOCK];
        for (size_t i = 0; i < m; i++) {
            const double t = temp_k[from + i] < TMX_LEAK_MIN_K ? TMX_LEAK_MIN_K : temp_k[from + i];
            in_range_k[i] = t > TMX_LEAK_MAX_K ? TMX_LEAK_MAX_K : t;
        }
        tmx_leakage_factors(leakage, m, in_range_k, factor + from);
    }
}

static void still(const void *model, const struct tmx_machine *machine, size_t gpu,
                  struct tmx_static_power *p)
{
    const struct unit_model *m = model;
    *p = (struct tmx_static_power){.baseline_w = m->baseline_w + machine->gpu[gpu].unit0,
                                   .leak_w = m->leak_ref_w + machine->gpu[gpu].unit0,
                                   .factors = factors,
                                   .table = &m->leakage[gpu]};
}

static const struct tmx_power_ops unit = {
    .base = {.name = "unit",
             .doc = "Dynamic power of the resident kernels, leakage at the unit's temperature, baseline.",
             .source = "paper 003, section 4.1 and equation 1; HotSpot's leakage exponent",
             .opts = opts,
             .state_size = sizeof(struct unit_options)},
    .create = create,
    .destroy = destroy,
    .eval = eval,
    .still = still,
};

/* Every power model: this is the only one. */
const struct tmx_power_ops *const tmx_power_models[] = {&unit, NULL};
const struct tmx_plugin *const tmx_power_heads[] = {&unit.base, NULL};
