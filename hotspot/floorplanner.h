/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_HOTSPOT_FLOORPLANNER_H
#define TMX_HOTSPOT_FLOORPLANNER_H

/* Floorplans by simulated annealing, for area, wire length, peak temperature and gradient: of blocks of given
 * areas (HotSpot's .desc files), or of a floorplan whose units of one size exchange their places. */

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "core/floorplan/floorplan.h"
#include "thermal/files/hotspot_config.h"

/* Options of HotSpot's hotfloorplan under its names, then ours. */
struct tmx_floorplanner_options {
    bool wrap_l2; /* the last-level cache goes around the other blocks: a base and two arms */
    char l2_label[64];
    bool model_rim;
    double compact_ratio; /* dead space below this share of its neighbour is given to the neighbour */
    int n_orients;        /* shapes of a block in the result; fewer while annealing */
    double P0, Davg, Kmoves, Rcool, Rreject;
    int Nmax;
    double lambdaA, lambdaT, lambdaW; /* 1/m2, 1/K, 1/m */
    double lambdaG;                   /* 1/K, of hottest less coldest block: ours */
};
extern const struct tmx_opt tmx_floorplanner_opts[];

/* Defaults, then what the `-name value` lines of the file at path (NULL: none) say; names that are no option
 * here are left to tmx_hotspot_config_read. */
enum tmx_status tmx_floorplanner_options_read(struct tmx_floorplanner_options *o, const char *path,
                                              struct tmx_err *err);

struct tmx_floorplanner_input {
    const char *file;  /* .desc: blocks to be placed; else a floorplan whose equal units change places */
    const char *power; /* a block and its watts a line, or a power trace, whose mean counts */
    const char *stay;  /* names, comma between, `*` at the end: units that keep their place; NULL: none */
    bool mirror;       /* of a floorplan: left and right halves stay mirror images */
    const struct tmx_hotspot_config *cfg; /* the package; its floorplan and model_type are not used */
    const struct tmx_floorplanner_options *options;
    uint64_t seed;
};

struct tmx_floorplanner_values {
    double cost, area_m2, wire_m, peak_k, gradient_k;
    double estimate_k; /* peak by the annealer's model */
};

enum { TMX_FLOORPLANNER_BEST = 8 }; /* candidates computed by the full grid */

struct tmx_floorplanner_result {
    struct tmx_floorplan floorplan[TMX_FLOORPLANNER_BEST];       /* [n] owned, best first by the full grid */
    struct tmx_floorplanner_values value[TMX_FLOORPLANNER_BEST]; /* with temperatures of the full grid */
    size_t n;
    struct tmx_floorplan start; /* owned */
    struct tmx_floorplanner_values start_value;
    size_t n_tried;
};

/* *r is overwritten; end it with tmx_floorplanner_finish, also after failure. Same input and seed, same
 * result. Errors: those of the readers; TMX_ECONFIG or TMX_EPARSE with the place for blocks without power,
 * power without a block, shapes that do not exist, nothing to move. */
enum tmx_status tmx_floorplanner_run(const struct tmx_floorplanner_input *in,
                                     struct tmx_floorplanner_result *r, struct tmx_err *err);
void tmx_floorplanner_finish(struct tmx_floorplanner_result *r);

#endif
