/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_CLI_THERMAL_OUTPUTS_H
#define TMX_CLI_THERMAL_OUTPUTS_H

#include "core/base/output.h"
#include "thermal/files/hotspot_config.h"

/* The files that `thermix thermal` writes. */
enum { TMX_TRACE, TMX_STEADY, TMX_GRID_STEADY, TMX_GRID_TRANSIENT, TMX_DUMP, TMX_N_OUTPUT };

struct tmx_thermal_outputs {
    const char *path[TMX_N_OUTPUT]; /* "" for none */
    struct tmx_output out[TMX_N_OUTPUT];
};

/* TMX_ECONFIG where two outputs, or an output and an input, are one file. */
TMX_NODISCARD enum tmx_status tmx_thermal_outputs_open(struct tmx_thermal_outputs *o,
                                                       const struct tmx_hotspot_config *cfg,
                                                       struct tmx_err *err);
/* All or nothing: no file gets its name before every one is known to be whole. */
TMX_NODISCARD enum tmx_status tmx_thermal_outputs_commit(struct tmx_thermal_outputs *o, struct tmx_err *err);
void tmx_thermal_outputs_discard(struct tmx_thermal_outputs *o);

#endif
