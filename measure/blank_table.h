/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_BLANK_TABLE_H
#define TMX_MEASURE_BLANK_TABLE_H

/* Tables whose columns are set apart by blanks, with lines "# name name ..." and "# unit unit ..." that are
 * repeated on every screen: nvidia-smi dmon and dcgmi dmon. */

#include "measure/collect.h"

TMX_NODISCARD enum tmx_status tmx_read_blank_table(struct tmx_collect *c, const struct tmx_alias *aliases,
                                                   struct tmx_err *err);

#endif
