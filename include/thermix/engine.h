/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef THERMIX_ENGINE_H
#define THERMIX_ENGINE_H

/* Temperatures from powers, without a scheduler: one chip in its package on one back-end.
 *
 *     const char *const options[] = {"chip=gtx280", "grid_rows=32", "grid_cols=32", NULL};
 *     struct tmx_engine *engine = NULL;
 *     enum tmx_status st = tmx_engine_open(&engine, options, &err);
 *
 * One thread at a time may use an engine; engines share nothing. Nothing is printed, no file is
 * written but the cache of reduced models (option cache=0: not even that). */

#include <stdbool.h>
#include <stddef.h>

#include <thermix/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tmx_engine;

/* Set up an engine. options are words "name=value", ended by NULL:
 *   HotSpot's options by their names   f=chip.flp, grid_rows=64, r_convec=0.2, ... (docs/formats.md)
 *   c=FILE                             more of them from a .config file; a word of the list beats it
 *   chip=NAME                          floorplan and package of a shipped chip, in place of c= and f=
 *   method=reduced|grid                what computes transients; reduced by default
 *   network=hotspot|physical           HotSpot's network, or finite volumes of the whole package
 *   tolerance_k, modes, cache, precision, scheme, r_convec_low, r_convec_high
 *                                      options of that method (docs/formats.md, "thermal")
 *   allow_gaps=1, hotspot_compat=1     as the options of `thermix thermal`
 * init_file, with dtm_used or without, is where it starts, as for `thermix thermal`.
 * sampling_intvl is the shortest step the reduced model has to be accurate for.
 * *e is NULL after a failure. Errors: TMX_ECONFIG, TMX_EIO, TMX_EPARSE with the file and line;
 * TMX_ECONFIG also for leakage_used and natural_convec, which change the powers or the network between
 * steps (the caller's business here), for p, o, d and the *_file of outputs in the list, and for what
 * `thermix thermal` refuses, use_microchannels above all. */
TMX_API TMX_NODISCARD enum tmx_status tmx_engine_open(struct tmx_engine **e, const char *const *options,
                                                      struct tmx_err *err);

/* Number of units that take power; the length of power_w and temp_k below. */
TMX_API size_t tmx_engine_units(const struct tmx_engine *e);

/* Name of a unit, in the order of power_w; lives as long as the engine. NULL beyond the last. */
TMX_API const char *tmx_engine_unit(const struct tmx_engine *e, size_t unit);

/* Advance by dt_s [s] > 0 under constant power_w [units, W]; temp_k [units, K] is written with
 * the temperatures at the end and may be NULL. The first step with a new dt_s takes longer.
 * Errors: TMX_ERANGE for a dt_s or a power that is negative or not finite, TMX_ESOLVE, TMX_ENOMEM. */
TMX_API TMX_NODISCARD enum tmx_status tmx_engine_step(struct tmx_engine *e, double dt_s,
                                                      const double *power_w, double *temp_k,
                                                      struct tmx_err *err);

/* n_step steps at once: power_w [n_step][units, W] read, temp_k [n_step][units, K] written, row by
 * row; temp_k may be NULL. The same numbers as n_step calls of tmx_engine_step. After a failure
 * the rows before it are written. */
TMX_API TMX_NODISCARD enum tmx_status tmx_engine_step_many(struct tmx_engine *e, double dt_s, size_t n_step,
                                                           const double *power_w, double *temp_k,
                                                           struct tmx_err *err);

/* Temperatures temp_k [units, K] now. */
TMX_API void tmx_engine_read(const struct tmx_engine *e, double *temp_k);

/* Equilibrium temp_k [units, K] under power_w [units, W]; temp_k may be NULL. The engine is moved
 * there when settle is true, else it stays where it is. */
TMX_API TMX_NODISCARD enum tmx_status tmx_engine_steady(struct tmx_engine *e, const double *power_w,
                                                        bool settle, double *temp_k, struct tmx_err *err);

TMX_API void tmx_engine_close(struct tmx_engine *e); /* NULL: nothing happens */

#ifdef __cplusplus
}
#endif
#endif
