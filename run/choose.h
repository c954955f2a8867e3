/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_CHOOSE_H
#define TMX_RUN_CHOOSE_H

/* The choices of a run: groups such as `dtm = { policy = "dvfs"; emergency_c = 88.5; }`. Private to run/. */

#include "run/state.h"

/* Read the group of one place of r->sim_spec.choice: the policy by name (absent: def), its options into its
 * state, and the rows of `own` (NULL: none) that the level itself has in the group into obj. TMX_ECONFIG with
 * the line. */
TMX_NODISCARD enum tmx_status tmx_run_choose(struct tmx_run *r, const struct tmx_setting *root, size_t place,
                                             const char *def, const struct tmx_opt *own, void *obj,
                                             struct tmx_err *err);

/* The levels that every run has: place, mix, dtm, tb, fan and the throttle, by the preset and the groups. */
TMX_NODISCARD enum tmx_status tmx_run_choose_all(struct tmx_run *r, const struct tmx_setting *root,
                                                 struct tmx_err *err);

/* The group as tmx_run_choose reads it back, then what more (NULL: nothing) adds to it; nothing at all when
 * no policy is chosen. */
void tmx_run_choice_write(const struct tmx_run *r, size_t place, const struct tmx_opt *own, const void *obj,
                          void (*more)(const struct tmx_run *, FILE *), enum tmx_resolved what, FILE *out);

#endif
