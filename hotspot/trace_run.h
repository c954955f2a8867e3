/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_HOTSPOT_TRACE_RUN_H
#define TMX_HOTSPOT_TRACE_RUN_H

#include "base/table.h"
#include "base/trace.h"
#include "thermal/files/hotspot_config.h"
#include "thermal/files/hotspot_temps.h"
#include "thermal/thermal.h"

/* One run of `thermix thermal`, step by step: read, prepare, transient, steady. */

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
    double max_memory_mb; /* auto takes no reduced model whose set-up needs more; not above 0: 4000 */
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

#endif
