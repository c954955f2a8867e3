#ifndef TMX_CLI_THERMAL_RUN_H
#define TMX_CLI_THERMAL_RUN_H

#include "cli/thermal_args.h"
#include "core/base/trace.h"
#include "thermal/hotspot_temps.h"
#include "thermal/instance.h"

/* One run of `thermix thermal`, step by step: read, prepare, transient, steady. */

struct thermal_run {
    const struct thermal_args *args;
    const struct tmx_log *log;
    struct tmx_stack stack;
    struct tmx_trace power; /* as read */
    size_t *unit_of;        /* [power.n_column] owned: unit each column feeds */
    size_t n_unit;
    struct tmx_temps temps;   /* blocks of every layer: start state, then steady state */
    double *init_node_k;      /* [nodes] owned: start field, NULL when uniform */
    double *node_k;           /* [nodes] owned: grid temperatures, where a file of them is wanted */
    double *power_w;          /* [n_unit] owned: scratch */
    double *temp_k;           /* [n_unit] owned: scratch */
    double *row_k;            /* [power.n_column] owned: one row of the trace */
    double *levels;           /* [N] owned: r_convec levels of a still-air sink */
    struct tmx_instance chip; /* of the transient */
    double *trace_k;          /* [n_row * n_column] owned: all rows, kept with verify_with */
};

/* Read all inputs. *r is overwritten; end it with thermal_run_finish, also after failure. */
TMX_NODISCARD enum tmx_status thermal_run_read(struct thermal_run *r, const struct thermal_args *args,
                                               const struct tmx_log *log, struct tmx_err *err);
void thermal_run_finish(struct thermal_run *r);

/* Simulate every row; rows go to trace, grids to grid (each may be NULL). */
TMX_NODISCARD enum tmx_status thermal_run_transient(struct thermal_run *r, FILE *trace, FILE *grid,
                                                    struct tmx_err *err);

/* Steady state of the mean power into r->temps and r->node_k. */
TMX_NODISCARD enum tmx_status thermal_run_steady(struct thermal_run *r, struct tmx_err *err);

#endif
