/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/opt.h"
#include "papers/warped_gates_runs.h"
#include "run/load/gate_code.h"
#include "sched/sched.h"

enum { MAX_SETS = 64, FIT_CONVPG = 0 };

static const struct tmx_opt root_opts[] = {
    TMX_ROW_INT(tmx_wg, instructions, "warp instructions", 1000, 1e9, 300000, "of one run"),
    TMX_ROW_INT(tmx_wg, seed, "1", 0, 1e9, NAN, "of the instruction streams, the first"),
    TMX_ROW_INT(tmx_wg, seeds, "1", 1, 1000, 1, "so many: the paper's values beside the means"),
    TMX_ROW_TEXT(tmx_wg, chip, "gtx480", "whose SM"),
    {0},
};
static const char *const root_also[] = {"name",
                                        "kind",
                                        "doc",
                                        "source",
                                        "base",
                                        "sweep_bet",
                                        "sweep_wakeup",
                                        "sweep_idle_detect",
                                        "sweep_policies",
                                        "sweep_idle_detect_policies",
                                        "kernels",
                                        "compiled",
                                        "values",
                                        NULL};

static enum tmx_status load_kernels(struct tmx_wg *s, const struct tmx_suite_call *call, struct tmx_err *err)
{
    const struct tmx_setting *list;
    enum tmx_status st = tmx_setting_texts(call->root, "kernels", 1, TMX_GATE_KERNELS, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        const struct tmx_setting *e = tmx_setting_at(list, i);
        st = tmx_setting_blame(e, tmx_gate_kernel_load(&s->kernel[i], tmx_setting_text(e), err), err);
    }
    s->n_kernel = tmx_setting_length(list);
    return st;
}

/* Every kernel that the benchmarks of list `compiled` have code of. */
static enum tmx_status load_code(struct tmx_wg *s, const struct tmx_suite_call *call, struct tmx_err *err)
{
    const struct tmx_setting *list = NULL;
    enum tmx_status st = tmx_setting_texts(call->root, "compiled", 0, TMX_GATE_KERNELS, &list, err);
    for (size_t i = 0; !st && i < tmx_setting_length(list); i++) {
        struct tmx_gate_code code[TMX_GATE_CODES];
        const struct tmx_setting *e = tmx_setting_at(list, i);
        size_t n = 0;
        st = tmx_setting_blame(e, tmx_gate_code_load(tmx_setting_text(e), code, &n, err), err);
        for (size_t k = 0; k < n; k++) {
            if (s->n_code == TMX_GATE_KERNELS) {
                tmx_gate_code_finish(&code[k]);
                st = tmx_fail_setting(err, e, "compiled: more than %d kernels", TMX_GATE_KERNELS);
                continue;
            }
            snprintf(s->code_name[s->n_code].name, sizeof s->code_name[0].name, "%s", code[k].name);
            s->code[s->n_code++] = code[k].stream;
        }
    }
    return st;
}

static enum tmx_status load_chip(struct tmx_wg *s, const struct tmx_suite_call *call, struct tmx_err *err)
{
    const char *sets[MAX_SETS];
    size_t n = 0;
    if (call->n_set > MAX_SETS) {
        return tmx_fail(err, TMX_ERANGE, "%zu overrides, at most %d", call->n_set, MAX_SETS);
    }
    for (size_t i = 0; i < call->n_set; i++) {
        sets[n++] = call->set[i] + strlen("base."); /* overrides of the SM: --set gate.idle_detect_cycles=8 */
    }
    return tmx_gate_chip_load(&s->sm, s->chip, sets, n, err);
}

static enum tmx_status add_case(struct tmx_wg *s, const struct tmx_gate_case *add, struct tmx_err *err)
{
    for (size_t i = 0; i < s->n_case; i++) {
        const struct tmx_gate_case *c = &s->gate_case[i];
        if (c->policy == add->policy && c->break_even_cycles == add->break_even_cycles &&
            c->wakeup_cycles == add->wakeup_cycles && c->idle_detect_cycles == add->idle_detect_cycles) {
            return TMX_OK;
        }
    }
    if (s->n_case == TMX_GATE_CASES) {
        return tmx_fail(err, TMX_ERANGE, "more than %d combinations of policies and times", TMX_GATE_CASES);
    }
    s->gate_case[s->n_case++] = *add;
    return TMX_OK;
}

enum sweep { BREAK_EVEN, WAKE_UP, IDLE_DETECT, N_SWEEP };
static const struct {
    const char *key, *policies, *name; /* name: of the variant, before the cycles */
} sweeps[] = {{"sweep_bet", "sweep_policies", "break-even "},
              {"sweep_wakeup", "sweep_policies", "wake-up "},
              {"sweep_idle_detect", "sweep_idle_detect_policies", "idle detect "}};

static struct tmx_gate_case case_of(const struct tmx_wg *s, const struct tmx_gate_policy *policy,
                                    enum sweep sweep, int cycles)
{
    struct tmx_gate_case c = {policy, s->sm.gate.break_even_cycles, s->sm.gate.wakeup_cycles, 0};
    int *const what[] = {&c.break_even_cycles, &c.wakeup_cycles, &c.idle_detect_cycles};
    *what[sweep] = cycles;
    return c;
}

static enum tmx_status add_sweep(struct tmx_wg *s, const struct tmx_suite_call *call, enum sweep sweep,
                                 struct tmx_err *err)
{
    const struct tmx_setting *values, *policies = NULL;
    const char *key = sweeps[sweep].policies;
    enum tmx_status st = tmx_setting_list(call->root, sweeps[sweep].key, 0, TMX_GATE_CASES, &values, err);
    st = st ? st : tmx_setting_texts(call->root, key, 0, TMX_GATE_CASES, &policies, err);
    for (size_t p = 0; !st && p < tmx_setting_length(policies); p++) {
        const struct tmx_setting *name = tmx_setting_at(policies, p);
        const struct tmx_gate_policy *policy = tmx_gate_find(tmx_setting_text(name));
        if (!policy) {
            return tmx_fail_setting(err, name, "%s: unknown policy \"%s\"", key, tmx_setting_text(name));
        }
        for (size_t i = 0; !st && i < tmx_setting_length(values); i++) {
            const struct tmx_setting *e = tmx_setting_at(values, i);
            const int64_t cycles = tmx_setting_is(e, TMX_SETTING_INTEGER) ? tmx_setting_integer(e) : 0;
            if (cycles < 1 || cycles > 1000) {
                return tmx_fail_setting(err, e, "%s: expected cycles from 1 to 1000", sweeps[sweep].key);
            }
            const struct tmx_gate_case c = case_of(s, policy, sweep, (int)cycles);
            st = add_case(s, &c, err);
        }
    }
    return st;
}

static void make_parts(struct tmx_wg *s, const struct tmx_suite_call *call)
{
    static const struct {
        const char *name;
        bool sweeps;
        double launch_gap; /* factor on the fit's */
        bool code;         /* kernels with compiled code */
    } parts[TMX_WG_PARTS] = {
        {"", true, 1, false}, {"no launch gaps", false, 0, false}, {"compiled code", false, 1, true}};
    for (size_t p = 0; p < TMX_WG_PARTS; p++) {
        struct tmx_wg_part *part = &s->part[p];
        part->name = parts[p].name;
        part->sm = s->sm;
        part->sm.fit[FIT_CONVPG].launch_gap *= parts[p].launch_gap;
        part->plan = (struct tmx_gate_plan){.chip = &part->sm,
                                            .kernel = parts[p].code ? s->code_name : s->kernel,
                                            .n_kernel = parts[p].code ? s->n_code : s->n_kernel,
                                            .trace = parts[p].code ? s->code : NULL,
                                            .gate = s->gate_case,
                                            .n_case = parts[p].sweeps ? s->n_case : s->n_plain,
                                            .first_fit = FIT_CONVPG,
                                            .n_fit = 1,
                                            .budget = (uint64_t)s->instructions,
                                            .n_worker = call->n_worker,
                                            .quiet = call->quiet};
    }
}

enum tmx_status tmx_wg_open(struct tmx_wg *s, const struct tmx_suite_call *call, struct tmx_err *err)
{
    enum tmx_status st = tmx_opt_read(root_opts, s, call->root, root_also, err);
    st = st ? st : load_chip(s, call, err);
    st = st ? st : load_kernels(s, call, err);
    st = st ? st : load_code(s, call, err);
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; !st && *p; p++) {
        const struct tmx_gate_case c = case_of(s, *p, BREAK_EVEN, s->sm.gate.break_even_cycles);
        st = add_case(s, &c, err);
    }
    s->n_plain = s->n_case;
    for (int i = 0; !st && i < N_SWEEP; i++) {
        st = add_sweep(s, call, (enum sweep)i, err);
    }
    make_parts(s, call);
    return st;
}

enum tmx_status tmx_wg_run(struct tmx_wg *s, struct tmx_err *err)
{
    enum tmx_status st = TMX_OK;
    for (size_t p = 0; !st && p < TMX_WG_PARTS; p++) {
        struct tmx_wg_part *part = &s->part[p];
        const size_t n = part->plan.n_kernel * part->plan.n_case;
        if (n == 0) {
            continue;
        }
        part->result = calloc((size_t)s->seeds * n, sizeof *part->result);
        st = part->result ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "results");
        for (size_t seed = 0; !st && seed < (size_t)s->seeds; seed++) {
            part->plan.seed = (uint64_t)s->seed + seed;
            for (size_t k = 0; k < s->n_code; k++) {
                s->code[k].seed = tmx_mix64(part->plan.seed, k, 3);
            }
            st = tmx_gate_run(&part->plan, &part->result[seed * n], err);
        }
        part->plan.seed = (uint64_t)s->seed;
    }
    return st;
}

size_t tmx_wg_find_case(const struct tmx_gate_plan *plan, const struct tmx_gate_case *want)
{
    size_t i = 0;
    while (i < plan->n_case && (plan->gate[i].policy != want->policy ||
                                plan->gate[i].break_even_cycles != want->break_even_cycles ||
                                plan->gate[i].wakeup_cycles != want->wakeup_cycles ||
                                plan->gate[i].idle_detect_cycles != want->idle_detect_cycles)) {
        i++;
    }
    return i;
}

bool tmx_wg_find_variant(const struct tmx_wg *s, const char *variant, const struct tmx_gate_policy *policy,
                         const struct tmx_wg_part **part, size_t *gate_case)
{
    struct tmx_gate_case c = case_of(s, policy, BREAK_EVEN, s->sm.gate.break_even_cycles);
    bool known = false;
    *part = &s->part[0];
    for (size_t p = 0; p < TMX_WG_PARTS; p++) {
        const bool is = s->part[p].plan.n_kernel > 0 && strcmp(s->part[p].name, variant) == 0;
        known = known || is;
        *part = is ? &s->part[p] : *part;
    }
    for (int i = 0; i < N_SWEEP; i++) {
        const size_t n = strlen(sweeps[i].name);
        if (strncmp(variant, sweeps[i].name, n) == 0) {
            known = true;
            c = case_of(s, policy, (enum sweep)i, (int)strtol(variant + n, NULL, 10));
        }
    }
    *gate_case = tmx_wg_find_case(&(*part)->plan, &c);
    return known && *gate_case < (*part)->plan.n_case;
}

void tmx_wg_finish(struct tmx_wg *s)
{
    for (size_t p = 0; p < TMX_WG_PARTS; p++) {
        free(s->part[p].result);
    }
    for (size_t k = 0; k < s->n_code; k++) {
        tmx_stream_finish(&s->code[k]);
    }
}
