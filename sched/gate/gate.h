#ifndef TMX_SCHED_GATE_GATE_H
#define TMX_SCHED_GATE_GATE_H

#include "core/contract/gate_policy.h"

/* Every gating policy, NULL-terminated; the first is the default (no gating). */
extern const struct tmx_gate_policy *const tmx_gate_policies[];

/* Policy of this exact name; NULL when there is none. */
const struct tmx_gate_policy *tmx_gate_find(const char *name);

#endif
