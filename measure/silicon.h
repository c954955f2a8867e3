/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TMX_MEASURE_SILICON_H
#define TMX_MEASURE_SILICON_H

/* Public measurements of chips, cards, servers and halls beside runs of thermix: what
 * workloads/measured/targets.csv lists, with the bands stated there before the models were made to meet them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/csv.h"
#include "base/err.h"

struct tmx_claims { /* of one task */
    const struct tmx_csv *targets;
    struct tmx_claim_value {
        double ours;
        bool has;
    } * value;          /* [targets->n_row] */
    bool any;           /* false: its data are not installed */
    FILE *points;       /* of the figures, struct tmx_silicon_point; NULL: not wanted */
    struct tmx_err err; /* of the task: the first stays */
};
/* Ours of the target of this id; NAN: its data are not installed. Nothing after an error. */
void tmx_claim(struct tmx_claims *c, const char *id, double ours);

/* How ours of the targets are made: the lists of workloads/measured/targets.cfg, whose keys silicon.c
 * describes. A target, or a data set of a kind that is there, needs no code. */
struct tmx_claim {
    char id[40], figure[24], series[40], file[64];
    enum {
        TMX_CLAIM_MEAN,
        TMX_CLAIM_SLOPE,
        TMX_CLAIM_AT,
        TMX_CLAIM_QUANTILE,
        TMX_CLAIM_POINTS,
        TMX_CLAIM_CURVE
    } statistic;
    enum { TMX_CLAIM_MHZ, TMX_CLAIM_TEMP_C, TMX_CLAIM_W, TMX_CLAIM_WALL_W } of, over;
    double from, to, scale;
    int first, every;
};
struct tmx_claim_task { /* makes the values of some targets of a part, in a process of its own */
    enum tmx_claim_kind {
        TMX_CLAIM_NODE,
        TMX_CLAIM_PULSES,
        TMX_CLAIM_WATTS,
        TMX_CLAIM_GOLDEN,
        TMX_CLAIM_RUN,
        TMX_CLAIM_POPULATION,
        TMX_CLAIM_LIMITS,
        TMX_CLAIM_MAXQ,
        TMX_CLAIM_STEP,
        TMX_CLAIM_LIT
    } kind;
    char part[24], id[40], run[32], mix[48], file[64], column[24], only[32], figure[24], series[24], chip[32],
        off[64], air[16];
    double from_s, share, step_w;
    int sms;
    bool without, held;
    struct tmx_claim *claim; /* [n_claim] owned */
    size_t n_claim;
};
struct tmx_claim_file {
    struct tmx_claim_task *task; /* [n_task] owned */
    size_t n_task;
    struct tmx_claim_figure {
        char name[24], title[96], x[48], y[48];
        struct tmx_claim_series {
            char name[40];
            bool line;
        } series[6];
        size_t n_series;
    } * figure; /* [n_figure] owned */
    size_t n_figure;
};
TMX_NODISCARD enum tmx_status tmx_claim_load(struct tmx_claim_file *f, struct tmx_err *err);
void tmx_claim_finish(struct tmx_claim_file *f); /* also after failure */

typedef void tmx_claim_fn(struct tmx_claims *c, const struct tmx_claim_task *t);
tmx_claim_fn tmx_silicon_run, tmx_silicon_population, tmx_silicon_limits, tmx_silicon_maxq, tmx_silicon_step,
    tmx_silicon_lit;

struct tmx_silicon_point {
    char figure[24], series[40];
    double x, y;
};
/* Draw them into a folder, a picture a figure that has points. */
TMX_NODISCARD enum tmx_status tmx_silicon_draw(const struct tmx_silicon_point *points, size_t n,
                                               const char *folder, struct tmx_err *err);

#endif
