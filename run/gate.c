/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "run/load/gate_files.h"

struct gate_options {
    int fit; /* index of tmx_gate_fits */
    int instructions;
};

struct chip_profiles { /* of one chip; kinds with it share them */
    struct tmx_gate_chip chip;
    struct tmx_gate_profile *profile; /* [n_kernel] owned */
    double *latency_cycles;           /* [n_kernel] owned; of the kernel's memory at the nominal clock */
};

struct tmx_run_gate {
    struct gate_options options;
    struct chip_profiles *made; /* [n_kind] owned; empty where an earlier kind has the chip */
    struct tmx_gate_kind *kind; /* [n_kind] owned */
    double error[2];            /* of asleep time, of slowdown */
};

static const struct tmx_opt opts[] = {
    TMX_ROW_CHOICE(gate_options, fit, tmx_gate_fits, "all", "fit of the instruction streams' knobs"),
    TMX_ROW_INT(gate_options, instructions, "warp instructions", 1000, 1e8, 100000, "of one profiling run"),
    {0},
};

/* Of every kernel its profile, which the tick reads at the latency memory has in core cycles. */
static void profile_chip(struct tmx_run *r, const char *name, struct chip_profiles *c,
                         const struct tmx_gate_policy *policy)
{
    struct tmx_run_gate *g = r->gate;
    char cache[TMX_PATH_SIZE];
    struct tmx_err no_cache = {0};
    const bool cached = tmx_os_cache_dir(cache, sizeof cache, &no_cache) == TMX_OK;
    tmx_run_try(r, tmx_gate_chip_load, &c->chip, name, NULL);
    TMX_TAKE(&r->arena, c->profile, r->n_kernel);
    TMX_TAKE(&r->arena, c->latency_cycles, r->n_kernel);
    tmx_arena_check(&r->arena, &r->err);
    for (size_t k = 0; !r->err.code && k < r->n_kernel; k++) {
        struct tmx_gate_kernel kernel;
        tmx_run_try(r, tmx_gate_kernel_load, &kernel, r->kernel_file[k].path);
        if (r->err.code) {
            return;
        }
        const struct tmx_profile_key key = {.stats = kernel.stats,
                                            .knobs = c->chip.fit[g->options.fit],
                                            .sm = c->chip.sm,
                                            .policy = policy,
                                            .gate = c->chip.gate,
                                            .seed = (uint64_t)r->options.seed,
                                            .budget = (uint64_t)g->options.instructions};
        c->latency_cycles[k] = key.stats.latency_cycles * key.knobs.latency;
        tmx_run_try(r, tmx_profile_gate, &key, cached ? cache : NULL, &c->profile[k]);
        g->error[0] = fmax(g->error[0], c->profile[k].asleep_error);
        g->error[1] = fmax(g->error[1], c->profile[k].slowdown_error);
    }
}

/* Every kind of GPU has the profiles of its own chip. */
static void profile_kinds(struct tmx_run *r, const struct tmx_gate_policy *policy)
{
    struct tmx_run_gate *g = r->gate;
    TMX_TAKE(&r->arena, g->made, r->n_kind);
    TMX_TAKE(&r->arena, g->kind, r->n_kind);
    tmx_arena_check(&r->arena, &r->err);
    for (size_t i = 0; i < r->n_kind && !r->err.code; i++) {
        size_t same = 0; /* the first kind with this chip */
        while (strcmp(r->kind[same].name, r->kind[i].name) != 0) {
            same++;
        }
        struct chip_profiles *c = &g->made[same];
        if (same == i) {
            profile_chip(r, r->kind[i].name, c, policy);
        }
        const struct tmx_gate_leakage *l = &c->chip.leakage;
        g->kind[i] = (struct tmx_gate_kind){.profile = c->profile,
                                            .latency_cycles = c->latency_cycles,
                                            .break_even_cycles = c->chip.gate.break_even_cycles,
                                            .chip_share = {l->int_w / l->chip_w, l->fp_w / l->chip_w,
                                                           c->chip.gate.gate_sfu ? l->sfu_w / l->chip_w : 0}};
    }
}

static void open_gate(struct tmx_run *r)
{
    struct gate_options o;
    tmx_run_choose(r, TMX_LEVEL_GATE, "none", opts, &o);
    const struct tmx_setting *group = tmx_run_member(r, "gate");
    if (tmx_setting_length(group) > 0 && !tmx_setting_member(group, "policy")) {
        tmx_run_fail(r, group, "gate.%s does nothing here: no gate.policy is given",
                     tmx_setting_name(tmx_setting_at(group, 0)));
    }
    const struct tmx_gate_policy *policy =
        r->err.code ? NULL : tmx_gate_of(&r->sim_spec.choice[TMX_LEVEL_GATE]);
    if (!policy || policy->wake == TMX_WAKE_NO_GATING || !TMX_TAKE(&r->arena, r->gate, 1)) {
        return;
    }
    r->gate->options = o;
    profile_kinds(r, policy);
    tmx_run_locate(r, tmx_run_member(r, "gate"));
    r->sim_spec.gate = (struct tmx_gate_spec){.kernel = r->kernel,
                                              .n_kernel = r->n_kernel,
                                              .kind = r->gate->kind,
                                              .n_kind = r->n_kind,
                                              .kind_of_gpu = r->kind_of_gpu};
}

static void write_gate(const struct tmx_run *r, struct tmx_writer *w)
{
    if (r->gate) {
        tmx_run_choice_write(r, TMX_LEVEL_GATE, opts, &r->gate->options, NULL, w);
    }
}

const struct tmx_run_feature tmx_feature_gating = {.open = open_gate, .write = write_gate};

double tmx_run_gate_points(const struct tmx_run *r, const struct tmx_metric *m)
{
    return r->gate ? 100 * r->gate->error[m->what] : 0;
}
