/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_SIM_METER_H
#define TMX_CORE_SIM_METER_H

/* What a board measures of itself beside its SMs' temperatures: the power it draws, the temperature of its
 * memory, the air it breathes. Policies see it in struct tmx_view. */

#include "core/machine/machine.h"

struct tmx_meter;

/* Before the first reading a board draws nothing and its air and memory are at 0 K. */
TMX_NODISCARD enum tmx_status tmx_meter_create(struct tmx_meter **m, const struct tmx_machine *machine,
                                               struct tmx_err *err);
void tmx_meter_destroy(struct tmx_meter *m);

/* A tick's watts, gpu_w [n_gpu, W]. */
void tmx_meter_add(struct tmx_meter *m, const double *gpu_w);

/* A reading: board watts as the mean since the last one, memory rounded to multiples of quantum_k (0: exact)
 * from temp_k [n_unit, K]. */
void tmx_meter_read(struct tmx_meter *m, const struct tmx_machine *machine, const double *temp_k,
                    double quantum_k);
double *tmx_meter_memory_k(struct tmx_meter *m); /* [n_gpu] of the last reading; ranks fill it in */
void tmx_meter_inlet(struct tmx_meter *m, size_t gpu, double inlet_k);

/* Set the pointers of *view; they live as long as the meter. */
void tmx_meter_view(const struct tmx_meter *m, struct tmx_view *view);

/* Everything that changes, in one piece, for snapshots. */
void *tmx_meter_image(struct tmx_meter *m);
size_t tmx_meter_image_size(const struct tmx_meter *m);

#endif
