/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/stage/sensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"

#define MODEL(Y, name) &tmx_sensor_##name,
static const struct tmx_sensor_model *const models[TMX_N_SENSOR] = {TMX_SENSOR_LIST(MODEL, )};

const struct tmx_opt tmx_sensor_opts[] = {
    TMX_ROW_REAL(tmx_sensor_options, period_s, "s", 0, 10, 0,
                 "time between samples; 0: 5 ms in whole ticks, one at least"),
    {0},
};
const struct tmx_opt tmx_sensor_log_opts[] = {
    TMX_ROW_REAL(tmx_sensor_options, power_window_s, "s", 0, 100, 1,
                 "a trace's reported_w is the mean of the board's watts over this, as a log shows it"),
    {0},
};

enum tmx_status tmx_sensor_open(struct tmx_sensor_options *o, struct tmx_arena *a,
                                const struct tmx_setting *group, struct tmx_err *err)
{
    enum { MAX_KEYS = 64 };
    const char *keys[MAX_KEYS + 1] = {NULL};
    size_t n = 0;
#define KEYS(name, policies, opts)                                      \
    for (const struct tmx_opt *k = opts; k->key && n < MAX_KEYS; k++) { \
        keys[n++] = k->key;                                             \
    }
    TMX_SENSOR_ROWS(KEYS)
    struct tmx_err own = {0};
    tmx_opt_read(&(struct tmx_opt){0}, o, group, keys, &own); /* no other key */
    tmx_opt_read(tmx_sensor_opts, o, group, keys, &own);
    TMX_TAKE(a, o->of, TMX_N_SENSOR);
    for (size_t i = 0; i < TMX_N_SENSOR && o->of; i++) {
        o->of[i] = tmx_arena_take(a, 1, models[i]->base.state_size);
        tmx_arena_check(a, &own);
        tmx_opt_read(models[i]->base.opts, o->of[i], group, keys, &own);
    }
    tmx_arena_check(a, &own);
    tmx_opt_read(tmx_sensor_log_opts, o, group, keys, &own);
    return tmx_error_give(err, &own);
}

/* Does it change readings? */
static bool acts(const struct tmx_sensor_options *o, size_t i)
{
    return o->of && o->of[i] && !tmx_opt_is_default(models[i]->base.opts, o->of[i]);
}

void tmx_sensor_write(const struct tmx_sensor_options *o, struct tmx_writer *w)
{
    tmx_writer_open(w, "sensor", TMX_SETTING_GROUP);
    tmx_opt_write(tmx_sensor_opts, o, w);
    for (size_t i = 0; i < TMX_N_SENSOR; i++) {
        if (models[i]->in_every_config || acts(o, i)) {
            tmx_opt_write(models[i]->base.opts, o->of[i], w);
        }
    }
    tmx_opt_write(tmx_sensor_log_opts, o, w);
    tmx_writer_close(w);
}

enum tmx_status tmx_sensor_create(struct tmx_sensor **out, const struct tmx_sensor_options *options,
                                  const struct tmx_machine *machine, double dt_s, uint64_t seed,
                                  struct tmx_err *err)
{
    const double ticks = options->period_s / dt_s;
    if (ticks < 0.999999 || fabs(ticks - round(ticks)) > 1e-6 * ticks) {
        return tmx_fail(err, TMX_ECONFIG, "sensor.period_s = %g s is not a multiple of tick_s = %g s",
                        options->period_s, dt_s);
    }
    struct tmx_sensor *s = calloc(1, sizeof *s);
    enum tmx_status st = s ? TMX_OK : tmx_fail(err, TMX_ENOMEM, "sensors");
    for (size_t i = 0; i < TMX_N_SENSOR && !st; i++) {
        const struct tmx_sensor_model *does = models[i];
        s->period = (uint64_t)round(ticks);
        if (!acts(options, i)) {
            continue;
        }
        struct tmx_sensor_acting *m = &s->model[s->n++];
        m->does = does;
        m->in = (struct tmx_sensing){.options = options->of[i], .period_s = options->period_s};
        m->in.n_kept = does->keeps ? does->keeps(options->of[i], options->period_s) : 0;
        TMX_TAKE(&s->state, m->in.kept, m->in.n_kept * machine->n_sm);
        s->in_order = s->in_order || does->stream;
        s->needs_all = s->needs_all || !does->above_k;
        s->above_k += does->above_k ? does->above_k(options->of[i]) : 0;
        st = s->state.failed ? tmx_no_memory(err)
             : does->stream  ? tmx_rng_create(&m->in.random, seed, does->stream, err)
                             : TMX_OK;
    }
    if (st) {
        tmx_sensor_destroy(s);
        return st;
    }
    *out = s;
    return TMX_OK;
}

void tmx_sensor_destroy(struct tmx_sensor *s)
{
    for (size_t i = 0; s && i < s->n; i++) {
        tmx_rng_destroy(s->model[i].in.random);
    }
    if (s) {
        tmx_arena_finish(&s->state);
        free(s);
    }
}

double tmx_sensor_memory_k(const struct tmx_sensor *s, double memory_k)
{
    for (size_t k = 0; k < s->n; k++) {
        if (s->model[k].does->memory) {
            struct tmx_sensing in = s->model[k].in;
            in.n = 1;
            s->model[k].does->reports(&in, &memory_k);
        }
    }
    return memory_k;
}

/* Four side by side: none waits for the one before. */
static double largest(size_t n, const double *restrict v)
{
    double most[4] = {v[0], v[0], v[0], v[0]};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            most[k] = v[i + k] > most[k] ? v[i + k] : most[k];
        }
    }
    for (; i < n; i++) {
        most[0] = v[i] > most[0] ? v[i] : most[0];
    }
    for (size_t k = 1; k < 4; k++) {
        most[0] = most[k] > most[0] ? most[k] : most[0];
    }
    return most[0];
}

void tmx_sensor_read(struct tmx_sensor *s, const struct tmx_machine *machine, struct tmx_gpus span,
                     const double *temp_k, double *sensed_k, double *hottest_k)
{
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *gpu = &machine->gpu[g];
        const struct tmx_chip *c = gpu->chip;
        const double *unit_k = temp_k + gpu->unit0;
        double *reading_k = sensed_k + gpu->sm0;
        if (c->sms_in_row) { /* as most are: no look at each */
            memcpy(reading_k, unit_k + c->unit_of_sm[0], c->n_sm * sizeof *reading_k);
        }
        for (size_t sm = 0; sm < c->n_sm && !c->sms_in_row; sm++) {
            reading_k[sm] = tmx_chip_sm_k(c, sm, unit_k);
        }
        for (size_t k = 0; k < 2 * s->n; k++) { /* all measure before any reports */
            const struct tmx_sensor_acting *m = &s->model[k % s->n];
            void (*const act)(const struct tmx_sensing *, double *) =
                k < s->n ? m->does->measures : m->does->reports;
            if (act) {
                struct tmx_sensing in = m->in;
                in.n = c->n_sm;
                in.sample = s->n_sample - 1;
                in.kept += in.n_kept * gpu->sm0;
                act(&in, reading_k);
            }
        }
        hottest_k[g] = largest(c->n_sm, reading_k);
    }
}

struct tmx_meter *tmx_meter_take(struct tmx_arena *arena, const struct tmx_machine *machine)
{
    const size_t n = machine->n_gpu;
    size_t n_level = 0;
    struct tmx_meter *m = TMX_TAKE(arena, m, 1);
    for (size_t g = 0; g < n; g++) {
        n_level += machine->gpu[g].chip->n_level;
    }
    if (!m) {
        return NULL;
    }
    m->n_gpu = n;
    TMX_TAKE_REALS(arena, n, &m->sum_w, &m->n_tick, &m->board_w, &m->inlet_k, &m->memory_k);
    TMX_TAKE(arena, m->board, n);
    TMX_TAKE(arena, m->level, 2 * n_level);
    double *at = m->level;
    for (size_t g = 0; g < n && !arena->failed; g++) {
        const struct tmx_chip *c = machine->gpu[g].chip;
        const struct tmx_chip_board *b = &c->board;
        for (size_t l = 0; l < c->n_level; l++) {
            at[l] = tmx_chip_speed(c, l);
            at[c->n_level + l] = tmx_chip_volt(c, l);
        }
        m->board[g] = (struct tmx_board_view){.power_w = b->power_w,
                                              .power_min_w = b->power_min_w,
                                              .target_c = b->target_c,
                                              .slowdown_c = b->slowdown_c,
                                              .shutdown_c = b->shutdown_c,
                                              .memory_c = b->memory_c,
                                              .n_level = c->n_level,
                                              .speed = at,
                                              .volt = at + c->n_level,
                                              .nominal_hz = c->level[0].freq_hz / tmx_chip_speed(c, 0)};
        at += 2 * c->n_level;
    }
    return m;
}

void tmx_meter_add(struct tmx_meter *m, struct tmx_gpus span, const double *gpu_w, double n)
{
    for (size_t g = span.first; g < span.end; g++) {
        m->sum_w[g] += n * gpu_w[g];
        m->n_tick[g] += n;
    }
}

void tmx_meter_read(struct tmx_meter *m, const struct tmx_machine *machine, struct tmx_gpus span,
                    const double *temp_k, const double *power_w, const struct tmx_sensor *sensor)
{
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *gpu = &machine->gpu[g];
        const double hot_k = tmx_chip_memory_k(gpu->chip, temp_k + gpu->unit0, power_w + gpu->unit0);
        m->board_w[g] = m->n_tick[g] > 0 ? tmx_chip_board_w(gpu->chip, m->sum_w[g] / m->n_tick[g]) : 0;
        m->memory_k[g] = tmx_sensor_memory_k(sensor, hot_k);
        m->sum_w[g] = m->n_tick[g] = 0;
    }
}

void tmx_meter_view(const struct tmx_meter *m, struct tmx_view *view)
{
    view->board_w = m->board_w;
    view->inlet_k = m->inlet_k;
    view->memory_k = m->memory_k;
    view->board = m->board;
}
