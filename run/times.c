/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times that must be whole numbers of others, checked where they are written; how long a run takes. */
#include <math.h>
#include <string.h>

#include "core/base/config.h"
#include "run/state.h"

struct span {
    const char *group, *key; /* group NULL: at the root */
    double s;
    const char *of;
    double unit_s;
};

static bool is_multiple(double s, double unit_s)
{
    const double n = s / unit_s;
    return fabs(n - round(n)) <= 1e-6 * fmax(1, n);
}

/* Where the key is written; where it is a default, its group's or the root's line. */
static const struct tmx_setting *place_of(const struct tmx_setting *root, const struct span *t)
{
    const struct tmx_setting *group = t->group ? tmx_setting_member(root, t->group) : root;
    const struct tmx_setting *s = group ? tmx_setting_member(group, t->key) : NULL;
    const struct tmx_setting *tick = tmx_setting_member(root, t->of);
    return s ? s : tick ? tick : root;
}

enum tmx_status tmx_run_check_times(const struct tmx_run *r, const struct tmx_setting *root,
                                    struct tmx_err *err)
{
    const struct tmx_run_options *o = &r->options;
    const struct tmx_sensor_options *sensor = &r->sim_spec.sensor;
    const struct tmx_choice *choice = &r->sim_spec.choice[TMX_LEVEL_MIX];
    const struct tmx_mix_policy *mix = tmx_mix_of(choice);
    const struct span spans[] = {
        {NULL, "quantum_s", o->quantum_s, "tick_s", o->tick_s},
        {NULL, "warmup_s", o->warmup_s, "tick_s", o->tick_s},
        {NULL, "fan_period_s", r->topology.n_gpu > 0 ? o->fan_period_s : o->tick_s, "tick_s", o->tick_s},
        {"sensor", "period_s", sensor->period_s, "tick_s", o->tick_s},
        {"sensor", "delay_s", sensor->delay_s, "sensor.period_s", sensor->period_s},
        {"mix_policy", "slice_s", mix->slice_s ? mix->slice_s(choice->state) : o->tick_s, "tick_s",
         o->tick_s},
    };
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        const struct span *t = &spans[i];
        const bool too_short = t->s < t->unit_s * (1 - 1e-6) && t->s > 0;
        if (too_short || !is_multiple(t->s, t->unit_s)) {
            return tmx_fail_setting(err, place_of(root, t), "%s%s%s = %g s is not a multiple of %s = %g s",
                                    t->group ? t->group : "", t->group ? "." : "", t->key, t->s, t->of,
                                    t->unit_s);
        }
    }
    return TMX_OK;
}

/* Measured on one core of a 2.8 GHz Xeon, reduced model; the full grid solves its network every tick. */
static const double TICK_S = 1.2e-6, TICK_UNIT_S = 3e-8, TICK_NODE_S = 3e-6;
static const double GPU_BYTES = 2e4, UNIT_BYTES = 1e2, NODE_BYTES = 64, JOB_BYTES = 600;

static double total_ticks(const struct tmx_run *r)
{
    double last_s = 0, work_s = 0;
    const bool spreads =
        r->sync_job.n_member > 0 || tmx_place_of(&r->sim_spec.choice[TMX_LEVEL_PLACE])->widen;
    for (size_t j = 0; j < r->mix.n_entry; j++) {
        const double w = r->jobs ? 0 : r->mix.entry[j].work_s; /* jobs that are merged take less */
        last_s = fmax(last_s, r->mix.entry[j].arrival_s + (spreads ? 0 : w));
        work_s += w;
    }
    return (r->options.warmup_s + fmax(last_s, work_s / (double)r->n_gpu)) / r->options.tick_s;
}

struct tmx_cost tmx_run_cost(const struct tmx_run *r)
{
    struct tmx_cost c = {.bytes = JOB_BYTES * (double)r->mix.n_entry};
    const bool full = strcmp(r->options.method, "grid") == 0;
    const double ticks = total_ticks(r);
    for (size_t g = 0; g < r->n_gpu; g++) {
        const struct tmx_run_kind *k = &r->kind[r->kind_of_gpu[g]];
        const struct tmx_thermal_spec *spec = &k->stack.spec;
        const double units = (double)k->chip.floorplan.n_unit,
                     nodes = full ? (double)(spec->rows * spec->cols * (spec->n_layer + 2)) : 0;
        c.seconds += ticks * (TICK_S + TICK_UNIT_S * units + TICK_NODE_S * nodes);
        c.bytes += GPU_BYTES + UNIT_BYTES * units + NODE_BYTES * nodes;
    }
    return c;
}

enum tmx_status tmx_run_check_cost(const struct tmx_run *r, const struct tmx_setting *root,
                                   struct tmx_err *err)
{
    const struct tmx_setting *mix = tmx_setting_member(root, "mix");
    return tmx_setting_blame(
        mix ? mix : root,
        tmx_cost_check(tmx_run_cost(r), err,
                       "%.3g ticks of %g s (warmup_s, arrivals and work of %zu kernels) on "
                       "%zu GPU%s",
                       total_ticks(r), r->options.tick_s, r->mix.n_entry, r->n_gpu, r->n_gpu == 1 ? "" : "s"),
        err);
}
