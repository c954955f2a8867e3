/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coolant in some of a layer's cells (HotSpot's micro-channels): the pressures that drive it, its flow from
 * cell to cell, and the heat that this carries. */
#include <cs.h>
#include <math.h>
#include <stdlib.h>

#include "thermal/assembly/network.h"

/* Flow [m3/s] per pascal between two cells of coolant: developed flow in a rectangular duct as wide as a
 * cell, to first order in its sides' ratio. Source: H. Bruus, "Theoretical microfluidics", 2008, eq. 3.58;
 * HotSpot takes a cell's height for the length in both directions. */
static double flow_per_pa(const struct tmx_network *net, const struct tmx_channels *c, double height_m)
{
    const double w = net->width_m / (double)net->cols, length = net->height_m / (double)net->rows;
    const double low = fmin(w, height_m), high = fmax(w, height_m);
    const double shape = w == height_m ? 0.42229 : 1 - 0.63 * low / high; /* of a square: all terms */
    return shape * low * low * low * high / (12 * c->viscosity_pa_s * length);
}

/* Pressures [Pa] of the n cells of coolant, numbered at[cell]: a network of its own, whose ground is the
 * outlets, and inlets at the pump. */
static enum tmx_status find_pressures(const struct tmx_network *net, const struct tmx_channels *c,
                                      double per_pa, const size_t *at, size_t n, double *pressure,
                                      struct tmx_err *err)
{
    static const double STIFF = 1e9; /* of a link to what has a pressure, in links */
    cs *t = cs_spalloc((int)n, (int)n, (int)(7 * n), 1, 1), *a = NULL;
    int ok = t != NULL;
    for (size_t cell = 0; cell < net->n_cell && ok; cell++) {
        const size_t next[2] = {cell + 1, cell + net->cols};
        const bool has[2] = {next[0] % net->cols != 0, next[1] < net->n_cell};
        const int i = (int)at[cell];
        if (c->cell[cell] == TMX_CELL_SOLID) {
            continue;
        }
        for (size_t k = 0; k < 2 && ok; k++) {
            if (has[k] && c->cell[next[k]] != TMX_CELL_SOLID) {
                const int j = (int)at[next[k]];
                ok = cs_entry(t, i, i, 1) && cs_entry(t, j, j, 1) && cs_entry(t, i, j, -1) &&
                     cs_entry(t, j, i, -1);
            }
        }
        const bool in = c->cell[cell] == TMX_CELL_INLET;
        const double r = in ? c->pump_pa_s_per_m3 * per_pa : 0, to = r > 1 / STIFF ? 1 / r : STIFF;
        pressure[i] = in ? c->pressure_pa * to : 0;
        ok = ok && (c->cell[cell] == TMX_CELL_FLUID || cs_entry(t, i, i, to));
    }
    a = ok ? cs_compress(t) : NULL;
    ok = a && cs_dupl(a) && cs_cholsol(1, a, pressure);
    cs_spfree(t);
    cs_spfree(a);
    return ok ? TMX_OK : tmx_fail(err, TMX_ESOLVE, "pressures in %zu cells of coolant", n);
}

enum tmx_status tmx_coolant_init(struct tmx_network *net, const struct tmx_thermal_spec *spec,
                                 const double *thickness_m, struct tmx_err *err)
{
    struct tmx_arena scratch = {0};
    enum tmx_status st = TMX_OK;
    for (size_t l = 0; l < spec->n_layer && !st; l++) {
        const struct tmx_channels *c = spec->layer[l].channels;
        if (!c) {
            continue;
        }
        const double per_pa = flow_per_pa(net, c, thickness_m[l]);
        const size_t first = l * net->n_cell;
        size_t *at, n = 0;
        double *pressure;
        net->inlet_k = c->inlet_k; /* of all alike */
        if (!net->inflow_w_k) {
            TMX_TAKE(&net->arena, net->inflow_w_k, net->n_node);
        }
        TMX_TAKE(&scratch, at, net->n_cell);
        TMX_TAKE(&scratch, pressure, net->n_cell);
        st = net->arena.failed || scratch.failed ? tmx_no_memory(err) : TMX_OK;
        for (size_t cell = 0; cell < net->n_cell && !st; cell++) {
            at[cell] = n;
            n += c->cell[cell] != TMX_CELL_SOLID;
        }
        st = st ? st : find_pressures(net, c, per_pa, at, n, pressure, err);
        for (size_t link = 0; link < 2 * net->n_cell && !st; link++) { /* to the next one along x and y */
            const size_t cell = link / 2, next = cell + (link % 2 ? net->cols : 1);
            if ((link % 2 ? next >= net->n_cell : next % net->cols == 0) || c->cell[cell] == TMX_CELL_SOLID ||
                c->cell[next] == TMX_CELL_SOLID) {
                continue;
            }
            const double w_k = c->p_j_per_m3k * per_pa * (pressure[at[cell]] - pressure[at[next]]);
            const size_t node = first + cell, to = first + next;
            if (w_k != 0) { /* half of the heat that coolant carries counts with the temperature of each */
                tmx_network_flow(net, node, node, 0.5 * w_k);
                tmx_network_flow(net, node, to, 0.5 * w_k);
                tmx_network_flow(net, to, node, -0.5 * w_k);
                tmx_network_flow(net, to, to, -0.5 * w_k);
            }
            for (size_t k = 0; k < 2; k++) { /* what an inlet gives comes in, what an outlet gets goes out */
                const double leaves = k == 0 ? w_k : -w_k;
                const size_t end = k == 0 ? cell : next;
                if (c->cell[end] == TMX_CELL_INLET) {
                    net->inflow_w_k[first + end] += leaves;
                } else if (c->cell[end] == TMX_CELL_OUTLET) {
                    tmx_network_flow(net, first + end, first + end, -leaves);
                }
            }
        }
        tmx_arena_finish(&scratch);
    }
    return st;
}
