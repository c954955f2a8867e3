/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef THERMIX_RUN_H
#define THERMIX_RUN_H

/* A simulation, whole or step by step: a workload on GPUs under policies, with temperatures, fans and
 * clocks in one loop.
 *
 *     struct tmx_config *config = NULL;
 *     struct tmx_run *run = NULL;
 *     bool done = false;
 *     st = tmx_config_open(&config, "wl1.cfg", &err);
 *     st = st ? st : tmx_run_open(&run, config, NULL, &err);
 *     while (!st && !done) {
 *         st = tmx_run_step(run, 100, &done, &err);
 *         ...
 *     }
 *     tmx_run_close(run);
 *     tmx_config_close(config);
 *
 * One thread at a time may use a run; two runs share nothing but a const catalog. Nothing is printed;
 * files are written by tmx_run_write and to the cache folder of set-up results alone. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <thermix/config.h>
#include <thermix/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tmx_run;
struct tmx_catalog; /* which policies there are; NULL: the built-in ones */

/* Set up a run. The configuration is not needed afterwards; the catalog is until the run is closed.
 * *run is NULL after a failure. Errors: TMX_ECONFIG, TMX_EIO, TMX_EPARSE with file and line, TMX_ENOMEM,
 * TMX_ESOLVE. */
TMX_API TMX_NODISCARD enum tmx_status tmx_run_open(struct tmx_run **run, const struct tmx_config *config,
                                                   const struct tmx_catalog *catalog, struct tmx_err *err);

/* Advance n_tick ticks, fewer when the work ends before; 0: to the end. *done (may be NULL) tells whether
 * all work is done. Errors leave the run readable: TMX_ERUNAWAY, TMX_EUNFINISHED (no progress for stuck_s),
 * TMX_ESOLVE. */
TMX_API TMX_NODISCARD enum tmx_status tmx_run_step(struct tmx_run *run, uint64_t n_tick, bool *done,
                                                   struct tmx_err *err);

/* What a run has several of. SMs and units are those of all GPUs, one GPU after another. */
enum tmx_thing {
    TMX_THING_RUN, /* one */
    TMX_THING_GPU,
    TMX_THING_SM,
    TMX_THING_UNIT, /* of the floorplans */
    TMX_THING_FAN,  /* none without a topology */
    TMX_THING_JOB,  /* kernels of the mix, by arrival */
    TMX_THING_METRIC,
    TMX_N_THING,
};
TMX_API size_t tmx_run_count(const struct tmx_run *run, enum tmx_thing thing);
/* Name of the i-th; lives as long as the run. NULL beyond the last. */
TMX_API const char *tmx_run_name(const struct tmx_run *run, enum tmx_thing thing, size_t i);

/* X(name, one for each, text): what can be read, each a double. Times count from the end of the warm-up. */
#define TMX_QUANTITY_LIST(X)                                                                    \
    X(TMX_READ_TIME_S, TMX_THING_RUN, "simulated time, negative during the warm-up")            \
    X(TMX_READ_TICK_S, TMX_THING_RUN, "length of a tick")                                       \
    X(TMX_READ_GPU_N_SM, TMX_THING_GPU, "number of its SMs")                                    \
    X(TMX_READ_GPU_N_UNIT, TMX_THING_GPU, "number of its floorplan units")                      \
    X(TMX_READ_GPU_LEVEL, TMX_THING_GPU, "clock level in force; 0 is the fastest")              \
    X(TMX_READ_GPU_N_LEVEL, TMX_THING_GPU, "number of its clock levels")                        \
    X(TMX_READ_GPU_SHARE, TMX_THING_GPU, "share of the first of two resident kernels")          \
    X(TMX_READ_GPU_N_RUN, TMX_THING_GPU, "number of resident kernels")                          \
    X(TMX_READ_GPU_N_QUEUE, TMX_THING_GPU, "number of kernels that wait in its queue")          \
    X(TMX_READ_SM_SENSED_K, TMX_THING_SM, "temperature as its sensor reads it")                 \
    X(TMX_READ_SM_GATED, TMX_THING_SM, "1 while its clock is off, else 0")                      \
    X(TMX_READ_UNIT_TEMP_K, TMX_THING_UNIT, "temperature at the end of the last tick")          \
    X(TMX_READ_UNIT_POWER_W, TMX_THING_UNIT, "mean power in the last tick")                     \
    X(TMX_READ_FAN_RPM, TMX_THING_FAN, "speed")                                                 \
    X(TMX_READ_JOB_ARRIVAL_S, TMX_THING_JOB, "when it arrives")                                 \
    X(TMX_READ_JOB_STARTED_S, TMX_THING_JOB, "when its first block started; negative: not yet") \
    X(TMX_READ_JOB_FINISHED_S, TMX_THING_JOB, "when its last block ended; negative: not yet")   \
    X(TMX_READ_JOB_DONE, TMX_THING_JOB, "share of its work that is done, 0 .. 1")               \
    X(TMX_READ_JOB_ENERGY_J, TMX_THING_JOB, "dynamic energy")                                   \
    X(TMX_READ_METRIC_VALUE, TMX_THING_METRIC, "what the program prints after a run, up to now")

enum tmx_quantity {
#define X(name, thing, text) name,
    TMX_QUANTITY_LIST(X)
#undef X
        TMX_N_QUANTITY,
};

/* Write a quantity into out [n]; n is the count of what it is of, else TMX_ERANGE. */
TMX_API TMX_NODISCARD enum tmx_status tmx_run_read(const struct tmx_run *run, enum tmx_quantity quantity,
                                                   double *out, size_t n, struct tmx_err *err);

/* The run's own array of a quantity, read only, its length in *n: always up to date, at one place as long
 * as the run lives. For TMX_READ_SM_SENSED_K, TMX_READ_UNIT_TEMP_K and TMX_READ_UNIT_POWER_W; others are not
 * kept as one array of doubles: NULL. */
TMX_API const double *tmx_run_look(const struct tmx_run *run, enum tmx_quantity quantity, size_t *n);

enum tmx_text {
    TMX_TEXT_ID,       /* hash of the resolved configuration and of the content of what it names; behind
                          "unreproducible-" where the option `code` of a policy begins so */
    TMX_TEXT_RESOLVED, /* the configuration with every key, from which the run can be repeated */
};
TMX_API const char *tmx_run_text(const struct tmx_run *run,
                                 enum tmx_text what); /* lives as long as the run */

/* Write resolved.cfg, summary.csv and kernels.csv into the folder, made when absent, as `thermix run -o`. */
TMX_API TMX_NODISCARD enum tmx_status tmx_run_write(const struct tmx_run *run, const char *folder,
                                                    struct tmx_err *err);

TMX_API void tmx_run_close(struct tmx_run *run); /* NULL: nothing happens */

#ifdef __cplusplus
}
#endif
#endif
