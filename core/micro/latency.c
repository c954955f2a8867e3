/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A core with W warps at memory latency L runs at
 *     ipc(L) = smooth minimum of  ipc1,  W B / (B cpi1 + L),  mshr / (q L),      B = mlp / q
 * and sends q ipc lines per cycle. Smooth minimum: (a^-4 + b^-4 + c^-4)^(-1/4).
 * A class of cores with L2 hit rate h sees
 *     L = L0 + w_l2 + (1 - h) w_dram
 * where each station of n partitions is M/D/1 with utilisation rho and service time s of the whole
 * station per line:     w = n s rho / (2 (1 - rho)).
 * All MSHRs of a core are taken for the share of time that Erlang's formula gives a = q ipc(L) L lines, as
 * many as would be under way if there were no limit:     E(0) = 1,  E(m) = a E(m - 1) / (m + a E(m - 1)).
 * Unique: ipc falls with L, so w_l2(X(w_l2)) - w_l2 falls strictly for every fixed w_dram, and
 * with that w_l2 the demand on DRAM falls in w_dram: where w_dram rises, the sum X cannot rise (else w_l2
 * would rise too and every class would slow down), and classes that gain are those that hit more often. Hence
 * two nested root searches of falling functions, each with one root. */
#include "core/micro/latency.h"

#include <math.h>
#include <stdbool.h>

#include "core/base/err.h"

static double inv4(double x)
{
    const double y = 1 / (x * x);
    return y * y;
}

double tmx_core_class_ipc(const struct tmx_core_class *c, double latency_cycles)
{
    double sum = inv4(c->ipc1);
    if (c->warps <= 0) {
        return 0;
    }
    if (c->lines_per_instr > 0) {
        const double run = c->mlp / c->lines_per_instr;
        sum += inv4(c->warps * run / (run * c->cpi1_cycles + latency_cycles));
        if (latency_cycles > 0) {
            sum += inv4(c->mshr / (c->lines_per_instr * latency_cycles));
        }
    } else {
        sum += inv4(c->warps / c->cpi1_cycles);
    }
    return 1 / sqrt(sqrt(sum));
}

double tmx_core_class_mshr_full(const struct tmx_core_class *c, double latency_cycles)
{
    struct tmx_core_class unlimited = *c;
    unlimited.mshr = INFINITY;
    const double lines = c->lines_per_instr * tmx_core_class_ipc(&unlimited, latency_cycles) * latency_cycles;
    double full = 1;
    for (int m = 1; m <= (int)c->mshr; m++) {
        full = lines * full / (m + lines * full);
    }
    return full;
}

struct network {
    const struct tmx_memory_system *m;
    const struct tmx_core_class *c;
    size_t n;
    double dram_wait;
    struct tmx_latency *out;
};

static double wait_cycles(double partitions, double service, double load)
{
    return load < 1 ? partitions * service * load / (2 * (1 - load)) : INFINITY;
}

/* Demand at the given waits; fills *out. */
static void flow(const struct network *w, double l2_wait, double dram_wait)
{
    struct tmx_latency *o = w->out;
    o->l2_wait_cycles = l2_wait;
    o->dram_wait_cycles = dram_wait;
    o->lines_per_cycle = o->dram_lines_per_cycle = o->dram_load = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct tmx_core_class *c = &w->c[i];
        const double miss = 1 - c->l2_hit;
        o->cycles[i] = w->m->base_cycles + l2_wait + miss * dram_wait;
        o->ipc[i] = tmx_core_class_ipc(c, o->cycles[i]);
        const double lines = c->cores * c->lines_per_instr * o->ipc[i];
        o->lines_per_cycle += lines;
        o->dram_lines_per_cycle += miss * lines;
        o->dram_load += miss * lines * c->dram_service;
    }
    o->l2_load = o->lines_per_cycle / w->m->l2_lines_per_cycle;
}

static double l2_excess(const struct network *w, double l2_wait)
{
    flow(w, l2_wait, w->dram_wait);
    return wait_cycles(w->m->partitions, 1 / w->m->l2_lines_per_cycle, w->out->l2_load) - l2_wait;
}

/* Root of a strictly falling f with f(0) >= 0: double until negative, then false position
 * (Illinois) with bisection where f is infinite. */
static double root(double (*f)(struct network *, double), struct network *w, double first)
{
    double lo = 0, flo = f(w, 0), hi = first, fhi = f(w, hi);
    if (flo <= 0) {
        return 0;
    }
    while (fhi > 0) {
        lo = hi;
        flo = fhi;
        hi *= 2;
        fhi = f(w, hi);
    }
    int side = 0;
    for (int i = 0; i < 200 && hi - lo > 1e-13 * hi; i++) {
        const double x = isfinite(flo) ? (lo * fhi - hi * flo) / (fhi - flo) : 0.5 * (lo + hi);
        const double mid = x > lo && x < hi ? x : 0.5 * (lo + hi);
        const double y = f(w, mid);
        if (y == 0 || mid == lo || mid == hi) {
            return mid;
        }
        if (y > 0) {
            lo = mid;
            flo = y;
            fhi = side > 0 ? fhi / 2 : fhi;
            side = 1;
        } else {
            hi = mid;
            fhi = y;
            flo = side < 0 ? flo / 2 : flo;
            side = -1;
        }
        if (fabs(y) <= 1e-12 * mid) {
            return mid;
        }
    }
    return 0.5 * (lo + hi);
}

static double l2_step(struct network *w, double l2_wait)
{
    return l2_excess(w, l2_wait);
}

static double dram_step(struct network *w, double dram_wait)
{
    double weight = 0, service = 0;
    w->dram_wait = dram_wait;
    const double l2_wait = root(l2_step, w, 1);
    flow(w, l2_wait, dram_wait);
    for (size_t i = 0; i < w->n; i++) {
        weight += w->c[i].cores;
        service += w->c[i].cores * w->c[i].dram_service;
    }
    return wait_cycles(w->m->partitions, service / weight, w->out->dram_load) - dram_wait;
}

/* One kind of core behaviour in the memory system: then one number, the wait, says all. */
static bool alike(const struct tmx_core_class *c, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (c[i].l2_hit != c[0].l2_hit || c[i].dram_service != c[0].dram_service) {
            return false;
        }
    }
    return n > 0;
}

/* Waits at both stations less the wait assumed; falls strictly, as demand does. */
static double total_step(struct network *w, double wait)
{
    const double miss = 1 - w->c[0].l2_hit;
    flow(w, wait, 0);
    const struct tmx_latency *o = w->out;
    return wait_cycles(w->m->partitions, 1 / w->m->l2_lines_per_cycle, o->l2_load) +
           (miss > 0 ? miss * wait_cycles(w->m->partitions, w->c[0].dram_service, o->dram_load) : 0) - wait;
}

static void solve_alike(struct network *w)
{
    struct tmx_latency *o = w->out;
    flow(w, root(total_step, w, 16), 0);
    o->l2_wait_cycles = wait_cycles(w->m->partitions, 1 / w->m->l2_lines_per_cycle, o->l2_load);
    o->dram_wait_cycles = wait_cycles(w->m->partitions, w->c[0].dram_service, o->dram_load);
}

void tmx_latency_solve(const struct tmx_memory_system *m, const struct tmx_core_class *c, size_t n,
                       struct tmx_latency *out)
{
    struct network w = {.m = m, .c = c, .n = n, .out = out};
    tmx_assert(n <= TMX_MAX_CLASS);
    out->l2_wait_cycles = out->dram_wait_cycles = out->l2_load = out->dram_load = 0;
    out->lines_per_cycle = out->dram_lines_per_cycle = 0;
    for (size_t i = 0; i < n; i++) {
        out->ipc_no_memory[i] = tmx_core_class_ipc(
            &(struct tmx_core_class){
                .warps = c[i].warps, .ipc1 = c[i].ipc1, .cpi1_cycles = c[i].cpi1_cycles, .mshr = c[i].mshr},
            0);
    }
    if (alike(c, n)) {
        solve_alike(&w);
    } else if (n > 0) {
        const double dram_wait = root(dram_step, &w, 16);
        (void)dram_step(&w, dram_wait);
    }
}
