/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/sim/stage/sensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct tmx_opt tmx_sensor_opts[] = {
    TMX_ROW_REAL(tmx_sensor_options, period_s, "s", 0, 10, 0,
                 "time between samples; 0: 5 ms in whole ticks, one at least"),
    TMX_ROW_REAL(tmx_sensor_options, quantum_k, "K", 0, 10, 0, "readings are multiples of this; 0: exact"),
    TMX_ROW_REAL(tmx_sensor_options, delay_s, "s", 0, 10, 0, "age of a reading"),
    TMX_ROW_REAL(tmx_sensor_options, noise_k, "K", 0, 20, 0, "standard deviation of a reading"),
    TMX_ROW_REAL(tmx_sensor_options, power_window_s, "s", 0, 100, 1,
                 "a trace's reported_w is the mean of the board's watts over this, as a log shows it"),
    {0},
};

struct tmx_sensor {
    struct tmx_sensor_options options;
    struct tmx_rng *rng;
    uint64_t period, n_sample;
    struct tmx_arena state; /* the ring */
    size_t n_sm, depth;     /* readings kept: delay in samples + 1 */
    double *ring_k;         /* [depth * n_sm] */
};

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
    if (!s) {
        return tmx_fail(err, TMX_ENOMEM, "sensors");
    }
    s->options = *options;
    s->period = (uint64_t)round(ticks);
    s->n_sm = machine->n_sm;
    s->depth = (size_t)round(options->delay_s / options->period_s) + 1;
    enum tmx_status st = TMX_TAKE(&s->state, s->ring_k, s->depth * s->n_sm) ? TMX_OK : tmx_no_memory(err);
    if (!st && options->noise_k > 0) {
        st = tmx_rng_create(&s->rng, seed, "sensor", err);
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
    if (s) {
        tmx_rng_destroy(s->rng);
        tmx_arena_finish(&s->state);
        free(s);
    }
}

uint64_t tmx_sensor_period(const struct tmx_sensor *s)
{
    return s->period;
}

/* Of an SM in several units, the first of which is given. */
static double of_parts(const struct tmx_chip *c, size_t sm, size_t first, const double *unit_k)
{
    double sum = 0;
    for (size_t u = first; u < c->floorplan.n_unit; u++) {
        if (c->sm_of_unit[u] == (int)sm) {
            sum += c->part_share[u] * unit_k[u];
        }
    }
    return sum;
}

static inline double sm_k(const struct tmx_chip *c, size_t sm, const double *unit_k)
{
    const size_t first = c->unit_of_sm[sm];
    return c->part_share[first] >= 1 ? unit_k[first] : of_parts(c, sm, first, unit_k);
}

double tmx_sensor_sm_k(const struct tmx_gpu *gpu, size_t sm, const double *temp_k)
{
    return sm_k(gpu->chip, sm, temp_k + gpu->unit0);
}

void tmx_sensor_begin(struct tmx_sensor *s)
{
    s->n_sample++;
}

bool tmx_sensor_in_order(const struct tmx_sensor *s)
{
    return s->rng != NULL;
}

bool tmx_sensor_needs_all(const struct tmx_sensor *s)
{
    return s->rng || s->depth > 1;
}

/* now_k: what the sensors of a GPU's n SMs measure. */
static void measure(struct tmx_sensor *s, const struct tmx_chip *c, size_t n, const double *unit_k,
                    double *now_k)
{
    const double quantum_k = s->options.quantum_k;
    if (c->sms_in_row) { /* as most are: no look at each */
        memcpy(now_k, unit_k + c->unit_of_sm[0], n * sizeof *now_k);
    }
    for (size_t sm = 0; sm < n && !c->sms_in_row; sm++) {
        now_k[sm] = sm_k(c, sm, unit_k);
    }
    for (size_t sm = 0; sm < n && s->rng; sm++) {
        now_k[sm] += tmx_rng_normal(s->rng, s->options.noise_k);
    }
    for (size_t sm = 0; sm < n && quantum_k > 0; sm++) {
        now_k[sm] = round(now_k[sm] / quantum_k) * quantum_k;
    }
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
    const uint64_t back = s->n_sample < s->depth ? s->n_sample : s->depth; /* at first: the oldest there is */
    double *now_k = &s->ring_k[(s->n_sample - 1) % s->depth * s->n_sm];
    const double *then_k = &s->ring_k[(s->n_sample - back) % s->depth * s->n_sm];
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *gpu = &machine->gpu[g];
        const size_t n = gpu->chip->n_sm;
        measure(s, gpu->chip, n, temp_k + gpu->unit0, now_k + gpu->sm0);
        const double *then = then_k + gpu->sm0;
        memcpy(sensed_k + gpu->sm0, then, n * sizeof *then);
        hottest_k[g] = largest(n, then);
    }
}

void tmx_sensor_image(void *sensor, struct tmx_image *i)
{
    struct tmx_sensor *s = sensor;
    TMX_IMAGE_FIELD(i, s->n_sample);
    tmx_arena_image(&s->state, i);
    tmx_rng_image(s->rng, i);
}

struct tmx_meter {
    size_t n_gpu;
    double *sum_w, *n_tick; /* since the last reading */
    double *board_w, *inlet_k, *memory_k;
    struct tmx_board_view *board; /* [n_gpu] */
    double *level;                /* speeds and voltages of all boards */
};

static void fill_boards(struct tmx_meter *m, const struct tmx_machine *machine)
{
    double *at = m->level;
    for (size_t g = 0; g < m->n_gpu; g++) {
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
}

struct tmx_meter *tmx_meter_take(struct tmx_arena *fixed, struct tmx_arena *state,
                                 const struct tmx_machine *machine)
{
    const size_t n = machine->n_gpu;
    size_t n_level = 0;
    struct tmx_meter *m = TMX_TAKE(fixed, m, 1);
    for (size_t g = 0; g < n; g++) {
        n_level += machine->gpu[g].chip->n_level;
    }
    if (!m) {
        return NULL;
    }
    m->n_gpu = n;
    TMX_TAKE(state, m->sum_w, n);
    TMX_TAKE(state, m->n_tick, n);
    TMX_TAKE(state, m->board_w, n);
    TMX_TAKE(state, m->inlet_k, n);
    TMX_TAKE(state, m->memory_k, n);
    TMX_TAKE(fixed, m->board, n);
    TMX_TAKE(fixed, m->level, 2 * n_level);
    if (!fixed->failed) {
        fill_boards(m, machine);
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
                    const double *temp_k, const double *power_w, double quantum_k)
{
    for (size_t g = span.first; g < span.end; g++) {
        const struct tmx_gpu *gpu = &machine->gpu[g];
        const double hot_k = tmx_chip_memory_k(gpu->chip, temp_k + gpu->unit0, power_w + gpu->unit0);
        m->board_w[g] = m->n_tick[g] > 0 ? tmx_chip_board_w(gpu->chip, m->sum_w[g] / m->n_tick[g]) : 0;
        m->memory_k[g] = quantum_k > 0 ? round(hot_k / quantum_k) * quantum_k : hot_k;
        m->sum_w[g] = m->n_tick[g] = 0;
    }
}

double *tmx_meter_memory_k(struct tmx_meter *m)
{
    return m->memory_k;
}

void tmx_meter_inlet(struct tmx_meter *m, size_t gpu, double inlet_k)
{
    m->inlet_k[gpu] = inlet_k;
}

void tmx_meter_view(const struct tmx_meter *m, struct tmx_view *view)
{
    view->board_w = m->board_w;
    view->inlet_k = m->inlet_k;
    view->memory_k = m->memory_k;
    view->board = m->board;
}
