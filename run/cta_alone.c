/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/cta_alone.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "core/base/cost.h"
#include "run/load/data.h"
#include "run/registry.h"

enum tmx_status tmx_cta_chip_load(struct tmx_cta_chip *c, const char *name, const char *const *sets,
                                  size_t n_set, struct tmx_err *err)
{
    char relative[TMX_PATH_SIZE], path[TMX_PATH_SIZE];
    *c = (struct tmx_cta_chip){0};
    for (size_t i = 0; i < n_set; i++) {
        if (strncmp(sets[i], "memory.", 7) != 0 && strncmp(sets[i], "energy.", 7) != 0) {
            return tmx_fail(err, TMX_ECONFIG, "--set %s: expected memory.KEY=VALUE or energy.KEY=VALUE",
                            sets[i]);
        }
    }
    snprintf(c->name, sizeof c->name, "%s", name);
    enum tmx_status st = tmx_data_find(TMX_DATA_CHIP, name, relative, err);
    if (!st && snprintf(path, sizeof path, "%s/chip.cfg", relative) >= (int)sizeof path) {
        st = tmx_fail(err, TMX_EIO, "%s: path too long", relative);
    }
    st = st ? st : tmx_memory_chip_load(&c->memory, path, sets, n_set, err);
    return st ? st : tmx_chip_energy_load(&c->energy, path, sets, n_set, err);
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
            return tmx_fail(err, TMX_ECONFIG, "policy \"%s\": expected NAME or NAME(KEY=VALUE,...)", text);
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
    enum tmx_status st = tmx_catalog_get(&tmx_builtin, TMX_LEVEL_CTA, name, &found, NULL, err);
    if (st) {
        return st;
    }
    p->policy = (const struct tmx_cta_policy *)found;
    st = tmx_config_parse(&cfg, group, text, err);
    st = st ? st : tmx_plugin_state(&p->policy->base, tmx_config_root(cfg), NULL, &p->options, err);
    tmx_config_close(cfg);
    return st;
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
    enum tmx_status status;
    struct tmx_err *err;
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
    if (s->known[n] > 0 || s->status) {
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
    s->status = tmx_contention_run(&spec, s->result, s->err);
    const struct tmx_energy e = tmx_chip_energy_of(&s->chip->energy, &s->result->ledger);
    s->known[n] = e.total_j * s->result->seconds;
    return s->known[n];
}

static enum tmx_status prepare(const struct tmx_cta_chip *chip,
                               const struct tmx_memory_program *const *programs, size_t n_launch,
                               const struct tmx_cta_policy *policy, void *state,
                               const struct tmx_cta_options *o, struct tmx_err *err)
{
    struct search s = {.chip = chip, .program = programs, .options = o, .err = err};
    s.one = calloc(1, sizeof *s.one);
    s.result = calloc(1, sizeof *s.result);
    if (!s.one || !s.result) {
        s.status = tmx_fail(err, TMX_ENOMEM, "search of %s", programs[0]->name);
    } else {
        policy->prepare(state, n_launch, (size_t)chip->memory.cores, edp_of, &s);
    }
    free(s.one);
    free(s.result);
    return s.status;
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
    const size_t size = p->policy->base.state_size ? p->policy->base.state_size : 1;
    size_t n_launch = 0;
    for (size_t i = 0; i < n_program; i++) {
        n_launch += programs[i]->n;
    }
    if (n_launch > TMX_MAX_LAUNCH) {
        return tmx_fail(err, TMX_ECONFIG, "%s and those beside it have %zu launches; a run has at most %d",
                        programs[0]->name, n_launch, TMX_MAX_LAUNCH);
    }
    const enum tmx_status affordable = check_cost(chip, programs, n_program, p, o, err);
    if (affordable) {
        return affordable;
    }
    void *state = malloc(size);
    if (!state) {
        return tmx_fail(err, TMX_ENOMEM, "%s: state of %zu bytes", p->policy->base.name, size);
    }
    memcpy(state, p->options, size);
    enum tmx_status st =
        p->policy->prepare ? prepare(chip, programs, n_launch, p->policy, state, o, err) : TMX_OK;
    const struct tmx_contention_spec spec = {.chip = &chip->memory,
                                             .program = programs,
                                             .n_program = n_program,
                                             .policy = p->policy,
                                             .policy_state = state,
                                             .epoch_cycles = o->epoch_cycles,
                                             .seed = o->seed,
                                             .probe = probe ? probe->epoch : NULL,
                                             .probe_ctx = probe ? probe->ctx : NULL};
    st = st ? st : tmx_contention_run(&spec, &out->result, err);
    free(state);
    if (st) {
        return st;
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

enum tmx_status tmx_cta_optimum(const struct tmx_cta_chip *chip,
                                const struct tmx_memory_program *const *programs, size_t n_program,
                                const struct tmx_cta_options *o, struct tmx_cta_outcome *out,
                                struct tmx_err *err)
{
    struct tmx_cta_policy_spec p;
    enum tmx_status st = tmx_cta_policy_parse("static_optimal", &p, err);
    st = st ? st : tmx_cta_run(chip, programs, n_program, &p, o, NULL, out, err);
    tmx_cta_policy_finish(&p);
    return st;
}
