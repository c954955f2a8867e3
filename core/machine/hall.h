/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CORE_MACHINE_HALL_H
#define TMX_CORE_MACHINE_HALL_H

/* Many nodes: what a topology file says of one is repeated, node behind node, rack behind rack. */

#include "core/base/setting.h"
#include "core/machine/topology.h"

enum { TMX_HALL_MAX_GPUS = 65536 };

/* t has been read up to its links. Repeat it by its key nodes or its list racks, give each GPU the air of its
 * height, and sort the paths of air by where they lead. TMX_ECONFIG with the line. */
TMX_NODISCARD enum tmx_status tmx_hall_build(struct tmx_topology *t, const struct tmx_setting *root,
                                             struct tmx_err *err);

#endif
