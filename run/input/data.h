/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_RUN_INPUT_DATA_H
#define TMX_RUN_INPUT_DATA_H

/* Where the shipped chips and workloads are at run time. Roots are tried in order:
 * $THERMIX_DATA, the current folder, share/thermix one and two folders above the program or
 * library (a build tree has a link to the sources there), the place of installation. */

#include "core/base/setting.h"

enum tmx_data {
    TMX_DATA_CHIP,   /* floorplans/NAME/ (a folder) */
    TMX_DATA_KERNEL, /* workloads/kernels/NAME.cfg */
    TMX_DATA_MIX,    /* workloads/mixes/NAME.cfg */
    TMX_DATA_SUITE,  /* workloads/suites/NAME.cfg */
    TMX_DATA_SYSTEM, /* systems/NAME.cfg, topologies */
    TMX_DATA_TRACE,  /* workloads/traces/NAME.ptrace */
    TMX_DATA_PLOT,   /* plots/scripts/NAME.gp */
    TMX_DATA_RUN,    /* workloads/runs/NAME.cfg */
    TMX_DATA_BATCH,  /* workloads/batches/NAME.cfg */
    TMX_DATA_NODE,   /* workloads/nodes/NAME.cfg */
    TMX_N_DATA
};

enum { TMX_PATH_SIZE = 512 };

/* Path of the named thing. A name with a '/' in it, or one that ends in the kind's
 * suffix, is a path and is taken as it is when it exists. Unknown: TMX_EIO with the
 * nearest known name, or the known names when none is near. */
TMX_NODISCARD enum tmx_status tmx_data_find(enum tmx_data kind, const char *name, char path[TMX_PATH_SIZE],
                                            struct tmx_err *err);

/* The same for a name that a setting asks for: what is not found is said with its line. */
TMX_NODISCARD enum tmx_status tmx_data_find_for(enum tmx_data kind, const struct tmx_setting *asked,
                                                const char *name, char path[TMX_PATH_SIZE],
                                                struct tmx_err *err);

/* Path of a file below a root, "floorplans/gtx280/chip.cfg" or "plots/report/page.html". */
TMX_NODISCARD enum tmx_status tmx_data_file(const char *relative, char path[TMX_PATH_SIZE],
                                            struct tmx_err *err);

/* Known names of a kind over all roots, sorted, each once; a NULL-terminated list to be
 * released with tmx_data_names_free. */
TMX_NODISCARD enum tmx_status tmx_data_names(enum tmx_data kind, char ***names, struct tmx_err *err);
void tmx_data_names_free(char **names);

#endif
