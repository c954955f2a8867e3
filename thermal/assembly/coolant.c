/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coolant in some of a layer's cells (HotSpot's micro-channels): the pressures that drive it, its flow from
 * cell to cell, and the heat that this carries. */
#include <math.h>
#include <stdlib.h>

#include "thermal/assembly/solve.h"

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
    struct tmx_network duct = {.n_node = n};
    struct tmx_conductances links = {0};
    struct tmx_solver *solver = NULL;
    struct tmx_factor *factor = NULL;
    double *rhs = calloc(n, sizeof *rhs);
    duct.area_m2 = calloc(n, sizeof *duct.area_m2);
    duct.heat_j_k = calloc(n, sizeof *duct.heat_j_k);
    enum tmx_status st = rhs && duct.area_m2 && duct.heat_j_k ? TMX_OK : tmx_no_memory(err);
    for (size_t cell = 0; cell < net->n_cell && !st; cell++) {
        const size_t east = cell + 1, south = cell + net->cols;
        if (c->cell[cell] == TMX_CELL_SOLID) {
            continue;
        }
        if (east % net->cols != 0 && c->cell[east] != TMX_CELL_SOLID) {
            st = tmx_conductances_add(&links, at[cell], at[east], 1, err);
        }
        if (!st && south < net->n_cell && c->cell[south] != TMX_CELL_SOLID) {
            st = tmx_conductances_add(&links, at[cell], at[south], 1, err);
        }
        if (c->cell[cell] != TMX_CELL_FLUID) {
            const bool in = c->cell[cell] == TMX_CELL_INLET;
            const double r = in ? c->pump_pa_s_per_m3 * per_pa : 0;
            duct.area_m2[at[cell]] = r > 1 / STIFF ? 1 / r : STIFF;
            rhs[at[cell]] = in ? c->pressure_pa * duct.area_m2[at[cell]] : 0;
        }
    }
    st = st ? st : tmx_conductances_compress(&links, &duct, err);
    st = st ? st : tmx_solver_create(&duct, TMX_FACTOR_COLUMNS, &solver, err);
    st = st ? st : tmx_factor_create(solver, 1, 0, &factor, err);
    st = st ? st : tmx_solve(solver, factor, 1, rhs, pressure);
    if (solver) {
        tmx_factor_destroy(solver, factor);
    }
    tmx_solver_destroy(solver);
    tmx_conductances_finish(&links);
    tmx_network_finish(&duct);
    free(rhs);
    return st;
}

/* Half of the heat that coolant carries from one cell to the next counts with the temperature of each. */
static enum tmx_status carry_over(struct tmx_conductances *flow, size_t from, size_t to, double w_k,
                                  struct tmx_err *err)
{
    const struct tmx_conductance part[4] = {
        {from, from, 0.5 * w_k}, {from, to, 0.5 * w_k}, {to, from, -0.5 * w_k}, {to, to, -0.5 * w_k}};
    enum tmx_status st = TMX_OK;
    for (size_t i = 0; i < 4 && w_k != 0 && !st; i++) {
        st = tmx_conductances_add(flow, part[i].a, part[i].b, 1, err);
        if (!st) {
            flow->link[flow->n - 1] = part[i];
        }
    }
    return st;
}

/* The flow of one layer of channels. */
static enum tmx_status layer_flow(struct tmx_network *net, const struct tmx_channels *c, size_t layer,
                                  double thickness_m, struct tmx_conductances *flow, struct tmx_err *err)
{
    const double per_pa = flow_per_pa(net, c, thickness_m);
    size_t *at = calloc(net->n_cell, sizeof *at), n = 0;
    double *pressure = calloc(net->n_cell, sizeof *pressure);
    enum tmx_status st = at && pressure ? TMX_OK : tmx_no_memory(err);
    for (size_t cell = 0; cell < net->n_cell && !st; cell++) {
        at[cell] = n;
        n += c->cell[cell] != TMX_CELL_SOLID;
    }
    st = st ? st : find_pressures(net, c, per_pa, at, n, pressure, err);
    for (size_t cell = 0; cell < net->n_cell && !st; cell++) {
        const size_t next[2] = {cell + 1, cell + net->cols}, node = layer * net->n_cell + cell;
        const bool has[2] = {next[0] % net->cols != 0, next[1] < net->n_cell};
        for (size_t i = 0; i < 2 && !st; i++) {
            if (!has[i] || c->cell[cell] == TMX_CELL_SOLID || c->cell[next[i]] == TMX_CELL_SOLID) {
                continue;
            }
            const double w_k = c->p_j_per_m3k * per_pa * (pressure[at[cell]] - pressure[at[next[i]]]);
            const size_t to = layer * net->n_cell + next[i];
            const size_t pair[2] = {cell, next[i]};
            st = carry_over(flow, node, to, w_k, err);
            for (size_t k = 0; k < 2 && !st;
                 k++) { /* what an inlet gives comes in, what an outlet gets goes out */
                const double leaves = k == 0 ? w_k : -w_k;
                const size_t end = layer * net->n_cell + pair[k];
                if (c->cell[pair[k]] == TMX_CELL_INLET) {
                    net->inflow_w_k[end] += leaves;
                } else if (c->cell[pair[k]] == TMX_CELL_OUTLET) {
                    st = tmx_conductances_add(flow, end, end, 1, err);
                    flow->link[st ? 0 : flow->n - 1].w_k = -leaves;
                }
            }
        }
    }
    free(at);
    free(pressure);
    return st;
}

enum tmx_status tmx_coolant_init(struct tmx_network *net, const struct tmx_thermal_spec *spec,
                                 const double *thickness_m, struct tmx_err *err)
{
    struct tmx_conductances flow = {0};
    enum tmx_status st = TMX_OK;
    for (size_t l = 0; l < spec->n_layer && !st; l++) {
        const struct tmx_channels *c = spec->layer[l].channels;
        if (c && !net->inflow_w_k) {
            net->inlet_k = c->inlet_k;
            net->inflow_w_k = calloc(net->n_node, sizeof *net->inflow_w_k);
            st = net->inflow_w_k ? TMX_OK : tmx_no_memory(err);
        }
        st = st || !c ? st : layer_flow(net, c, l, thickness_m[l], &flow, err);
    }
    net->flow = flow.link;
    net->n_flow = flow.n;
    return st;
}
