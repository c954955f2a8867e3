/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suite warped-gates: what is to run, and its runs. What the printed values mean: papers/warped_gates.c. */
#ifndef TMX_PAPERS_WARPED_GATES_RUNS_H
#define TMX_PAPERS_WARPED_GATES_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "papers/suite.h"
#include "study/microbench/gate_runs.h"

enum { TMX_WG_PARTS = 3 };

struct tmx_wg_part {
    const char *name;             /* as `variant` of a value */
    struct tmx_gate_chip sm;      /* with its own knobs */
    struct tmx_gate_plan plan;    /* of one fit */
    struct tmx_sm_result *result; /* [n_seed * n_kernel * n_case] owned */
};

struct tmx_wg {
    int instructions, seed, seeds;
    char chip[64];
    struct tmx_gate_chip sm;
    struct tmx_gate_kernel kernel[TMX_GATE_KERNELS];
    struct tmx_gate_case gate_case[TMX_GATE_CASES]; /* the plain ones, then the sweeps of the first part */
    size_t n_kernel, n_plain, n_case;
    struct tmx_gate_kernel code_name[TMX_GATE_KERNELS]; /* of the kernels with compiled code: names alone */
    struct tmx_stream code[TMX_GATE_KERNELS];           /* theirs, owned */
    size_t n_code;
    struct tmx_wg_part part[TMX_WG_PARTS];
};

/* Reads the suite of `call` into s (zeroed). TMX_ECONFIG with file:line, TMX_ENOMEM. */
enum tmx_status tmx_wg_open(struct tmx_wg *s, const struct tmx_suite_call *call, struct tmx_err *err);

/* Runs every part under every seed into its `result`. */
enum tmx_status tmx_wg_run(struct tmx_wg *s, struct tmx_err *err);

/* Index of a case among a plan's; its n_case when it has none like it. */
size_t tmx_wg_find_case(const struct tmx_gate_plan *plan, const struct tmx_gate_case *want);

/* Part and case of a policy under `variant`: the name of a part, or a time of a sweep such as
 * "break-even 19". False when there is none. */
bool tmx_wg_find_variant(const struct tmx_wg *s, const char *variant, const struct tmx_gate_policy *policy,
                         const struct tmx_wg_part **part, size_t *gate_case);

void tmx_wg_finish(struct tmx_wg *s);

#endif
