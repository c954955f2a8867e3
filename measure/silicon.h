/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_SILICON_H
#define TMX_MEASURE_SILICON_H

/* Public measurements of chips, cards, servers and halls beside runs of thermix: what
 * workloads/measured/targets.csv lists, with the bands stated there before the models were made to meet them.
 */

#include "core/base/err.h"
#include "core/base/table.h"

/* A row of validate's table a target; points (NULL: not wanted) is filled with what the figures show. */
TMX_NODISCARD enum tmx_status tmx_silicon(struct tmx_table *t, size_t *missed, struct tmx_table *points,
                                          struct tmx_err *err);

/* Draw them into a folder, a picture a figure. */
TMX_NODISCARD enum tmx_status tmx_silicon_draw(const struct tmx_table *points, const char *folder,
                                               struct tmx_err *err);

/* figure, series, x, y: of every figure the points of its series. */
TMX_NODISCARD enum tmx_status tmx_silicon_points(struct tmx_table **points, struct tmx_err *err);

#endif
