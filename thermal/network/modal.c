/* Both products run over long rows: a block of up to BLOCK results stays in registers while
 * the rows stream by, so each result is one sum in the order of the rows. The loops are
 * compiled twice, for any processor and for AVX2; neither fuses multiply and add, so both
 * give the same bits. */
#include "thermal/network/modal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 4, BLOCK = 36 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

static size_t padded(size_t n)
{
    return (n + TMX_MODAL_PAD - 1) / TMX_MODAL_PAD * TMX_MODAL_PAD;
}

enum tmx_status tmx_modal_init(struct tmx_modal *m, size_t n_mode, size_t n_unit, bool direct,
                               struct tmx_err *err)
{
    *m = (struct tmx_modal){
        .n_mode = n_mode, .n_unit = n_unit, .mode_row = padded(n_mode), .unit_row = padded(n_unit)};
    m->rate = calloc(m->mode_row, sizeof *m->rate);
    m->in = calloc(n_unit * m->mode_row, sizeof *m->in);
    m->out = calloc(n_mode * m->unit_row, sizeof *m->out);
    m->direct = direct ? calloc(n_unit * m->unit_row, sizeof *m->direct) : NULL;
    m->stored = calloc(m->mode_row, sizeof *m->stored);
    m->leave = calloc(m->mode_row, sizeof *m->leave);
    m->one = calloc(m->mode_row, sizeof *m->one);
    m->start = calloc(m->mode_row, sizeof *m->start);
    m->rest = calloc(m->mode_row, sizeof *m->rest);
    m->drain = calloc(m->unit_row, sizeof *m->drain);
    if (!m->rate || !m->in || !m->out || (direct && !m->direct) || !m->stored || !m->leave || !m->one ||
        !m->start || !m->rest || !m->drain) {
        return tmx_fail(err, TMX_ENOMEM, "modal model of %zu modes", n_mode);
    }
    for (size_t i = n_mode; i < m->mode_row; i++) {
        m->rate[i] = 1;
    }
    return TMX_OK;
}

void tmx_modal_finish(struct tmx_modal *m)
{
    free(m->rate);
    free(m->in);
    free(m->out);
    free(m->direct);
    free(m->stored);
    free(m->leave);
    free(m->one);
    free(m->start);
    free(m->rest);
    free(m->drain);
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

enum tmx_status tmx_modal_join(struct tmx_modal *m, const struct tmx_modal *more, struct tmx_err *err)
{
    struct tmx_modal both;
    tmx_assert(!more->direct);
    const enum tmx_status st =
        tmx_modal_init(&both, m->n_mode + more->n_mode, m->n_unit, m->direct != NULL, err);
    if (st) {
        tmx_modal_finish(&both);
        return st;
    }
    copy_modes(m, &both, 0);
    copy_modes(more, &both, m->n_mode);
    if (m->direct) {
        memcpy(both.direct, m->direct, m->n_unit * m->unit_row * sizeof *m->direct);
    }
    tmx_modal_finish(m);
    *m = both;
    return TMX_OK;
}

void tmx_modal_close(struct tmx_modal *m)
{
    for (size_t i = 0; i < m->mode_row; i++) {
        m->rest[i] = m->leave[i] / m->rate[i];
    }
    for (size_t u = 0; u < m->n_unit; u++) {
        m->drain[u] = tmx_modal_sum(m, m->rest, m->in + u * m->mode_row);
    }
}

void tmx_modal_tabulate(const struct tmx_modal *m, double dt_s, double *decay, double *gain)
{
    for (size_t i = 0; i < m->mode_row; i++) {
        decay[i] = exp(-m->rate[i] * dt_s);
        gain[i] = -expm1(-m->rate[i] * dt_s) / m->rate[i];
    }
}

/* sum[0..n_lanes) += coef[r] * row r, for rows of `stride`; n_lanes is a constant where
 * this is called, so that sum stays in registers. */
static inline __attribute__((always_inline)) void gather(size_t n_lanes, size_t n_row, size_t stride,
                                                         const double *coef, const double *rows, lanes *sum)
{
    for (size_t r = 0; r < n_row; r++) {
        const lanes *row = (const lanes *)(rows + r * stride);
        const double c = coef[r];
        for (size_t k = 0; k < n_lanes; k++) {
            sum[k] += c * row[k];
        }
    }
}

struct step {
    const struct tmx_modal *m;
    const double *decay, *gain, *power_w, *z; /* decay NULL: only read */
    double *next, *theta_k;
};

/* One block of modes, or of units, of n_lanes. */
static inline __attribute__((always_inline)) void modes(size_t n_lanes, const struct step *s, size_t at)
{
    lanes sum[BLOCK / LANES] = {{0}};
    gather(n_lanes, s->m->n_unit, s->m->mode_row, s->power_w, s->m->in + at, sum);
    const lanes *decay = (const lanes *)(s->decay + at), *gain = (const lanes *)(s->gain + at);
    const lanes *z = (const lanes *)(s->z + at);
    lanes *next = (lanes *)(s->next + at);
    for (size_t k = 0; k < n_lanes; k++) {
        next[k] = decay[k] * z[k] + gain[k] * sum[k];
    }
}

static inline __attribute__((always_inline)) void units(size_t n_lanes, const struct step *s, size_t at)
{
    lanes sum[BLOCK / LANES] = {{0}};
    gather(n_lanes, s->m->n_mode, s->m->unit_row, s->next, s->m->out + at, sum);
    if (s->m->direct) {
        gather(n_lanes, s->m->n_unit, s->m->unit_row, s->power_w, s->m->direct + at, sum);
    }
    lanes *theta = (lanes *)(s->theta_k + at);
    for (size_t k = 0; k < n_lanes; k++) {
        theta[k] = sum[k];
    }
}

#define BLOCKS(length, block)              \
    do {                                   \
        size_t at_ = 0;                    \
        while ((length)-at_ >= 36) {       \
            block(9, s, at_);              \
            at_ += 36;                     \
        }                                  \
        while ((length)-at_ >= 16) {       \
            block(4, s, at_);              \
            at_ += 16;                     \
        }                                  \
        for (; at_ < (length); at_ += 4) { \
            block(1, s, at_);              \
        }                                  \
    } while (0)

static inline __attribute__((always_inline)) void run(const struct step *s)
{
    if (s->decay) {
        BLOCKS(s->m->mode_row, modes);
    }
    BLOCKS(s->m->unit_row, units);
}

static void run_anywhere(const struct step *s)
{
    run(s);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void run_avx2(const struct step *s)
{
    run(s);
}
#endif

static void dispatch(const struct step *s)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        run_avx2(s);
        return;
    }
#endif
    run_anywhere(s);
}

void tmx_modal_step(const struct tmx_modal *m, const double *decay, const double *gain, const double *power_w,
                    const double *z, double *next, double *theta_k)
{
    dispatch(&(struct step){m, decay, gain, power_w, z, next, theta_k});
}

void tmx_modal_read(const struct tmx_modal *m, const double *power_w, const double *z, double *theta_k)
{
    union { /* read writes no state */
        const double *from;
        double *to;
    } state = {.from = z};
    dispatch(&(struct step){.m = m, .power_w = power_w, .next = state.to, .theta_k = theta_k});
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
    for (size_t i = 0; i < m->mode_row; i++) {
        z[i] /= m->rate[i];
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
