/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_THERMAL_FILES_STACK_H
#define TMX_THERMAL_FILES_STACK_H

/* From HotSpot's options and files to the spec of a thermal model, checked and owned. */

#include "base/arena.h"
#include "base/err.h"
#include "base/trace.h"
#include "thermal/assembly/spec.h"
#include "thermal/files/hotspot_config.h"
#include "thermal/files/package.h"

struct tmx_stack_options {
    bool allow_gaps;     /* floorplans need not tile the die */
    double overlap_m;    /* depth to which their blocks may overlap; 0: rounding */
    bool falling;        /* the caller refreshes conductivities that fall; else they are an error */
    bool hotspot_compat; /* HotSpot's map mode, lateral exchange and start field */
    enum tmx_network_kind network;
    unsigned refine;                       /* of the physical network; 0: 1 */
    const struct tmx_floorplan *floorplan; /* of the die, copied, in place of the file f; NULL: that file */
};

struct tmx_stack {
    struct tmx_floorplan *floorplan; /* [n_floorplan] each owned: one, or one a layer of a layer file */
    size_t n_floorplan;
    struct tmx_layer *layer;       /* [spec.n_layer] */
    struct tmx_channels *channels; /* [n_floorplan] of layers of a layer file, NULL: none has any */
    double *col_line_m;            /* [spec.cols + 1] of resolved channels, else NULL */
    bool from_layer_file;
    size_t n_below; /* layers of the secondary path before those: board, solder, substrate [, C4, metal] */
    struct tmx_board *board;      /* of model_secondary, else NULL */
    struct tmx_thermal_spec spec; /* points into the above */
    struct tmx_fan_sink fan;      /* of package_model_used */
    struct tmx_arena arena;       /* of all arrays */
};

/* Read the floorplans, layers and materials that cfg names and fill *s (overwritten;
 * tmx_stack_finish also after failure). Accepted deviations within tolerances are reported to log
 * (may be NULL). The start field is uniform; init files are tmx_init_read's. Errors:
 * those of the readers, and TMX_ECONFIG or TMX_EPARSE with the place for layers of
 * different size, a die larger than the spreader, a spreader larger than the sink. */
enum tmx_status tmx_stack_create(const struct tmx_hotspot_config *cfg,
                                 const struct tmx_stack_options *options, const struct tmx_log *log,
                                 struct tmx_stack *s, struct tmx_err *err);
void tmx_stack_finish(struct tmx_stack *s);

/* A trace between commas may lack blocks: they get columns of 0 W, which a warning says, and all columns the
 * stack's order. A name that several layers have goes to them in turn. Other traces stay as they are. */
enum tmx_status tmx_stack_complete(const struct tmx_stack *s, struct tmx_trace *trace, struct tmx_err *err);

/* unit_of[n_column]: which unit of the spec each column of a power trace feeds. Columns are
 * grouped by dissipating layer in ascending order, in any order inside a layer. Errors
 * (TMX_EPARSE at the trace's names): a name that is unknown, given twice, or missing. */
enum tmx_status tmx_stack_columns(const struct tmx_stack *s, const struct tmx_trace *trace, size_t *unit_of,
                                  struct tmx_err *err);

#endif
