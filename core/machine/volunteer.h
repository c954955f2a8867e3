/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_VOLUNTEER_H
#define TMX_CORE_MACHINE_VOLUNTEER_H

/* Volunteer SMs, paper 003 section 3.1: the coldest SM profiles a waiting kernel that no SM has
 * profiled. It first lets its resident blocks finish, then runs blocks of the new kernel until one
 * retires. Private to the machine. */

#include "core/machine/machine.h"

/* Choose volunteers of one GPU by sensed_k [node-wide n_sm, K]. */
void tmx_machine_volunteer(struct tmx_machine *m, struct tmx_gpu *gpu, const double *sensed_k);

/* The volunteers' share of the tick; a profile is known when its time is up. */
void tmx_machine_profile(struct tmx_machine *m, struct tmx_gpu *gpu);

#endif
