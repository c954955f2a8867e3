/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_VALIDATE_H
#define TMX_MEASURE_VALIDATE_H

/* Every stored measurement beside what thermix makes of it: one row a claim. */

#include "core/base/table.h"

/* what, trained_on, source, quantity, ours, bar, unit, holds ("yes", "no", "not installed"). *missed: rows
 * that do not hold. The logs are found as data files are. */
TMX_NODISCARD enum tmx_status tmx_validate(struct tmx_table **t, size_t *missed, struct tmx_err *err);

#endif
