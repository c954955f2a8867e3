/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/options.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/contract/choice.h"
#include "core/floorplan/chip.h"
#include "core/sim/record/recorder.h"
#include "core/sim/source/sources.h"
#include "core/sim/stage/cooling.h"
#include "core/sim/stage/sensor.h"
#include "core/sim/stage/stages.h"
#include "core/workload/sync_job.h"
#include "kernels/sm_cycle.h"
#include "thermal/files/hotspot_config.h"

static const char *const warmups[] = {"policy", "throttle", "idle", NULL}; /* enum tmx_warmup */
static const char *const stopped_blocks[] = {"move", "wait", NULL};        /* enum tmx_stopped_blocks */
static const char *const networks[] = {"hotspot", "physical", NULL};       /* enum tmx_network_kind */
static const char *const ticks[] = {"fixed", "events", NULL};              /* enum tmx_tick */
static const char *const pdis[] = {"watts", "counters", NULL};             /* enum tmx_pdi */
static const char *const orders[] = {"listed", "reversed", NULL};          /* enum tmx_arrival_order */
static const char *const queues[] = {"per_gpu", "shared", NULL};

const struct tmx_opt tmx_run_opts[] = {
    TMX_ROW_NAME(tmx_run_options, chip, "gtx280", "chip: a folder of floorplans/, or a path to one"),
    TMX_ROW_NAME(tmx_run_options, floorplan, "",
                 "floorplan in place of the chip's own: a file, also of the chip's folder"),
    TMX_ROW_TEXT(tmx_run_options, sms_off, "",
                 "SMs that are fused off, 14,15,112-127, in place of the chip's own"),
    TMX_ROW_NAME(tmx_run_options, topology, "",
                 "cards, GPUs, fans and air: a file of systems/, or a path; in place of chip and gpus"),
    TMX_ROW_TEXT(tmx_run_options, link, "", "link between the GPUs; \"\": the topology's"),
    TMX_ROW_CHOICE(tmx_run_options, queue, queues, "per_gpu",
                   "arrivals wait at a GPU, or in one queue until a GPU has none waiting"),
    TMX_ROW_REAL(tmx_run_options, fan_period_s, "s", 1e-3, 1000, 0.5,
                 "between updates of fans and inlet air"),
    TMX_ROW_NAME(tmx_run_options, mix, "", "workload: a file of workloads/mixes/, or a path; or group serve"),
    TMX_ROW_NAME(
        tmx_run_options, reference_chip, "",
        "of a node with several: the one whose times and watts the mix gives; \"\": under place policy "
        "own_gpu each job's own, else GPU 0's"),
    TMX_ROW_TEXT(tmx_run_options, policy, "BL",
                 "preset of the policies of all levels; `thermix list policies`"),
    TMX_ROW_INT(tmx_run_options, gpus, "1", 1, 4096, 1, "GPUs of this chip, on one card without a fan model"),
    TMX_ROW_INT(tmx_run_options, seed, "1", 0, 2147483647, NAN,
                "seed of all random streams: arrivals, sensors, instructions, block lengths"),
    TMX_ROW_REAL(tmx_run_options, tick_s, "s", 1e-6, 1, 0.001, "simulation tick"),
    TMX_ROW_CHOICE(tmx_run_options, tick, ticks, "fixed",
                   "a step of the simulation: every tick, or from event to event; tick_s is then only the "
                   "unit of times"),
    TMX_ROW_REAL(tmx_run_options, quantum_s, "s", 1e-4, 100, 0.05, "scheduling tick of the operating system"),
    TMX_ROW_REAL(
        tmx_run_options, warmup_s, "s", 0, 1e6, 0,
        "time simulated before results are counted, with the same work and policies; arrival_s counts from "
        "its begin"),
    TMX_ROW_CHOICE(tmx_run_options, warmup_with, warmups, "policy",
                   "what warms up: the run's own policies, the first kernel under the hardware's throttle "
                   "alone, or an idle chip"),
    TMX_ROW_REAL(tmx_run_options, stuck_s, "s", 1, 1e7, 500, "give up after this time without progress"),
    TMX_ROW_TEXT(tmx_run_options, method, "reduced", "thermal back-end; `thermix list backends`"),
    TMX_ROW_CHOICE(tmx_run_options, network, networks, "hotspot",
                   "thermal network: HotSpot's, or finite volumes of the whole package"),
    TMX_ROW_INT(tmx_run_options, rows, "1", 0, 1024, 0, "grid rows; 0: the package file's"),
    TMX_ROW_INT(tmx_run_options, cols, "1", 0, 1024, 0, "grid columns; 0: the package file's"),
    TMX_ROW_REAL(tmx_run_options, system_kernel_s, "s", 0, 1, 5e-7,
                 "a system kernel's run time, paper 003 section 3.3"),
    TMX_ROW_BOOL(tmx_run_options, measured_gains, 0,
                 "intermixing speeds up as measured in paper 003, Table 3"),
    TMX_ROW_CHOICE(
        tmx_run_options, stopped_blocks, stopped_blocks, "move",
        "a kernel's work goes on elsewhere when an SM stops, or it also waits for the blocks there"),
    TMX_ROW_CHOICE(
        tmx_run_options, arrival_order, orders, "listed",
        "kernels of the mix that arrive at one time queue as the mix lists them, or the last first"),
    TMX_ROW_CHOICE(tmx_run_options, pdi, pdis, "watts",
                   "a kernel's power density index: the watts it draws, or equation 1 of paper 003 from its "
                   "rate_* and the chip's max_*_w"),
    TMX_ROW_REAL(tmx_run_options, rate_error, "1", 0, 10, 0,
                 "standard deviation of what the volunteer SM counts, relative: of each unit's rate with "
                 "counters, of the whole index with watts; one draw a kernel"),
    TMX_ROW_BOOL(tmx_run_options, memory_bound_time, 0,
                 "the clock does not change the part of a kernel's time that its memory_bound gives"),
    TMX_ROW_REAL(
        tmx_run_options, emergency_below_trip_k, "K", -1, 200, -1,
        "emergency_c of dtm, mix_policy and place is throttle.trip_c less this; -1: keep their own values"),
    TMX_ROW_REAL(tmx_run_options, release_below_trip_k, "K", -1, 200, -1, "likewise their release_c"),
    TMX_ROW_BOOL(tmx_run_options, leakage, 1, "count leakage"),
    TMX_ROW_INT(
        tmx_run_options, threads, "1", 1, 64, 1,
        "threads that advance the GPUs of the run; neither the results nor the run's id depend on it"),
    TMX_ROW_TEXT(tmx_run_options, doc, "", "description for `thermix list runs`; not part of the run's id"),
    {0},
};

const struct tmx_opt tmx_run_bound_opts[] = {
    TMX_ROW_BOOL(tmx_run_bound_options, uniform, 0, "all SMs alike: no placement"),
    TMX_ROW_BOOL(tmx_run_bound_options, one_level, 0, "the fastest clock level only"),
    TMX_ROW_REAL(tmx_run_bound_options, sm_leak, "1", 0.01, 1, 1,
                 "least share of the SMs' leakage that remains under unit gating"),
    {0},
};

#define NAME(name, policies, opts) #name,
#define GROUP(name)                #name,
#define GROUPS(feature, groups)    groups
const char *const tmx_run_groups[] = {TMX_RUN_GROUPS(NAME) TMX_RUN_FEATURES(GROUPS, GROUP) NULL};

const struct tmx_preset tmx_presets[] = {
    {"BL", "own_gpu", "fcfs", "none", "round_robin", "baseline: first come first served, throttling"},
    {"DVFS", "own_gpu", "fcfs", "dvfs", "round_robin", "first come first served, clock levels by heat"},
    {"A", "own_gpu", "alternate", "none", "round_robin", "T^ABS alternate"},
    {"MU", "own_gpu", "mixed_uniform", "none", "round_robin", "T^ABS mixed uniform"},
    {"MNU", "own_gpu", "mixed_nonuniform", "none", "round_robin", "T^ABS mixed nonuniform"},
    {"MA", "own_gpu", "mixed_alternate", "none", "round_robin", "T^ABS mixed alternate"},
    {"foresight", "own_gpu", "foresight", "none", "round_robin",
     "predicts temperatures; mixes, places and clocks kernels just below the limit"},
    {"tsp", "own_gpu", "tsp", "none", "round_robin",
     "thermal safe power: the fastest level that is safe for ever; mixes and places"},
    {"slosh", "own_gpu", "slosh", "boost", "round_robin",
     "synchronous jobs: moves power to the GPU that the others wait for"},
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

#define KEYS(name, policies, opts) TMX_KEYS(#name, opts),
const struct tmx_keys tmx_run_file_keys[] = {TMX_KEYS("", tmx_run_opts), TMX_RUN_GROUPS(KEYS){0}};
