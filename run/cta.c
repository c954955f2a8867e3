/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/cost.h"
#include "base/os.h"
#include "kernels/profile.h"
#include "run/cta.h"
#include "run/load/data.h"
#include "run/load/gate_files.h"
#include "run/registry.h"
#include "run/state.h"

enum tmx_status tmx_cta_chip_load(struct tmx_cta_chip *c, const char *name, const struct tmx_sets *sets,
                                  struct tmx_err *err)
{
    char relative[TMX_PATH_SIZE], path[TMX_PATH_SIZE];
    *c = (struct tmx_cta_chip){0};
    for (size_t i = 0; sets && i < sets->n; i++) {
        const struct tmx_set *set = &sets->set[i];
        if (strncmp(set->key, "memory.", 7) != 0 && strncmp(set->key, "energy.", 7) != 0) {
            tmx_error_at(err, TMX_ECONFIG, set->file, set->line,
                         "expected memory.KEY=VALUE or energy.KEY=VALUE");
        }
    }
    snprintf(c->name, sizeof c->name, "%s", name);
    (void)(err->code || tmx_data_find(TMX_DATA_CHIP, name, relative, err) ||
           tmx_path_join(path, relative, "chip.cfg", err) ||
           tmx_memory_chip_load(&c->memory, path, sets, err) ||
           tmx_chip_energy_load(&c->energy, path, sets, err));
    return err->code;
}

enum tmx_status tmx_cta_policy_parse(const char *text, struct tmx_cta_policy_spec *p, struct tmx_err *err)
{
    char name[256], group[256] = "";
    struct tmx_config *cfg = NULL;
    *p = (struct tmx_cta_policy_spec){0};
    snprintf(p->text, sizeof p->text, "%s", text);
    snprintf(name, sizeof name, "%s", text);
    char *open = strchr(name, '(');
    if (open) {
        char *close = strrchr(open, ')');
        if (!close || close[1] != '\0') {
            tmx_error(err, TMX_ECONFIG, "policy \"%s\": expected NAME or NAME(KEY=VALUE,...)", text);
            return err->code;
        }
        *close = '\0';
        *open = '\0';
        for (char *c = open + 1; *c; c++) {
            if (*c == ',') {
                *c = ';';
            }
        }
        snprintf(group, sizeof group, "%s", open + 1);
    }
    const struct tmx_plugin *found;
    if (!err->code && !tmx_catalog_get(&tmx_builtin, TMX_LEVEL_CTA, name, &found, NULL, err) &&
        !tmx_config_parse(&cfg, group, text, err)) {
        p->policy = (const struct tmx_cta_policy *)found;
        (void)!tmx_plugin_state(found, tmx_config_root(cfg), NULL, &p->options, err);
    }
    tmx_config_close(cfg);
    return err->code;
}

void tmx_cta_policy_finish(struct tmx_cta_policy_spec *p)
{
    free(p->options);
    p->options = NULL;
}

/* A subset of cores, always on. */
struct fixed {
    size_t cores;
};

static void fixed_launch(void *state, const struct tmx_cta_view *view, struct tmx_cta_request *request)
{
    const struct fixed *f = state;
    for (size_t i = f->cores; i < view->n_core; i++) {
        request->state[i] = TMX_CORE_OFF;
        request->accept[i] = false;
    }
}

static const struct tmx_cta_policy fixed_policy = {.base = {.name = "fixed"}, .launch = fixed_launch};

struct search {
    const struct tmx_cta_chip *chip;
    const struct tmx_memory_program *const *program; /* one after the other, as the launches are counted */
    const struct tmx_memory_kernel *of;              /* the launch that is known */
    const struct tmx_cta_options *options;
    struct tmx_memory_program *one;       /* scratch */
    struct tmx_contention_result *result; /* scratch */
    double known[TMX_MAX_CORE + 1];       /* EDP of the launch `of`; 0: not computed */
    struct tmx_err *err;                  /* stays (base/err.h) */
};

/* EDP of one launch with n cores; launches that repeat are computed once. */
static double edp_of(void *ctx, size_t launch, size_t n)
{
    struct search *s = ctx;
    const struct tmx_memory_program *const *p = s->program;
    for (; launch >= (*p)->n; p++) {
        launch -= (*p)->n;
    }
    const struct tmx_memory_kernel *kernel = &(*p)->kernel[launch];
    if (s->of && kernel != s->of &&
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): a false difference costs time only */
        memcmp(kernel, s->of, sizeof *kernel) != 0) {
        memset(s->known, 0, sizeof s->known);
    }
    s->of = kernel;
    if (s->known[n] > 0 || s->err->code) {
        return s->known[n];
    }
    struct fixed f = {n};
    s->one->n = 1;
    s->one->kernel[0] = *kernel;
    memcpy(s->one->name, (*p)->name, sizeof s->one->name);
    const struct tmx_memory_program *list[] = {s->one};
    const struct tmx_contention_spec spec = {.chip = &s->chip->memory,
                                             .program = list,
                                             .n_program = 1,
                                             .policy = &fixed_policy,
                                             .policy_state = &f,
                                             .epoch_cycles = s->options->epoch_cycles,
                                             .seed = s->options->seed};
    (void)!tmx_contention_run(&spec, s->result, s->err);
    const struct tmx_energy e = tmx_chip_energy_of(&s->chip->energy, &s->result->ledger);
    s->known[n] = e.total_j * s->result->seconds;
    return s->known[n];
}

static void prepare(const struct tmx_cta_chip *chip, const struct tmx_memory_program *const *programs,
                    size_t n_launch, const struct tmx_cta_policy *policy, void *state,
                    const struct tmx_cta_options *o, struct tmx_err *err)
{
    struct search s = {.chip = chip, .program = programs, .options = o, .err = err};
    struct tmx_arena a = {0};
    TMX_TAKE(&a, s.one, 1);
    if (!TMX_TAKE(&a, s.result, 1)) {
        tmx_error(err, TMX_ENOMEM, "search of %s", programs[0]->name);
    } else {
        policy->prepare(state, n_launch, (size_t)chip->memory.cores, edp_of, &s);
    }
    tmx_arena_finish(&a);
}

/* An event is the end of a block or of an epoch, and looks at every core; a policy that searches runs every
 * launch with every number of cores. Measured on a 2.8 GHz Xeon. */
static enum tmx_status check_cost(const struct tmx_cta_chip *chip,
                                  const struct tmx_memory_program *const *programs, size_t n_program,
                                  const struct tmx_cta_policy_spec *p, const struct tmx_cta_options *o,
                                  struct tmx_err *err)
{
    const double event_core_s = 6e-7, cores = chip->memory.cores;
    double blocks = 0, epochs = 0;
    for (size_t i = 0; i < n_program; i++) {
        for (size_t l = 0; l < programs[i]->n; l++) {
            const struct tmx_memory_kernel *k = &programs[i]->kernel[l];
            blocks += k->blocks;
            epochs +=
                k->blocks * k->instr_per_warp * k->warps_per_block / (cores * k->ipc1 * o->epoch_cycles);
        }
    }
    const double runs = p->policy->prepare ? cores + 1 : 1;
    return tmx_cost_check((struct tmx_cost){.seconds = runs * (blocks + epochs) * cores * event_core_s}, err,
                          "%s under %s: %.3g blocks, %.3g epochs, %.0f cores%s", programs[0]->name, p->text,
                          blocks, epochs, cores, runs > 1 ? ", each number of cores" : "");
}

enum tmx_status tmx_cta_run(const struct tmx_cta_chip *chip, const struct tmx_memory_program *const *programs,
                            size_t n_program, const struct tmx_cta_policy_spec *p,
                            const struct tmx_cta_options *o, const struct tmx_cta_probe *probe,
                            struct tmx_cta_outcome *out, struct tmx_err *err)
{
    size_t n_launch = 0;
    for (size_t i = 0; i < n_program; i++) {
        n_launch += programs[i]->n;
    }
    if (n_launch > TMX_MAX_LAUNCH) {
        tmx_error(err, TMX_ECONFIG, "%s and those beside it have %zu launches; a run has at most %d",
                  programs[0]->name, n_launch, TMX_MAX_LAUNCH);
    }
    if (err->code || check_cost(chip, programs, n_program, p, o, err)) {
        return err->code;
    }
    const size_t size = p->policy->base.state_size ? p->policy->base.state_size : 1;
    void *state = malloc(size);
    if (!state) {
        return tmx_fail(err, TMX_ENOMEM, "%s: state of %zu bytes", p->policy->base.name, size);
    }
    memcpy(state, p->options, size);
    if (p->policy->prepare) {
        prepare(chip, programs, n_launch, p->policy, state, o, err);
    }
    const struct tmx_contention_spec spec = {.chip = &chip->memory,
                                             .program = programs,
                                             .n_program = n_program,
                                             .policy = p->policy,
                                             .policy_state = state,
                                             .epoch_cycles = o->epoch_cycles,
                                             .seed = o->seed,
                                             .probe = probe ? probe->epoch : NULL,
                                             .probe_ctx = probe ? probe->ctx : NULL};
    (void)(!err->code && tmx_contention_run(&spec, &out->result, err));
    free(state);
    if (err->code) {
        return err->code;
    }
    double lines = 0, waited = 0;
    for (size_t l = 0; l < out->result.n_launch; l++) {
        lines += out->result.launch[l].lines;
        waited += out->result.launch[l].latency_sum;
    }
    out->energy = tmx_chip_energy_of(&chip->energy, &out->result.ledger);
    out->edp_js = out->energy.total_j * out->result.seconds;
    out->latency_cycles = lines > 0 ? waited / lines : 0;
    out->ipc = out->result.thread_instr / out->result.cycles;
    out->cores = tmx_cta_mean_cores(&out->result, &out->result);
    return TMX_OK;
}

enum tmx_status tmx_cta_run_as(const struct tmx_cta_chip *chip,
                               const struct tmx_memory_program *const *programs, size_t n_program,
                               const char *policy, const struct tmx_cta_options *o,
                               const struct tmx_cta_probe *probe, struct tmx_cta_outcome *out,
                               struct tmx_err *err)
{
    struct tmx_cta_policy_spec p;
    tmx_cta_policy_parse(policy, &p, err);
    tmx_cta_run(chip, programs, n_program, &p, o, probe, out, err);
    tmx_cta_policy_finish(&p);
    return err->code;
}

double tmx_cta_mean_cores(const struct tmx_contention_result *r, const struct tmx_contention_result *weights)
{
    double sum = 0, weight = 0;
    const size_t n = r->n_launch < weights->n_launch ? r->n_launch : weights->n_launch;
    for (size_t l = 0; l < n; l++) {
        sum += r->launch[l].cores * weights->launch[l].seconds;
        weight += weights->launch[l].seconds;
    }
    return weight > 0 ? sum / weight : 0;
}

enum {
    BUDGET = 100000, /* warp instructions a run */
    FIT_ALL = 1,     /* of tmx_gate_fits: the knobs fitted to all policies */
};

/* ipc: of a core while all work */

struct tmx_table *tmx_cta_core_table(void)
{
    return tmx_table_of(
        "kernel first_launch:d launches:d warps:d lines_per_instr:4 ipc1_given:2 ipc1_sm_cycle:2 "
        "cpi1_given_cycles:2 cpi1_sm_cycle_cycles:2 mlp_given:2 mlp_sm_cycle:2 ipc_given:3 "
        "ipc_sm_cycle:3 fit_mean_error_pct:1 fit_worst_error_pct:1");
}

struct source { /* what sm_cycle needs to know of a kernel and a chip */
    struct tmx_gate_kernel kernel;
    struct tmx_gate_chip sm;
    const struct tmx_memory_chip *chip;
    uint64_t seed; /* of the instruction streams */
    char cache[TMX_PATH_SIZE];
    bool cached;
};

static void open_source(struct source *s, const char *kernel, const struct tmx_cta_chip *chip, uint64_t seed,
                        struct tmx_err *err)
{
    struct tmx_err no_cache = {0};
    *s = (struct source){.chip = &chip->memory, .seed = seed};
    if (!*chip->memory.sm) {
        tmx_error(err, TMX_ECONFIG, "chip %s: memory.sm names no SM, so sm_cycle cannot run", chip->name);
    }
    (void)(err->code || tmx_gate_chip_load(&s->sm, chip->memory.sm, NULL, err) ||
           tmx_gate_kernel_load(&s->kernel, kernel, err));
    s->cached = tmx_os_cache_dir(s->cache, sizeof s->cache, &no_cache) == TMX_OK;
}

/* Launches that sm_cycle cannot tell apart, and whose given parameters are one row of the comparison. */
static bool alike(const struct tmx_memory_kernel *a, const struct tmx_memory_kernel *b)
{
    return a->lines_per_instr == b->lines_per_instr && a->blocks_per_core == b->blocks_per_core &&
           a->warps_per_block == b->warps_per_block && a->ipc1 == b->ipc1 &&
           a->cpi1_cycles == b->cpi1_cycles && a->mlp == b->mlp;
}

/* path is the kernel's file. */
static void measure_program(struct tmx_memory_program *p, const struct source *s, const char *path, bool use,
                            struct tmx_table *compare, struct tmx_err *err)
{
    const struct tmx_memory_program given = *p;
    for (size_t i = 0; i < given.n && !err->code; i++) {
        struct tmx_memory_kernel measured = given.kernel[i];
        struct tmx_core_fit fit = {0};
        struct tmx_profile_key key = {.stats = s->kernel.stats,
                                      .knobs = s->sm.fit[FIT_ALL],
                                      .sm = s->sm.sm,
                                      .seed = s->seed,
                                      .budget = BUDGET};
        size_t n = 0, first = 0;
        while (!alike(&given.kernel[first], &given.kernel[i])) {
            first++;
        }
        if (first < i) {
            continue;
        }
        (void)(tmx_launch_profile_key(&key, &given.kernel[i], s->chip, err) ||
               tmx_profile_core(&key, s->cached ? s->cache : NULL, &fit, err));
        if (err->code && !err->file[0]) { /* a launch has no line */
            char why[sizeof err->msg];
            snprintf(why, sizeof why, "%s", err->msg);
            tmx_fail_at(err, err->code, path, 0, "kernel %s, launch %zu: %.800s", given.name, i + 1, why);
        }
        if (err->code) {
            return;
        }
        tmx_launch_profile_use(&measured, s->chip, &fit);
        for (size_t k = i; k < given.n; k++) {
            if (alike(&given.kernel[k], &given.kernel[i])) {
                n++;
                if (use) {
                    tmx_launch_profile_use(&p->kernel[k], s->chip, &fit);
                }
            }
        }
        const struct tmx_memory_kernel *of = &given.kernel[i];
        const struct tmx_share share[] = {{of, s->chip->cores}, {&measured, s->chip->cores}};
        double ipc[2], latency[2];
        for (int k = 0; k < 2 && compare; k++) {
            tmx_contention_rates(s->chip, &share[k], 1, 1, 1, &ipc[k], &latency[k]);
        }
        if (compare) {
            tmx_table_row(compare, "%s %zu %zu %d %g %g %g %g %g %g %g %g %g %g %g", given.name, i + 1, n,
                          of->blocks_per_core * of->warps_per_block, of->lines_per_instr, of->ipc1,
                          measured.ipc1, of->cpi1_cycles, measured.cpi1_cycles, of->mlp, measured.mlp, ipc[0],
                          ipc[1], 100 * fit.mean_error, 100 * fit.worst_error);
        }
    }
}

enum tmx_status tmx_cta_program_load(struct tmx_memory_program *program, const char *kernel,
                                     const struct tmx_cta_chip *chip, uint64_t seed,
                                     struct tmx_table *compare, struct tmx_err *err)
{
    char path[TMX_PATH_SIZE];
    struct source s;
    (void)(err->code || tmx_data_find(TMX_DATA_KERNEL, kernel, path, err) ||
           tmx_memory_program_load(program, path, &chip->memory, err));
    if (!err->code && (chip->memory.core != TMX_SOURCE_GIVEN || compare)) {
        open_source(&s, kernel, chip, seed, err);
        measure_program(program, &s, path, chip->memory.core == TMX_SOURCE_MEASURED, compare, err);
    }
    return err->code;
}

struct tmx_run_cta {
    int place, core;
    double epoch_cycles;
    uint64_t seed;                     /* the run's */
    struct tmx_cta_policy_spec policy; /* the choice of the level */
    struct tmx_cta_chip chip;
    struct tmx_cta_plan *plan; /* [n_kernel] */
};

static const char *const places[] = {"coldest", "spread", "order", NULL};
static const char *const cores[] = {"chip", "given", "sm_cycle", NULL}; /* 1 + enum tmx_core_source */
static const struct tmx_opt opts[] = {
    TMX_ROW_CHOICE(tmx_run_cta, place, places, "coldest",
                   "which SMs work: the coldest, those farthest apart, or the order of group tb"),
    TMX_ROW_CHOICE(tmx_run_cta, core, cores, "chip",
                   "per-core parameters of the kernels: given, measured by sm_cycle, or the chip's choice"),
    TMX_ROW_REAL(tmx_run_cta, epoch_cycles, "cycles", 1, 1e9, 2048,
                 "of the epoch model that makes the plans"),
    {0},
};

/* What it cost to find the plan: against a run that had it from the start, for which `known` has room. */
static void cost(const struct tmx_run_cta *c, const struct tmx_memory_program *program,
                 const struct tmx_cta_outcome *out, struct tmx_cta_outcome *known, struct tmx_cta_plan *plan,
                 struct tmx_err *err)
{
    const struct tmx_cta_options o = {.epoch_cycles = c->epoch_cycles, .seed = c->seed};
    const struct tmx_memory_program *list[] = {program};
    char text[64];
    if (out->result.ledger.n_clock > 1) { /* the profile runs at nominal clocks */
        for (size_t n = 0; n <= TMX_MAX_CORE; n++) {
            plan->delay_s += out->result.ledger.bin[0][n].seconds;
        }
        plan->energy_j = plan->delay_s * out->energy.total_j / out->result.seconds;
        return;
    }
    snprintf(text, sizeof text, "static_optimal(cores=%d)", (int)plan->sms);
    if (!tmx_cta_run_as(&c->chip, list, 1, text, &o, NULL, known, err)) {
        plan->delay_s = fmax(0, out->result.seconds - known->result.seconds);
        plan->energy_j = fmax(0, out->energy.total_j - known->energy.total_j);
    }
}

static void make_plan(const struct tmx_run_cta *c, const char *kernel, struct tmx_cta_plan *plan,
                      struct tmx_err *err)
{
    const struct tmx_cta_options o = {.epoch_cycles = c->epoch_cycles, .seed = c->seed};
    struct tmx_arena a = {0};
    struct tmx_memory_program *program = TMX_TAKE(&a, program, 1);
    struct tmx_cta_outcome *out = TMX_TAKE(&a, out, 2);
    const struct tmx_memory_program *list[] = {program};
    if (!out) {
        tmx_error(err, TMX_ENOMEM, "plan of %s", kernel);
    }
    tmx_cta_program_load(program, kernel, &c->chip, c->seed, NULL, err);
    if (!err->code && !tmx_cta_run(&c->chip, list, 1, &c->policy, &o, NULL, out, err)) {
        const size_t clock = out->result.ledger.n_clock - 1;
        *plan = (struct tmx_cta_plan){.memory = program->kernel[0],
                                      .sms = out->result.launch[0].cores,
                                      .core_clock = out->result.ledger.core_clock[clock],
                                      .memory_clock = out->result.ledger.memory_clock[clock]};
        cost(c, program, out, out + 1, plan, err);
    }
    tmx_arena_finish(&a);
}

static void make_plans(struct tmx_run *r, struct tmx_run_cta *c, const struct tmx_setting *group)
{
    if (r->n_kind != 1 || r->jobs) {
        tmx_run_fail(r, group, "cta: needs GPUs of one kind and no job level");
    }
    tmx_cta_chip_load(&c->chip, r->kind[0].name, NULL, &r->err);
    if ((size_t)c->chip.memory.cores != r->kind[0].chip.n_sm) {
        tmx_run_fail(r, group, "cta: memory.cores of chip %s is %d, it has %zu SMs", c->chip.name,
                     c->chip.memory.cores, r->kind[0].chip.n_sm);
    }
    c->chip.memory.core = c->core > 0 ? c->core - 1 : c->chip.memory.core;
    TMX_TAKE(&r->arena, c->plan, r->n_kernel);
    tmx_arena_check(&r->arena, &r->err);
    for (size_t k = 0; k < r->n_kernel && !r->err.code; k++) {
        make_plan(c, r->kernel_file[k].path, &c->plan[k], &r->err);
    }
}

static void open_cta(struct tmx_run *r)
{
    struct tmx_choice *choice = &r->sim_spec.choice[TMX_LEVEL_CTA];
    const struct tmx_setting *group = tmx_setting_group(r->root, "cta", &r->err);
    const char *policy = tmx_setting_word(group, "policy", "", &r->err);
    if (!group || strcmp(policy, "none") == 0) {
        return;
    }
    struct tmx_run_cta *c = r->cta = TMX_TAKE(&r->arena, c, 1);
    if (!c) {
        return;
    }
    c->seed = (uint64_t)r->options.seed;
    tmx_run_choose(r, TMX_LEVEL_CTA, "tcs", opts, c);
    c->policy = (struct tmx_cta_policy_spec){.policy = tmx_cta_of(choice), .options = choice->state};
    if (!r->err.code) {
        make_plans(r, c, group);
        tmx_run_locate(r, group);
    }
    if (!r->err.code) {
        const struct tmx_cta_policy *p = c->policy.policy;
        const bool off = !p->unused_core || p->unused_core(choice->state) == TMX_CORE_OFF;
        r->sim_spec.cta = (struct tmx_cta_spec){.kernel = r->kernel,
                                                .n_kernel = r->n_kernel,
                                                .plan = c->plan,
                                                .chip = c->chip.memory,
                                                .lend = p->lends,
                                                .power_gate = off,
                                                .gated_share = c->chip.energy.core_static_w > 0
                                                                   ? c->chip.energy.core_gated_w /
                                                                         c->chip.energy.core_static_w
                                                                   : 0,
                                                .place = c->place};
    }
}

static void write_plans(const struct tmx_run *r, struct tmx_writer *w)
{
    for (size_t k = 0; k < r->n_kernel; k++) {
        tmx_writer_comment(w, "%s: %g SMs, found in %.3g us", r->kernel[k].name, r->cta->plan[k].sms,
                           1e6 * r->cta->plan[k].delay_s);
    }
}

static void write_cta(const struct tmx_run *r, struct tmx_writer *w)
{
    if (r->cta) {
        tmx_run_choice_write(r, TMX_LEVEL_CTA, opts, r->cta, write_plans, w);
    }
}

const struct tmx_run_feature tmx_feature_cores = {.open = open_cta, .write = write_cta};

const struct tmx_keys tmx_cta_keys[] = {TMX_KEYS("cta", opts), {0}};
