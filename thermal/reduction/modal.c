/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "thermal/reduction/modal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

static size_t padded(size_t n)
{
    return (n + TMX_MODAL_PAD - 1) / TMX_MODAL_PAD * TMX_MODAL_PAD;
}

void tmx_modal_init(struct tmx_modal *m, size_t n_mode, size_t n_unit, bool direct, bool frequency,
                    struct tmx_err *err)
{
    *m = (struct tmx_modal){.n_mode = n_mode,
                            .n_unit = n_unit,
                            .mode_row = padded(n_mode),
                            .unit_row = padded(n_unit),
                            .kernel =
                                TMX_ISA_OF(tmx_modal_kernel_any, tmx_modal_kernel_v3, tmx_modal_kernel_v4)};
    double **const row[] = {&m->rate, &m->stored, &m->leave, &m->one, &m->start, &m->rest, &m->frequency};
    for (size_t i = 0; i < sizeof row / sizeof row[0] - (frequency ? 0 : 1); i++) {
        TMX_TAKE(&m->arena, *row[i], m->mode_row);
    }
    TMX_TAKE(&m->arena, m->drain, m->unit_row);
    TMX_TAKE(&m->arena, m->in, n_unit * m->mode_row);
    TMX_TAKE(&m->arena, m->out, n_mode * m->unit_row);
    if (direct) {
        TMX_TAKE(&m->arena, m->direct, n_unit * m->unit_row);
    }
    if (m->arena.failed) {
        tmx_error(err, TMX_ENOMEM, "modal model of %zu modes", n_mode);
        return;
    }
    for (size_t i = n_mode; i < m->mode_row; i++) {
        m->rate[i] = 1;
    }
}

void tmx_modal_finish(struct tmx_modal *m)
{
    tmx_arena_finish(&m->arena);
    *m = (struct tmx_modal){0};
}

static void copy_modes(const struct tmx_modal *from, struct tmx_modal *to, size_t at)
{
    const size_t k = from->n_mode, real = sizeof(double);
    tmx_assert(from->n_unit == to->n_unit);
    memcpy(to->rate + at, from->rate, k * real);
    memcpy(to->stored + at, from->stored, k * real);
    memcpy(to->leave + at, from->leave, k * real);
    memcpy(to->one + at, from->one, k * real);
    memcpy(to->start + at, from->start, k * real);
    memcpy(to->out + at * to->unit_row, from->out, k * to->unit_row * real);
    for (size_t u = 0; u < to->n_unit; u++) {
        memcpy(to->in + u * to->mode_row + at, from->in + u * from->mode_row, k * real);
    }
}

void tmx_modal_join(struct tmx_modal *m, const struct tmx_modal *more, struct tmx_err *err)
{
    struct tmx_modal both;
    tmx_assert(err->code || !more->direct);
    if (err->code) {
        return;
    }
    tmx_modal_init(&both, m->n_mode + more->n_mode, m->n_unit, m->direct != NULL, false, err);
    if (err->code) {
        tmx_modal_finish(&both);
        return;
    }
    copy_modes(m, &both, 0);
    copy_modes(more, &both, m->n_mode);
    if (m->direct) {
        memcpy(both.direct, m->direct, m->n_unit * m->unit_row * sizeof *m->direct);
    }
    tmx_modal_finish(m);
    *m = both;
}

void tmx_modal_close(struct tmx_modal *m)
{
    for (size_t i = 0; i < m->mode_row; i++) {
        m->rest[i] = m->frequency ? m->stored[i] : m->leave[i] / m->rate[i];
    }
    for (size_t u = 0; u < m->n_unit; u++) {
        m->drain[u] = m->frequency ? 1 : tmx_modal_sum(m, m->rest, m->in + u * m->mode_row);
    }
}

static float *to_single(const double *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (float)from[i];
    }
    return to + n;
}

void tmx_modal_mix(struct tmx_modal *m, struct tmx_err *err)
{
    const size_t direct = m->direct ? m->n_unit : 0;
    TMX_TAKE(&m->arena, m->in_single, m->n_unit * m->mode_row);
    TMX_TAKE(&m->arena, m->out_single, (m->n_mode + direct) * m->unit_row);
    if (m->arena.failed) {
        tmx_error(err, TMX_ENOMEM, "modal model of %zu modes in single precision", m->n_mode);
        return;
    }
    to_single(m->in, m->n_unit * m->mode_row, m->in_single);
    float *below = to_single(m->out, m->n_mode * m->unit_row, m->out_single);
    to_single(m->direct, direct * m->unit_row, below);
    m->mixed = TMX_ISA_OF(tmx_modal_mixed_kernel_any, tmx_modal_mixed_kernel_v3, tmx_modal_mixed_kernel_v4);
}

size_t tmx_modal_work(const struct tmx_modal *m)
{
    return m->in_single ? m->mode_row + m->unit_row : 0;
}

/* Roundings that row r of n goes through in a sum of the mixed kernel: of its two factors, of its own
 * multiply-add and those after it in its chain, and of the sums of chains. */
static double roundings(size_t r, size_t n)
{
    const size_t every = tmx_modal_chains(n), chain = r % every, later = r / every;
    const size_t sums = every == 1 ? 0 : chain == 0 ? 1 : chain < every - 1 ? chain + 1 : chain;
    return (double)(2 + 1 + later + sums);
}

void tmx_modal_rounding(const struct tmx_modal *m, const double *power_w, double *state, double *theta_k)
{
    static const double HIGHER_ORDER = 1.01; /* products of roundings, and double's */
    const double unit = HIGHER_ORDER * FLT_EPSILON / 2;
    const size_t direct = m->direct ? m->n_unit : 0, n_row = m->n_mode + direct;
    memset(state, 0, m->mode_row * sizeof *state);
    memset(theta_k, 0, m->unit_row * sizeof *theta_k);
    if (!m->in_single) {
        return;
    }
    for (size_t i = 0; i < m->n_mode; i++) {
        double most = fabs(m->start[i]); /* of z: it never leaves what start and equilibria span */
        for (size_t u = 0; u < m->n_unit; u++) {
            const double z = fabs(m->in[u * m->mode_row + i] * power_w[u]) / m->rate[i];
            state[i] += unit * roundings(u, m->n_unit) * z;
            most += z;
        }
        const double off = state[i] + unit * roundings(i, n_row) * (most + state[i]);
        for (size_t u = 0; u < m->n_unit; u++) {
            theta_k[u] += off * fabs(m->out[i * m->unit_row + u]);
        }
    }
    for (size_t v = 0; v < direct; v++) {
        for (size_t u = 0; u < m->n_unit; u++) {
            theta_k[u] +=
                unit * roundings(m->n_mode + v, n_row) * fabs(m->direct[v * m->unit_row + u] * power_w[v]);
        }
    }
}

void tmx_modal_tabulate(const struct tmx_modal *m, double dt_s, double *decay, double *gain)
{
    for (size_t i = 0; i < m->mode_row; i++) {
        decay[i] = exp(-m->rate[i] * dt_s);
        gain[i] = -expm1(-m->rate[i] * dt_s) / m->rate[i];
    }
    for (size_t i = 0; m->frequency && i < m->mode_row;
         i++) { /* exp(-(rate - i frequency) dt), and 1 less it, divided */
        const double rate = m->rate[i], frequency = m->frequency[i | 1], angle = frequency * dt_s,
                     half = sin(0.5 * angle);
        const double re = 2 * half * half - cos(angle) * expm1(-rate * dt_s), im = -decay[i] * sin(angle);
        const double size = rate * rate + frequency * frequency, sign = i % 2 ? 1 : -1;
        decay[m->mode_row + i] = gain[m->mode_row + i] = 0;
        if (frequency != 0) {
            decay[m->mode_row + i] = -sign * im;
            decay[i] *= cos(angle);
            gain[i] = (rate * re - frequency * im) / size;
            gain[m->mode_row + i] = sign * (rate * im + frequency * re) / size;
        }
    }
}

size_t tmx_modal_table(const struct tmx_modal *m)
{
    return m->frequency ? 2 * m->mode_row : m->mode_row;
}

void tmx_modal_add_falls(const struct tmx_modal *m, const double *z, double *next, double *theta_k)
{
    m->kernel(&(struct tmx_modal_call){.m = m, .n = 1, .z = &z, .next = &next, .theta_k = &theta_k});
}

void tmx_modal_step(const struct tmx_modal *m, const double *decay, const double *gain, const double *power_w,
                    const double *z, double *next, double *theta_k, float *work)
{
    if (m->mixed && next != z) {
        memcpy(next, z, m->mode_row * sizeof *next);
    }
    (m->mixed ? m->mixed
              : m->kernel)(&(struct tmx_modal_call){m, decay, gain, 1, &power_w, &z, &next, &theta_k, &work});
}

void tmx_modal_step_many(const struct tmx_modal *m, const double *decay, const double *gain, size_t n,
                         const double *const *power_w, double *const *z, double *const *theta_k,
                         float *const *work)
{
    (m->mixed ? m->mixed : m->kernel)(
        &(struct tmx_modal_call){m, decay, gain, n, power_w, (const double *const *)z, z, theta_k, work});
}

void tmx_modal_read(const struct tmx_modal *m, const double *power_w, const double *z, double *theta_k)
{
    union { /* read writes no state */
        const double *from;
        double *to;
    } state = {.from = z};
    m->kernel(&(struct tmx_modal_call){
        .m = m, .n = 1, .power_w = &power_w, .next = &state.to, .theta_k = &theta_k});
}

void tmx_modal_settle(const struct tmx_modal *m, const double *power_w, double *z)
{
    memset(z, 0, m->mode_row * sizeof *z);
    for (size_t u = 0; u < m->n_unit; u++) {
        const double *in = m->in + u * m->mode_row;
        for (size_t i = 0; i < m->mode_row; i++) {
            z[i] += power_w[u] * in[i];
        }
    }
    tmx_modal_divide(m, z);
}

void tmx_modal_divide(const struct tmx_modal *m, double *z)
{
    for (size_t i = 0; i < m->mode_row && !m->frequency; i++) {
        z[i] /= m->rate[i];
    }
    for (size_t i = 0; i < m->mode_row && m->frequency; i += 2) { /* a pair, or two alone */
        const double rate = m->rate[i], frequency = m->frequency[i + 1],
                     size = rate * rate + frequency * frequency, re = z[i], im = z[i + 1];
        z[i] = frequency != 0 ? (rate * re - frequency * im) / size : re / rate;
        z[i + 1] = frequency != 0 ? (rate * im + frequency * re) / size : im / m->rate[i + 1];
    }
}

double tmx_modal_sum(const struct tmx_modal *m, const double *row, const double *z)
{
    double sum = 0;
    for (size_t i = 0; i < m->n_mode; i++) {
        sum += row[i] * z[i];
    }
    return sum;
}
