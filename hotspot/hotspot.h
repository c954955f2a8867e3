/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_HOTSPOT_HOTSPOT_H
#define TMX_HOTSPOT_HOTSPOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "base/table.h"
#include "base/trace.h"
#include "core/floorplan/floorplan.h"
#include "thermal/files/hotspot_config.h"
#include "thermal/files/hotspot_temps.h"
#include "thermal/thermal.h"

/* ---- settle.c: steady states ----
 *
 * Of a stack on the full grid, with HotSpot's two feedback loops: leakage that
 * depends on temperature, and a still-air sink whose resistance does. */

struct tmx_settle_options {
    bool leakage; /* add HotSpot's leakage to the power */
    bool natural; /* iterate r_convec of the stack's fan_sink, which must be natural */
    const struct tmx_thermal_ops *backend; /* what solves; NULL: the full grid */
    double leakage_tolerance_k;            /* stop below this increase; HotSpot's: 0.01 */
};

/* Equilibrium node_k [tmx_temps_nodes, K] for power_w [units, W]; *r_convec (may be NULL) is
 * the resistance it was found at. Errors: TMX_ERUNAWAY when leakage or the sink never
 * settles, those of the grid back-end. */
enum tmx_status tmx_settle(const struct tmx_stack *stack, const struct tmx_settle_options *options,
                           const double *power_w, const struct tmx_temps *shape, double *node_k,
                           double *r_convec, const struct tmx_log *log, struct tmx_err *err);

/* Add HotSpot's leakage of every dissipating unit at temp_k [units, K] to power_w [units, W]. */
void tmx_settle_leakage(const struct tmx_thermal_spec *spec, const double *temp_k, double *power_w);

/* One row of dt_s under power_w [units, W] and the leakage that follows the temperature: one step with the
 * leakage of the row's begin gives its end, the second takes the mean of both (Heun): second order in rows
 * shorter than the chip's response. power_w gains the leakage of the first step's end, temp_k [units, K] is
 * that of the row's end; snapshot [ops->snapshot_size] and mean_w [units] are scratch. */
enum tmx_status tmx_settle_step(const struct tmx_thermal_instance *chip, double dt_s, double *power_w,
                                double *temp_k, void *snapshot, double *mean_w);

/* ---- trace_run.c and hotspot_check.c: a run of `thermix thermal` ----
 *
 * Step by step: read, prepare, transient, steady. */

enum tmx_trace_scheme { TMX_TRACE_EXACT, TMX_TRACE_BE };

struct tmx_trace_options {
    struct tmx_hotspot_config cfg;        /* command line, config and package file */
    const struct tmx_thermal_ops *method; /* NULL: the cheaper of the full grid and the reduced model */
    enum tmx_trace_scheme scheme;
    enum tmx_network_kind network;
    int refine;           /* of the physical network */
    int precision;        /* decimals of written temperatures */
    int modes;            /* of the reduced model; 0: what the tolerance needs */
    double tolerance_k;   /* of the reduced model; 0: its default */
    double max_memory_mb; /* auto takes no reduced model whose set-up needs more; 0: the usual 4000 */
    bool mixed;           /* precision of the reduced model */
    double overlap_m;     /* depth to which blocks may overlap; 0: rounding */
    bool no_cache, allow_gaps, hotspot_compat, keep_rows;
    char verify_with[TMX_HOTSPOT_PATH];                        /* HotSpot executable, "": none */
    void (*row_done)(void *to, size_t n_done, size_t n_total); /* after every row; NULL: unused */
    void *row_done_to;
};

struct tmx_trace_run {
    const struct tmx_trace_options *args;
    const struct tmx_log *log;
    struct tmx_stack stack;
    struct tmx_trace power; /* as read */
    size_t *unit_of;        /* [power.n_column] unit each column feeds */
    size_t n_unit;
    struct tmx_temps temps;           /* blocks of every layer: start state, then steady state */
    double *init_node_k;              /* [nodes] owned: start field, NULL when uniform */
    double *node_k;                   /* [nodes] grid temperatures, where a file of them is wanted */
    double *power_w;                  /* [n_unit] scratch */
    double *temp_k;                   /* [n_unit] scratch */
    double *row_k;                    /* [power.n_column] one row of the trace */
    double *levels;                   /* [N] r_convec levels of a still-air sink */
    double *falling;                  /* [4][die cells] conductivities that fall, of the model, at a row's
                                         begin, at its end and between, then [n_unit] scratch; NULL: constant */
    size_t n_refresh;                 /* models made again for them */
    struct tmx_thermal_instance chip; /* of the transient */
    double *trace_k;                  /* [n_row * n_column] all rows, with verify_with or keep_rows */
    struct tmx_arena arena;           /* of all arrays but init_node_k */
};

/* Read all inputs. *r is overwritten; end it with tmx_trace_run_finish, also after failure. */
enum tmx_status tmx_trace_run_read(struct tmx_trace_run *r, const struct tmx_trace_options *args,
                                   const struct tmx_log *log, struct tmx_err *err);
void tmx_trace_run_finish(struct tmx_trace_run *r);

/* Simulate every row; rows go to trace, grids to grid (each may be NULL). */
enum tmx_status tmx_trace_run_transient(struct tmx_trace_run *r, FILE *trace, FILE *grid,
                                        struct tmx_err *err);

/* Steady state of the mean power into r->temps and r->node_k. */
enum tmx_status tmx_trace_run_steady(struct tmx_trace_run *r, struct tmx_err *err);

/* The largest absolute difference [K] of a run from what HotSpot wrote: of the rows of the transient
 * (r->trace_k, may be NULL) and of the steady state (r->temps), blocks and package. A table t (may be NULL)
 * gets the rows below. */
double tmx_hotspot_compare(const struct tmx_trace_run *r, const char *trace_path, const char *steady_path,
                           struct tmx_table *t, struct tmx_err *err);

/* Run the HotSpot program of args->verify_with on the run's files, in a temporary folder for
 * its outputs, and compare: a row a column of the power trace and one of the largest, with the largest
 * absolute difference [K] over the rows of the transient (r->trace_k; without it the cell is empty) and in
 * the steady state (r->temps). The caller destroys *t. Errors: the program fails or writes something else
 * than its formats (TMX_EIO, TMX_EPARSE). */
enum tmx_status tmx_hotspot_check(struct tmx_trace_run *r, struct tmx_table **t, struct tmx_err *err);

/* ---- floorplanner.c ----
 *
 * Floorplans by simulated annealing, for area, wire length, peak temperature and gradient: of blocks of given
 * areas (HotSpot's .desc files), or of a floorplan whose units of one size exchange their places. */

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
