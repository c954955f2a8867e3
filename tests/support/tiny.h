/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_SUPPORT_TINY_H
#define TMX_TESTS_SUPPORT_TINY_H

/* A tiny GPU for scenario tests: rows of 2 x 2 mm SMs, two a cluster, and one uncore strip. */

#include <stdio.h>
#include <stdlib.h>

#include "core/machine/machine.h"
#include "tests/support/check.h"

/* Of all GPUs. */
static inline void tiny_apply(struct tmx_machine *m, const struct tmx_request *request,
                              const double *sensed_k)
{
    tmx_machine_apply_span(m, tmx_machine_all(m), request, sensed_k);
}
static inline void tiny_advance(struct tmx_machine *m, double time_s)
{
    tmx_machine_end_tick(m, tmx_machine_advance_span(m, tmx_machine_all(m), time_s));
}

static inline void tiny_chip(struct tmx_chip *c, size_t n_sm)
{
    struct tmx_floorplan fp = {0};
    *c = (struct tmx_chip){.name = "tiny",
                           .sm_prefix = "SM",
                           .sms_per_cluster = 2,
                           .sm_power_reference_sms = (double)n_sm,
                           .kernel_power_scale = 1,
                           .limits = {1024, 8, 16384, 16384},
                           .power = {.baseline_w = 1,
                                     .leakage_w = 2,
                                     .leakage_ref_c = 85,
                                     .leakage_exp_per_k = 0.02,
                                     .leakage_sm_share = -1,
                                     .dvfs_leakage = true},
                           .level = {{1.2, 1.0e9}, {1.1, 0.9e9}, {1.0, 0.8e9}},
                           .n_level = 3};
    for (size_t i = 0; i < n_sm; i++) {
        char name[16];
        snprintf(name, sizeof name, "SM%zu", i);
        const struct tmx_unit u = {.name = name,
                                   .x_m = 2e-3 * (double)(i / 2),
                                   .y_m = 2e-3 * (double)(i % 2),
                                   .w_m = 2e-3,
                                   .h_m = 2e-3};
        assert_int_equal(tmx_floorplan_add(&fp, &u, NULL), TMX_OK);
    }
    char uncore[] = "UNCORE";
    const struct tmx_unit u = {
        .name = uncore, .y_m = 4e-3, .w_m = 2e-3 * (double)((n_sm + 1) / 2), .h_m = 2e-3};
    assert_int_equal(tmx_floorplan_add(&fp, &u, NULL), TMX_OK);
    assert_int_equal(tmx_chip_attach(c, &fp, NULL), TMX_OK);
}

static inline struct tmx_job tiny_job(const struct tmx_kernel *k, double work_s, double power_w, size_t n_sm)
{
    return (struct tmx_job){.kernel = k,
                            .work_sm_s = work_s * (double)n_sm,
                            .blocks_per_sm_s = 4000,
                            .lifetime_s = 1e-3,
                            .power_w = power_w,
                            .pdi_w = power_w,
                            .sm_speed = 1,
                            .sm_w = 1,
                            .gate_slowdown = 1,
                            .memory_slowdown = 1,
                            .remote_weight = 1,
                            .width_sms = n_sm};
}

#endif
