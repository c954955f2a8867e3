#include "sched/gate/gate.h"

#include <string.h>

extern const struct tmx_gate_policy tmx_gate_none, tmx_gate_convpg, tmx_gate_gates, tmx_gate_naive_blackout,
    tmx_gate_coordinated_blackout, tmx_gate_warped_gates;

const struct tmx_gate_policy *const tmx_gate_policies[] = {
    &tmx_gate_none,
    &tmx_gate_convpg,
    &tmx_gate_gates,
    &tmx_gate_naive_blackout,
    &tmx_gate_coordinated_blackout,
    &tmx_gate_warped_gates,
    NULL,
};

const struct tmx_gate_policy *tmx_gate_find(const char *name)
{
    for (const struct tmx_gate_policy *const *p = tmx_gate_policies; *p; p++) {
        if (strcmp((*p)->base.name, name) == 0) {
            return *p;
        }
    }
    return NULL;
}
