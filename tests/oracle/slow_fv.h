/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_TESTS_ORACLE_SLOW_FV_H
#define TMX_TESTS_ORACLE_SLOW_FV_H

/* Heat conduction in a chip and its package in the most literal way: one fine box grid over everything,
 * finite volumes, conjugate gradients, TR-BDF2 in time. The oracle of the physical network. Shares
 * no code with it but the description of the chip. */

#include "thermal/assembly/spec.h"

struct slow_fv; /* one chip */

/* n_die cells along the die's longer side; spec: uniform layers, one dissipates, no unit materials. Ends the
 * program when out of memory. */
struct slow_fv *slow_fv_create(const struct tmx_thermal_spec *spec, size_t n_die);
void slow_fv_destroy(struct slow_fv *f);
size_t slow_fv_cells(const struct slow_fv *f);

/* Rise above ambient of every unit (area mean over the face away from the sink): in equilibrium, and at
 * ascending times after a start at ambient. rise_k [n_unit], or [n_time][n_unit]. */
void slow_fv_steady(struct slow_fv *f, const double *power_w, double *rise_k);
void slow_fv_step(struct slow_fv *f, const double *power_w, const double *time_s, size_t n_time,
                  double *rise_k);

#endif
