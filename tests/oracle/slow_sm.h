/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_ORACLE_SLOW_SM_H
#define TMX_TESTS_ORACLE_SLOW_SM_H

/* The SM of kernels/sm_cycle.h in the most literal way: every cycle looks at every warp, every
 * register and every unit, and counts what it sees. The oracle of the tests and of bench/gate. */

#include "kernels/sm_cycle.h"

/* Contract of tmx_sm_run. */
enum tmx_status slow_sm_run(const struct tmx_sm_params *sm, const struct tmx_stream *s,
                            const struct tmx_gate_policy *policy, const struct tmx_gate_params *gate,
                            uint64_t budget, const struct tmx_sm_probe *probe, struct tmx_sm_result *r,
                            struct tmx_err *err);

#endif
