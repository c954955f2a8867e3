#include "cli/presets.h"

#include <stddef.h>
#include <string.h>

const struct tmx_preset tmx_presets[] = {
    {"BL", "own_gpu", "fcfs", "none", "round_robin", "baseline: first come first served, throttling"},
    {"DVFS", "own_gpu", "fcfs", "dvfs", "round_robin", "first come first served, five clock levels"},
    {"A", "own_gpu", "alternate", "none", "round_robin", "T^ABS alternate"},
    {"MU", "own_gpu", "mixed_uniform", "none", "round_robin", "T^ABS mixed uniform"},
    {"MNU", "own_gpu", "mixed_nonuniform", "none", "round_robin", "T^ABS mixed nonuniform"},
    {"MA", "own_gpu", "mixed_alternate", "none", "round_robin", "T^ABS mixed alternate"},
    {0},
};

const struct tmx_preset *tmx_preset_find(const char *name)
{
    for (const struct tmx_preset *p = tmx_presets; p->name; p++) {
        if (strcmp(p->name, name) == 0) {
            return p;
        }
    }
    return NULL;
}
