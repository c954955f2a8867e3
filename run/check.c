/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys that cannot act: thresholds the wrong way round or beyond the trip point, keys of what a run does not
 * have. */
#include <math.h>
#include <string.h>

#include <thermix/policy.h>

#include "base/config.h"
#include "base/plausible.h"
#include "base/text.h"
#include "run/state.h"

const char *tmx_run_key_unused(const struct tmx_run *r, const char *key)
{
    static const char *const of_topology[] = {"chip", "gpus"};
    static const char *const without[] = {"link", "fan_period_s", "fan", "fan_failures", "inlet", "loop"};
    const bool topology = r->options.topology[0] != '\0';
    const char *const *names = topology ? of_topology : without;
    const size_t n =
        topology ? sizeof of_topology / sizeof of_topology[0] : sizeof without / sizeof without[0];
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], key) == 0) {
            return topology ? "the topology gives the GPUs and chips"
                            : "fans and links are those of a topology, and none is given";
        }
    }
    if (!r->serves && strcmp(key, "route") == 0) {
        return "no language model is served (group serve)";
    }
    return r->serves && strcmp(key, "mix") == 0 ? "group serve is the workload" : NULL;
}

/* A real option of a chosen policy; NULL when it has none of that name. */
static double *option(const struct tmx_choice *c, const char *key)
{
    for (const struct tmx_opt *o = c->policy ? c->policy->opts : NULL; o && o->key; o++) {
        if (o->type == TMX_OPT_REAL && strcmp(o->key, key) == 0) {
            return (double *)(void *)((char *)c->state + o->offset);
        }
    }
    return NULL;
}

static const struct tmx_setting *place(const struct tmx_run *r, size_t choice, const char *key)
{
    const struct tmx_setting *group = tmx_run_member(r, tmx_choice_keys[choice]);
    return group ? tmx_setting_nearest(group, key) : r->root;
}

bool tmx_run_unread(const struct tmx_run *r)
{
    bool any = false;
    for (size_t i = 0; i < TMX_N_CHOICE; i++) {
        any = any || r->unread[i];
    }
    return any;
}

/* emergency_below_trip_k and release_below_trip_k: the thresholds of dtm and mix_policy follow the trip
 * point. */
static void relative(struct tmx_run *r, const double *trip_c)
{
    static const size_t levels[] = {TMX_LEVEL_DTM, TMX_LEVEL_MIX, TMX_LEVEL_PLACE};
    const struct {
        const char *root_key, *key;
        double below_k;
    } rows[] = {{"emergency_below_trip_k", "emergency_c", r->options.emergency_below_trip_k},
                {"release_below_trip_k", "release_c", r->options.release_below_trip_k}};
    for (size_t i = 0; i < 2; i++) {
        size_t n = 0;
        if (rows[i].below_k < 0) {
            continue;
        }
        if (!trip_c) {
            tmx_run_fail(r, tmx_run_member(r, rows[i].root_key), "%s: throttle.policy has no trip point",
                         rows[i].root_key);
            return;
        }
        for (size_t k = 0; k < sizeof levels / sizeof levels[0]; k++) {
            struct tmx_choice *c = &r->sim_spec.choice[levels[k]];
            double *v = option(c, rows[i].key);
            const double wanted = *trip_c - rows[i].below_k;
            const struct tmx_setting *given =
                tmx_setting_member(tmx_run_member(r, tmx_choice_keys[levels[k]]), rows[i].key);
            if (v && given && *v != wanted) {
                tmx_run_fail(r, given, "%s.%s = %g, but %s = %g under a trip point of %g degC is %g",
                             tmx_choice_keys[levels[k]], rows[i].key, *v, rows[i].root_key, rows[i].below_k,
                             *trip_c, wanted);
            }
            if (v) {
                *v = wanted;
                n++;
            }
        }
        if (n == 0 && !tmx_run_unread(r)) {
            tmx_run_fail(r, tmx_run_member(r, rows[i].root_key), "%s: no policy of this run has %s",
                         rows[i].root_key, rows[i].key);
        }
    }
}

/* Two options of one policy, or a board's where the option is 0: the first is not above the second. */
static const struct {
    size_t choice;
    const char *low, *high;
    size_t low_board, high_board; /* offsets in struct tmx_chip_board */
} orders[] = {
#define BOARD(field) offsetof(struct tmx_chip_board, field)
    {TMX_LEVEL_DTM, "target_c", "slowdown_c", BOARD(target_c), BOARD(slowdown_c)},
    {TMX_LEVEL_DTM, "target_c", "shutdown_c", BOARD(target_c), BOARD(shutdown_c)},
    {TMX_LEVEL_DTM, "min_hz", "max_hz", SIZE_MAX, SIZE_MAX},
    {TMX_LEVEL_DTM, "slowdown_c", "shutdown_c", BOARD(slowdown_c), BOARD(shutdown_c)},
    {TMX_LEVEL_MIX, "min_w", "max_w", BOARD(power_min_w), BOARD(power_w)},
#undef BOARD
};

static double of_board(const struct tmx_chip_board *board, const double *option_, size_t offset)
{
    double v = option_ ? *option_ : 0;
    if (option_ && v == 0 && offset < sizeof *board) {
        memcpy(&v, (const char *)board + offset, sizeof v);
    }
    return v;
}

static void check_boards(struct tmx_run *r)
{
    const struct tmx_setting *forecast = tmx_run_member(r, "forecast");
    if (tmx_setting_length(forecast) > 0 && !tmx_run_unread(r) &&
        !tmx_mix_of(&r->sim_spec.choice[TMX_LEVEL_MIX])->foresees) {
        tmx_run_fail(r, forecast, "forecast does nothing here: mix policy %s does not look ahead",
                     r->sim_spec.choice[TMX_LEVEL_MIX].policy->name);
    }
    const struct tmx_choice *dtm = &r->sim_spec.choice[TMX_LEVEL_DTM];
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        const struct tmx_choice *c = &r->sim_spec.choice[orders[i].choice];
        const double *low = option(c, orders[i].low), *high = option(c, orders[i].high);
        for (size_t k = 0; k < r->n_kind; k++) {
            const struct tmx_chip_board *board = &r->kind[k].chip.board;
            const double a = of_board(board, low, orders[i].low_board),
                         b = of_board(board, high, orders[i].high_board);
            if (a > 0 && b > 0 && a > b) {
                const bool of_low = *low > 0;
                tmx_run_fail(r, place(r, orders[i].choice, of_low ? orders[i].low : orders[i].high),
                             "%s.%s = %g%s is above %s = %g%s", tmx_choice_keys[orders[i].choice],
                             orders[i].low, a, of_low ? "" : ", the board's,", orders[i].high, b,
                             *high > 0 ? "" : ", the board's");
            }
        }
    }
    const double *node_w = option(&r->sim_spec.choice[TMX_LEVEL_MIX], "node_w");
    if (node_w && dtm->policy && !tmx_dtm_of(dtm)->caps && !tmx_run_unread(r)) {
        tmx_run_fail(r, place(r, TMX_LEVEL_MIX, "node_w"),
                     "mix policy %s: a power cap, but no dtm policy of this run keeps caps; there is "
                     "dtm = { policy = \"boost\"; }",
                     r->sim_spec.choice[TMX_LEVEL_MIX].policy->name);
    }
}

/* On the command line, not in a file? */
static bool typed(const struct tmx_setting *s)
{
    const char *file = tmx_setting_file(s);
    return file && strncmp(file, "--set", strlen("--set")) == 0;
}

static void check_keys(struct tmx_run *r)
{
    static const size_t levels[] = {TMX_SAFETY, TMX_LEVEL_DTM, TMX_LEVEL_MIX, TMX_LEVEL_PLACE};
    const struct tmx_choice *safety = &r->sim_spec.choice[TMX_SAFETY];
    const struct tmx_setting *topology = tmx_run_member(r, "topology");
    for (size_t i = 0; i < tmx_setting_length(r->root); i++) {
        const struct tmx_setting *s = tmx_setting_at(r->root, i);
        const char *why = tmx_run_key_unused(r, tmx_setting_name(s));
        const bool replaced = /* --set topology= takes the place of the file's chip */
            topology && typed(topology) && !typed(s) && r->options.gpus == 1 &&
            strcmp(tmx_setting_name(s), "chip") == 0;
        if (why && !replaced) {
            tmx_run_fail(r, s, "%s does nothing here: %s", tmx_setting_name(s), why);
        }
    }
    if (tmx_dtm_of(safety)->govern && !tmx_dtm_of(safety)->guard) {
        tmx_run_fail(r, place(r, TMX_SAFETY, "policy"),
                     "throttle.policy = \"%s\" cannot stop a core; there is throttle, none",
                     safety->policy->name);
    }
    if (!r->options.topology[0] && r->options.gpus == 1 && strncmp(r->options.policy, "MG-", 3) == 0 &&
        !r->err.code) {
        tmx_warn("policy = \"%s\" places kernels among several GPUs; this run has one", r->options.policy);
    }
    const double *trip_c = option(safety, "trip_c");
    relative(r, trip_c);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const size_t l = levels[i];
        const char *high_key = l == TMX_SAFETY ? "trip_c" : "emergency_c";
        const double *high = option(&r->sim_spec.choice[l], high_key),
                     *low = option(&r->sim_spec.choice[l], "release_c");
        if (high && low && *low > *high) {
            tmx_run_fail(r, place(r, l, "release_c"), "%s.release_c = %g is above %s = %g",
                         tmx_choice_keys[l], *low, high_key, *high);
        }
        if (l != TMX_SAFETY && high && trip_c && *high > *trip_c && !r->err.code) {
            tmx_warn("%s.emergency_c = %g cannot act: throttle.trip_c = %g stops the clock before",
                     tmx_choice_keys[l], *high, *trip_c);
        }
    }
}

void tmx_run_whole(struct tmx_run *r, const char *path, double s, double *value, const char *of,
                   double unit_s)
{
    const double units = s / unit_s;
    const bool too_short = s < unit_s * (1 - 1e-6) && s > 0;
    if (!too_short && fabs(units - round(units)) <= 1e-6 * fmax(1, units)) {
        return;
    }
    if (value && !tmx_setting_find(r->root, path)) {
        *value = ceil(units - 1e-9) * unit_s;
    } else {
        tmx_run_fail(r, tmx_run_place(r, path), "%s = %g s is not a multiple of %s = %g s", path, s, of,
                     unit_s);
    }
}

/* After the chips are read. */
static void check_node(struct tmx_run *r)
{
    struct tmx_run_options *o = &r->options;
    struct tmx_sensor_options *sensor = &r->sim_spec.sensor;
    struct tmx_sensor_delay *delay = sensor->of[TMX_SENSOR_delay];
    const struct tmx_choice *mix = &r->sim_spec.choice[TMX_LEVEL_MIX];
    check_boards(r);
    if (r->err.code) {
        return;
    }
    tmx_run_whole(r, "quantum_s", o->quantum_s, &o->quantum_s, "tick_s", o->tick_s);
    tmx_run_whole(r, "warmup_s", o->warmup_s, &o->warmup_s, "tick_s", o->tick_s);
    if (r->topology.n_gpu > 0) {
        tmx_run_whole(r, "fan_period_s", o->fan_period_s, &o->fan_period_s, "tick_s", o->tick_s);
    }
    tmx_run_whole(r, "sensor.period_s", sensor->period_s, &sensor->period_s, "tick_s", o->tick_s);
    tmx_run_whole(r, "sensor.delay_s", delay->delay_s, &delay->delay_s, "sensor.period_s", sensor->period_s);
    tmx_run_whole(r, "mix_policy.slice_s", tmx_slice_s(mix, o->tick_s), option(mix, "slice_s"), "tick_s",
                  o->tick_s);
}

void tmx_run_check_idle(struct tmx_run *r, const struct tmx_run_idle *rows, size_t n, bool doubt)
{
    for (const struct tmx_run_idle *i = rows; i < rows + n; i++) {
        const struct tmx_setting *at = i->group[0] ? tmx_setting_find(r->root, i->group) : r->root,
                                 *given = i->idle ? tmx_opt_given(i->opts, i->values, i->keys, at) : NULL;
        const char *dot = i->group[0] ? "." : "";
        if (given && doubt && !r->err.code) {
            tmx_warn("%s%s%s does nothing here: %s", i->group, dot, tmx_setting_name(given), i->why);
        } else if (given && !doubt) {
            tmx_run_fail(r, given, "%s%s%s does nothing here: %s", i->group, dot, tmx_setting_name(given),
                         i->why);
        }
    }
}

/* Does the policy of this level, if there is one, answer the same to whatever it sees? */
static bool rests(const struct tmx_run *r, size_t level)
{
    const struct tmx_plugin *policy = r->sim_spec.choice[level].policy;
    return !policy || (policy->rests & TMX_RESTS_ALIKE);
}

static void check_groups(struct tmx_run *r)
{
    const struct tmx_smooth_options *o = &r->sim_spec.smooth;
    const struct tmx_setting *group = tmx_run_member(r, "smooth"), *at = tmx_setting_member(group, "floor");
    const struct tmx_store_options *store = &r->sim_spec.store;
    const struct tmx_sync_job_options *job = &r->sync_job.options;
    const struct tmx_chip_spread *spread = &r->spread;
    const bool spreads =
        spread->leakage > 0 || spread->dynamic > 0 || spread->sink > 0 || spread->inlet_k > 0;
    const struct tmx_run_idle rows[] = {
        {"store", tmx_store_opts, store, store->joules == 0, "efficiency",
         "expected joules and watts above 0"},
        {"smooth", tmx_smooth_opts, o, o->floor == 0, "hysteresis_s prime_s",
         "expected a smooth.floor above 0"},
        {"smooth", tmx_smooth_opts, o, r->serve != NULL, "prime_s", "group serve has no kernels"},
    };
    const bool in_turn =
                   rests(r, TMX_LEVEL_MIX) && rests(r, TMX_LEVEL_PLACE) && !r->jobs && !tmx_run_unread(r),
               one_clock = in_turn && rests(r, TMX_LEVEL_DTM),
               no_stop = rests(r, TMX_LEVEL_DTM) && rests(r, TMX_SAFETY) && !tmx_run_unread(r),
               blind = one_clock && no_stop && !r->serve && rests(r, TMX_LEVEL_TB) && rests(r, TMX_LEVEL_FAN);
    const struct tmx_run_idle doubts[] = {
        {"", tmx_run_opts, &r->options, in_turn, "pdi rate_error", "no policy of this run compares kernels"},
        {"", tmx_run_opts, &r->options, one_clock, "memory_bound_time",
         "no policy of this run changes the clock"},
        {"", tmx_run_opts, &r->options, no_stop, "stopped_blocks", "no policy of this run stops an SM"},
        {"sensor", tmx_sensor_delay_opts, r->sim_spec.sensor.of[TMX_SENSOR_delay], blind, "delay_s",
         "no policy of this run reads sensors"},
        {"", tmx_run_opts, &r->options, r->options.warmup_s == 0, "warmup_with", "warmup_s is 0"},
        {"sync_job", tmx_sync_job_opts, job, job->checkpoint_steps == 0, "checkpoint_s checkpoint_power",
         "checkpoint_steps is 0"},
        {"spread", tmx_spread_opts, spread, !spreads, "seed", "the GPUs are alike"},
        {"spread", tmx_spread_opts, spread, !r->options.leakage, "leakage", "leakage is off"},
        {"", tmx_run_opts, &r->options, r->jobs != NULL, "queue pdi rate_error memory_bound_time",
         "a job policy finds the GPUs, and its node has times and watts"},
    };
    const double *cap_w = option(&r->sim_spec.choice[TMX_LEVEL_DTM], "power_cap_w"),
                 *max_w = option(&r->sim_spec.choice[TMX_LEVEL_MIX], "max_w");
    const struct tmx_choice *place_of = &r->sim_spec.choice[TMX_LEVEL_PLACE];
    if (tmx_run_member(r, "place") && strcmp(place_of->policy->name, "own_gpu") != 0 && !tmx_run_unread(r) &&
        (r->n_gpu == 1 || (r->jobs && !tmx_place_of(place_of)->widen))) {
        tmx_warn("place.policy = \"%s\" does nothing here: %s", place_of->policy->name,
                 r->jobs ? "a job policy finds the GPUs" : "the run has one GPU");
    }
    if ((store->joules > 0) != (store->watts > 0)) {
        tmx_run_fail(r, tmx_run_member(r, "store"),
                     "store: expected both joules and watts above 0, or neither");
    }
    tmx_run_check_idle(r, rows, sizeof rows / sizeof rows[0], false);
    tmx_run_check_idle(r, doubts, sizeof doubts / sizeof doubts[0], true);
    if (o->hysteresis_s > 0 && o->hysteresis_s < r->options.tick_s * (1 - 1e-6)) {
        tmx_run_fail(r, tmx_setting_member(group, "hysteresis_s"),
                     "smooth.hysteresis_s = %g is shorter than tick_s = %g", o->hysteresis_s,
                     r->options.tick_s);
    }
    if (tmx_smooth_on(o) &&
        (r->options.tick != TMX_TICK_FIXED || (r->serve && !r->serve->spec.options.heat))) {
        tmx_run_fail(r, group, "smooth: expected tick = \"fixed\", and no serve.heat = false");
    }
    for (size_t g = 0; g < r->n_gpu && (o->floor > 0 || o->secondary_floor_w > 0); g++) {
        const struct tmx_run_kind *kind = &r->kind[r->kind_of_gpu[g]];
        const double limit_w = kind->chip.board.power_w, floor_w = o->floor / 100 * limit_w;
        double least_w = r->power_cap_w ? r->power_cap_w[g] : INFINITY;
        least_w = cap_w && *cap_w > 0 ? fmin(least_w, *cap_w) : least_w;
        least_w = max_w && *max_w > 0 ? fmin(least_w, *max_w) : least_w;
        if (o->secondary_floor_w >
            (o->floor > 0 ? floor_w : fmin(least_w, limit_w > 0 ? limit_w : INFINITY))) {
            tmx_run_fail(r, tmx_setting_member(group, "secondary_floor_w"),
                         "smooth.secondary_floor_w = %g is above the floor or the limit of GPU %zu",
                         o->secondary_floor_w, g);
        }
        if (o->floor > 0 && !(limit_w > 0)) {
            tmx_run_fail(r, at, "smooth.floor: %s states no power limit, board.power_w", kind->name);
        }
        if (floor_w > least_w) {
            tmx_run_fail(r, at, "smooth.floor = %g percent of %g W is above the power cap of GPU %zu, %g W",
                         o->floor, limit_w, g, least_w);
        }
    }
}

static void check_events(struct tmx_run *r)
{
    const struct tmx_thermal_ops *ops = r->thermal.ops;
    const struct tmx_source *source = r->sim_spec.source.is;
    const char *group = source ? source->base.name : r->cta ? "cta" : NULL;
    const struct tmx_setting *at = tmx_run_member(r, group ? group : "method"),
                             *tick = tmx_run_member(r, "tick");
    if (r->options.tick != TMX_TICK_EVENTS) {
        return;
    }
    if (group) {
        tmx_run_fail(r, at ? at : tick, "group %s goes by fixed ticks: expected tick = \"fixed\"", group);
    }
    for (size_t k = 0; k < r->n_kind; k++) {
        const struct tmx_thermal_spec *spec = &r->kind[k].stack.spec;
        for (size_t l = 0; l < spec->n_layer; l++) {
            if (spec->layer[l].channels) {
                tmx_run_fail(r, tick,
                             "a package with channels goes by fixed ticks: expected tick = \"fixed\"");
            }
        }
    }
    if (!ops->predict || !ops->commit || !ops->mean || !ops->bound || !ops->response) {
        tmx_run_fail(r, at ? at : tick,
                     "tick = \"events\": thermal back-end %s takes no steps of any length: expected "
                     "method = \"reduced\"",
                     ops->base.name);
    }
}

/* Measured on one core of a 2.8 GHz Xeon, reduced model; the full grid solves its network every tick. */
static const double TICK_S = 1.2e-6, TICK_UNIT_S = 3e-8, TICK_NODE_S = 3e-6;
static const double TOKEN_S = 2e-8, INSTANCE_TICK_S = 1e-7; /* a language model's, without heat */
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
    /* events: as if every sample was one */
    const double step_s =
        r->options.tick == TMX_TICK_EVENTS ? r->sim_spec.sensor.period_s : r->options.tick_s;
    return (r->options.warmup_s + fmax(last_s, work_s / (double)r->n_gpu)) / step_s;
}

struct tmx_cost tmx_run_cost(const struct tmx_run *r)
{
    struct tmx_cost c = {.bytes = JOB_BYTES * (double)r->mix.n_entry};
    if (r->serve && !r->serve->spec.options.heat) { /* instances and requests alone */
        const double instances = (double)r->n_gpu / r->serve->spec.options.tp;
        c.seconds =
            TOKEN_S * r->serve->output_tokens + (TICK_S + INSTANCE_TICK_S * instances) * total_ticks(r);
        c.bytes = 2.0 * (double)r->serve->list.n * sizeof *r->serve->list.request;
        return c;
    }
    const bool full = r->thermal.ops->can & TMX_THERMAL_FULL;
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

/* After everything is read. */
static void check_all(struct tmx_run *r)
{
    check_events(r);
    check_groups(r);
    if (!r->err.code) {
        (void)!tmx_cost_check(tmx_run_cost(r), &r->err,
                              "%.3g ticks of %g s (warmup_s, arrivals and work of %zu kernels) on %zu GPU%s",
                              total_ticks(r), r->options.tick_s, r->mix.n_entry, r->n_gpu,
                              tmx_plural(r->n_gpu));
        tmx_run_locate(r, tmx_run_place(r, "mix"));
    }
    if (!r->err.code) {
        /* note powerless */
        const char *dtm = r->sim_spec.choice[TMX_LEVEL_DTM].policy->name,
                   *tb = r->sim_spec.choice[TMX_LEVEL_TB].policy->name;
        size_t n_level = 0;
        bool full = r->mix.n_entry > 0 && !r->jobs && !r->serve;
        for (size_t k = 0; k < r->n_kind; k++) {
            n_level = r->kind[k].chip.n_level > n_level ? r->kind[k].chip.n_level : n_level;
        }
        for (size_t j = 0; j < r->mix.n_entry && full; j++) {
            full = r->job[j].width_sms >= r->kind[0].chip.n_sm;
        }
        if (strcmp(dtm, "none") != 0 && n_level == 1) {
            tmx_warn("dtm.policy = \"%s\" can change nothing: %s has one clock level", dtm, r->kind[0].name);
        }
        if (strcmp(tb, "round_robin") != 0 && full) {
            tmx_warn("tb.policy = \"%s\" has no choice: each kernel of the mix fills all SMs (work_s = 0 is "
                     "one launch, which may not)",
                     tb);
        }
        /* By arrival. */
        const struct tmx_mix_entry *entry = r->mix.entry;
        const size_t n = r->mix.n_entry;
        const double warmup_s = r->options.warmup_s;
        if (n > 0 && entry[0].arrival_s < warmup_s && entry[0].arrival_s < entry[n - 1].arrival_s) {
            size_t there = 0;
            while (there < n && entry[there].arrival_s <= warmup_s) {
                there++;
            }
            tmx_warn(
                "warmup_s = %g s: arrival_s counts from the begin of the warm-up; %zu of %zu kernels are "
                "there at its end, and each later one arrives %g s before its arrival_s",
                warmup_s, there, n, warmup_s);
        }
        /* A node may be given less than its boards can be set to. */
        const struct tmx_choice *mix = &r->sim_spec.choice[TMX_LEVEL_MIX];
        const double *node_w = option(mix, "node_w"), *min_w = option(mix, "min_w");
        double least_w = 0;
        for (size_t g = 0; g < r->n_gpu && min_w; g++) {
            least_w += *min_w > 0 ? *min_w : r->kind[r->kind_of_gpu[g]].chip.board.power_min_w;
        }
        if (node_w && *node_w > 0 && *node_w < least_w) {
            tmx_warn("mix_policy.node_w = %g W is less than the least caps of its boards together, %g W",
                     *node_w, least_w);
        }
    }
}

const struct tmx_run_feature tmx_feature_keys = {.open = check_keys},
                             tmx_feature_times = {.open = check_node},
                             tmx_feature_checks = {.open = check_all};
