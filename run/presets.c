/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/presets.h"

#include <stddef.h>
#include <string.h>

const struct tmx_preset tmx_presets[] = {
    {"BL", "own_gpu", "fcfs", "none", "round_robin", "baseline: first come first served, throttling"},
    {"DVFS", "own_gpu", "fcfs", "dvfs", "round_robin", "first come first served, clock levels by heat"},
    {"A", "own_gpu", "alternate", "none", "round_robin", "T^ABS alternate"},
    {"MU", "own_gpu", "mixed_uniform", "none", "round_robin", "T^ABS mixed uniform"},
    {"MNU", "own_gpu", "mixed_nonuniform", "none", "round_robin", "T^ABS mixed nonuniform"},
    {"MA", "own_gpu", "mixed_alternate", "none", "round_robin", "T^ABS mixed alternate"},
    {"foresight", "own_gpu", "foresight", "none", "round_robin",
     "predicts temperatures: mixes, places and clocks so that the limit is just kept"},
    {"tsp", "own_gpu", "tsp", "none", "round_robin",
     "thermal safe power: the fastest level that is safe for ever; mixes and places"},
    {"slosh", "own_gpu", "slosh", "boost", "round_robin",
     "synchronous jobs: power caps follow who holds the others back"},
    {"capped", "own_gpu", "fcfs", "boost", "round_robin", "first come first served under the boards' limits"},
    {"MG-BL", "own_gpu", "fcfs", "none", "round_robin", "several GPUs: a kernel each, throttling"},
    {"MG-DVFS", "own_gpu", "fcfs", "dvfs", "round_robin",
     "several GPUs: a kernel each, clock levels by heat"},
    {"MG-A", "spread", "alternate", "none", "round_robin", "T^ABS across the GPUs of a card, alternate"},
    {"MG-MU", "spread", "mixed_uniform", "none", "round_robin", "T^ABS across GPUs, mixed uniform"},
    {"MG-MNU", "spread", "mixed_nonuniform", "none", "round_robin", "T^ABS across GPUs, mixed nonuniform"},
    {"MG-MA", "spread", "mixed_alternate", "none", "round_robin", "T^ABS across GPUs, mixed alternate"},
    {"MG-RR", "round_robin", "mixed_uniform", "none", "round_robin",
     "next GPU in turn, mixed uniform on each"},
    {"MG-COLD", "coldest", "mixed_uniform", "none", "round_robin", "coldest GPU, mixed uniform on each"},
    {"MG-LOAD", "least_loaded", "mixed_uniform", "none", "round_robin",
     "least loaded GPU, mixed uniform on each"},
    {"MG-PAIR", "pair_hot_cold", "mixed_uniform", "none", "round_robin",
     "hot with cold by pdi, mixed uniform on each"},
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
