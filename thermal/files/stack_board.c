/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_secondary: the layers between die and board, as HotSpot has them. Materials: HotSpot 7's constants.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "thermal/files/stack.h"

enum { BOARD = 3, CHIP = 2 }; /* layers: board, solder, substrate; without a layer file also C4 and metal */

enum tmx_status tmx_stack_add_board(struct tmx_stack *s, const struct tmx_hotspot_config *cfg,
                                    bool hotspot_compat, struct tmx_err *err)
{
    const struct {
        double thickness_m, resistivity_mk_per_w, p_j_per_m3k;
    } below[BOARD + CHIP] = {{cfg->t_pcb, 0.333, 1.32e6},
                             {cfg->t_solder, 0.06, 2.1e6},
                             {cfg->t_sub, 0.5, 1.6e6},
                             {cfg->t_c4, 0.8, 1.65e6},
                             {cfg->t_metal, 0.0025, 3.55e6}};
    const double W = tmx_thermal_spec_width_m(&s->spec), H = tmx_thermal_spec_height_m(&s->spec);
    const struct {
        const char *key, *under;
        double side_m, least_m;
    } sides[] = {{"s_sub", "the die", cfg->s_sub, fmax(W, H)},
                 {"s_solder", "the die", cfg->s_solder, fmax(W, H)},
                 {"s_pcb", "the solder (s_solder)", cfg->s_pcb, cfg->s_solder}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        if (sides[i].side_m <= sides[i].least_m) {
            return tmx_hotspot_config_fail(cfg, sides[i].key, err,
                                           "model_secondary: %s = %g m must be larger than %s of %g m",
                                           sides[i].key, sides[i].side_m, sides[i].under, sides[i].least_m);
        }
    }
    s->n_below = BOARD + (s->from_layer_file ? 0 : CHIP);
    struct tmx_layer *layer = calloc(s->n_below + s->spec.n_layer, sizeof *layer);
    s->board = malloc(sizeof *s->board);
    if (!layer || !s->board) {
        free(layer);
        return tmx_fail(err, TMX_ENOMEM, "stack of %zu layers", s->n_below + s->spec.n_layer);
    }
    for (size_t l = 0; l < s->n_below; l++) {
        layer[l] = (struct tmx_layer){.floorplan = s->layer[0].floorplan,
                                      .lateral = true,
                                      .thickness_m = below[l].thickness_m,
                                      .k_w_per_mk = 1 / below[l].resistivity_mk_per_w,
                                      .p_j_per_m3k = below[l].p_j_per_m3k};
    }
    memcpy(layer + s->n_below, s->layer, s->spec.n_layer * sizeof *layer);
    free(s->layer);
    s->layer = layer;
    s->spec.layer = layer;
    s->spec.n_layer += s->n_below;
    *s->board = (struct tmx_board){.s_sub_m = cfg->s_sub,
                                   .s_solder_m = cfg->s_solder,
                                   .s_pcb_m = cfg->s_pcb,
                                   .r_convec_k_per_w = cfg->r_convec_sec,
                                   .c_convec_j_per_k = cfg->c_convec_sec,
                                   .quasi_static = hotspot_compat};
    s->spec.board = s->board;
    return TMX_OK;
}
