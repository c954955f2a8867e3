/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_STAGE_CTA_STAGE_H
#define TMX_CORE_SIM_STAGE_CTA_STAGE_H

/* CTA policies in the tick. Before the run the epoch model (kernels/contention) has run every kernel
 * under the policy once and left a plan: how many SMs it settles for, which clocks, what finding that out
 * cost. In the run the stage
 *  - asks for as many SMs as the resident kernels' plans say (two kernels: mean of their plans by their
 *    shares; the larger plan where they take turns), and puts them in order: far apart, or the coldest first;
 *  - lets the kernels that have SMs in this tick share the memory system: one latency solution for
 *    (kernels, SMs each, clock) gives every kernel's speed per SM against itself alone on the whole chip;
 *  - charges a kernel's transient when it becomes resident;
 *  - switches unused SMs off: they leak the gated rest.
 * Without the stage a kernel's speed per SM does not depend on who else runs. */

#include <thermix/policy.h>

#include "core/contract/power_model.h"
#include "core/machine/machine.h"
#include "kernels/contention.h"

enum tmx_cta_place {
    TMX_CTA_COLDEST, /* the coldest SMs, by their sensors */
    TMX_CTA_SPREAD,  /* as far apart as possible */
    TMX_CTA_ORDER,   /* the order of the thread-block policy */
};

struct tmx_cta_plan { /* of one kernel under the policy */
    struct tmx_memory_kernel memory;
    double sms;        /* settled for */
    double core_clock; /* asked for, relative to nominal */
    double memory_clock;
    double delay_s;  /* lost until settled, against having known */
    double energy_j; /* likewise */
};

struct tmx_cta_spec {                /* plan NULL: no stage */
    const struct tmx_kernel *kernel; /* [n_kernel], as the jobs point to them */
    size_t n_kernel;
    const struct tmx_cta_plan *plan; /* [n_kernel]; copied */
    struct tmx_memory_chip chip;
    bool turns;         /* the mix policy lets kernels take turns; tmx_sim_create sets it */
    bool lend;          /* freed SMs go to the other resident kernel */
    bool power_gate;    /* unused SMs are power-gated; else they only have no work */
    double gated_share; /* of an unused SM's leakage that is left */
    int place;          /* enum tmx_cta_place */
};

struct tmx_cta_stage;

/* Errors: TMX_ENOMEM. */
/* In the arena of a simulation, whose `failed` says whether there was memory. */
struct tmx_cta_stage *tmx_cta_stage_take(struct tmx_arena *a, const struct tmx_cta_spec *spec,
                                         const struct tmx_machine *m);

/* At the scheduling tick: the order [n_sm] of a GPU's SMs; false, and nothing written: group tb says it. */
bool tmx_cta_stage_order(const struct tmx_cta_stage *c, const struct tmx_gpu *gpu, size_t g,
                         const double *sensed_k, size_t *order);
/* After the mix policy: SMs and clock level of every GPU. */
void tmx_cta_stage_limit(const struct tmx_cta_stage *c, const struct tmx_machine *m,
                         struct tmx_request *request);
/* When blocks have been dealt out, before they advance: speeds of the resident kernels, and the cost of
 * kernels that have just become resident. */
void tmx_cta_stage_slow(struct tmx_cta_stage *c, struct tmx_machine *m);
/* [n_job] memory latency of resident kernels against the kernel alone on the whole chip at nominal clocks,
 * in seconds over seconds; 1 where it has no plan. Owned by the stage. */
const double *tmx_cta_stage_latency(const struct tmx_cta_stage *c);
/* After: what unused SMs save of their leakage where they are power-gated, in unpowered [n_unit]. */
void tmx_cta_stage_sleep(const struct tmx_cta_stage *c, const struct tmx_machine *m, double *unpowered);

/* Order n points (x, y) so that each is as far as possible from all before it; the first is the one
 * farthest from the centre. Ties: the lower index. */
void tmx_spread_order(const double *x, const double *y, size_t n, size_t *order);

#endif
