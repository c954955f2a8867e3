/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/cta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "run/choose.h"
#include "run/cta_core.h"

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
                   "per-core parameters of the kernels: given, measured by sm_cycle, or as the chip says"),
    TMX_ROW_REAL(tmx_run_cta, epoch_cycles, "cycles", 1, 1e9, 2048,
                 "of the epoch model that makes the plans"),
    {0},
};

/* What it cost to find the plan: against a run that had it from the start. */
static enum tmx_status cost(const struct tmx_run_cta *c, const struct tmx_memory_program *program,
                            const struct tmx_cta_outcome *out, struct tmx_cta_plan *plan, struct tmx_err *err)
{
    const struct tmx_cta_options o = {.epoch_cycles = c->epoch_cycles, .seed = c->seed};
    const struct tmx_memory_program *list[] = {program};
    struct tmx_cta_policy_spec fixed;
    char text[64];
    if (out->result.ledger.n_clock > 1) { /* the profile runs at nominal clocks */
        for (size_t n = 0; n <= TMX_MAX_CORE; n++) {
            plan->delay_s += out->result.ledger.bin[0][n].seconds;
        }
        plan->energy_j = plan->delay_s * out->energy.total_j / out->result.seconds;
        return TMX_OK;
    }
    struct tmx_cta_outcome *known = calloc(1, sizeof *known);
    if (!known) {
        return tmx_fail(err, TMX_ENOMEM, "plan of %s", program->name);
    }
    snprintf(text, sizeof text, "static_optimal(cores=%d)", (int)plan->sms);
    enum tmx_status st = tmx_cta_policy_parse(text, &fixed, err);
    st = st ? st : tmx_cta_run(&c->chip, list, 1, &fixed, &o, NULL, known, err);
    if (!st) {
        plan->delay_s = fmax(0, out->result.seconds - known->result.seconds);
        plan->energy_j = fmax(0, out->energy.total_j - known->energy.total_j);
    }
    tmx_cta_policy_finish(&fixed);
    free(known);
    return st;
}

static enum tmx_status make_plan(const struct tmx_run_cta *c, const char *kernel, struct tmx_cta_plan *plan,
                                 struct tmx_err *err)
{
    const struct tmx_cta_options o = {.epoch_cycles = c->epoch_cycles, .seed = c->seed};
    struct tmx_memory_program *program = calloc(1, sizeof *program);
    struct tmx_cta_outcome *out = calloc(1, sizeof *out);
    const struct tmx_memory_program *list[] = {program};
    enum tmx_status st = program && out ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "plan of %s", kernel);
    st = st ? st : tmx_cta_program_load(program, kernel, &c->chip, c->seed, NULL, err);
    st = st ? st : tmx_cta_run(&c->chip, list, 1, &c->policy, &o, NULL, out, err);
    if (!st) {
        const size_t clock = out->result.ledger.n_clock - 1;
        *plan = (struct tmx_cta_plan){.memory = program->kernel[0],
                                      .sms = out->result.launch[0].cores,
                                      .core_clock = out->result.ledger.core_clock[clock],
                                      .memory_clock = out->result.ledger.memory_clock[clock]};
        st = cost(c, program, out, plan, err);
    }
    free(program);
    free(out);
    return st;
}

static enum tmx_status make_plans(struct tmx_run *r, struct tmx_run_cta *c, const struct tmx_setting *group,
                                  struct tmx_err *err)
{
    if (r->n_kind != 1 || r->jobs) {
        return tmx_fail_setting(err, group, "cta: needs GPUs of one kind and no job level");
    }
    enum tmx_status st = tmx_cta_chip_load(&c->chip, r->kind[0].name, NULL, 0, err);
    if (!st && (size_t)c->chip.memory.cores != r->kind[0].chip.n_sm) {
        st = tmx_fail_setting(err, group, "cta: memory.cores of chip %s is %d, it has %zu SMs", c->chip.name,
                              c->chip.memory.cores, r->kind[0].chip.n_sm);
    }
    c->chip.memory.core = c->core > 0 ? c->core - 1 : c->chip.memory.core;
    c->plan = calloc(r->n_kernel + 1, sizeof *c->plan);
    if (!st && !c->plan) {
        st = tmx_fail(err, TMX_ENOMEM, "plans of %zu kernels", r->n_kernel);
    }
    for (size_t k = 0; k < r->n_kernel && !st; k++) {
        st = make_plan(c, r->kernel_file[k].path, &c->plan[k], err);
    }
    return st;
}

enum tmx_status tmx_run_cta_open(struct tmx_run *r, const struct tmx_setting *root, struct tmx_err *err)
{
    struct tmx_choice *choice = &r->sim_spec.choice[TMX_LEVEL_CTA];
    const struct tmx_setting *group;
    const char *policy = "";
    enum tmx_status st = tmx_setting_group(root, "cta", &group, err);
    st = st ? st : tmx_setting_word(group, "policy", "", &policy, err);
    if (st || !group || strcmp(policy, "none") == 0) {
        return st;
    }
    struct tmx_run_cta *c = calloc(1, sizeof *c);
    if (!c) {
        return tmx_fail(err, TMX_ENOMEM, "group cta");
    }
    r->cta = c;
    c->seed = (uint64_t)r->options.seed;
    st = tmx_run_choose(r, root, TMX_LEVEL_CTA, "tcs", opts, c, err);
    c->policy = (struct tmx_cta_policy_spec){.policy = tmx_cta_of(choice), .options = choice->state};
    st = st ? st : tmx_setting_blame(group, make_plans(r, c, group, err), err);
    if (!st) {
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
    return st;
}

static void write_plans(const struct tmx_run *r, FILE *out)
{
    for (size_t k = 0; k < r->n_kernel; k++) {
        fprintf(out, "    # %s: %g SMs, found in %.3g us\n", r->kernel[k].name, r->cta->plan[k].sms,
                1e6 * r->cta->plan[k].delay_s);
    }
}

void tmx_run_cta_write(const struct tmx_run *r, enum tmx_resolved what, FILE *out)
{
    if (r->cta) {
        tmx_run_choice_write(r, TMX_LEVEL_CTA, opts, r->cta, write_plans, what, out);
    }
}

void tmx_run_cta_close(struct tmx_run *r)
{
    if (r->cta) {
        free(r->cta->plan);
        free(r->cta);
        r->cta = NULL;
    }
}
